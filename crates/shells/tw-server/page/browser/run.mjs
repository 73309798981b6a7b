// The page in a real browser, against the real server. One step after the other; the first that fails ends it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { pictures } from "./pictures.mjs";
import { Server } from "./server.mjs";

const program = process.argv[2];
const folder = process.argv[3] === "--pictures" ? process.argv[4] : null;
const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** How long an interaction may take, ms. */
const LIMIT = Number(process.env.PAGE_LIMIT_MS ?? 100);
const PATIENCE = 60_000;

const SCRIPT = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
const SPEC = `trace { stream: web; time: ts; }
property answered "${SCRIPT.replaceAll('"', "'")}" : G (req -> F[0,5] ack);
property quick "no answer takes 100 ms" : G (ms < 100);
query slowest : max[ms];
`;
const now = () => Date.now() / 1000;
const calm = (ts, more = {}) => ({ ts, req: false, ack: false, ms: 10, ...more });

const server = new Server(program);
await server.start();
const profile = mkdtempSync(join(tmpdir(), "tracewise-browser-"));
const browser = await chromium.launchPersistentContext(profile, { executablePath, args, viewport: { width: 1280, height: 800 }, colorScheme: "light" });
const page = browser.pages()[0] ?? (await browser.newPage());
page.setDefaultTimeout(PATIENCE);
/** What must never happen, in any step. */
const wrong = [];
let expectLoss = false;
page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
page.on("console", (message) => {
  if (message.type() === "error" && !(expectLoss || /Failed to load resource/.test(message.text()))) wrong.push(message.text());
});
await page.addInitScript(() => document.addEventListener("securitypolicyviolation", (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`)));

const go = async (hash) => {
  await page.goto(`${server.url}/${hash}`);
  await page.locator('.status[data-state="live"]').waitFor();
};
const row = (name) => page.locator("tbody tr", { has: page.locator("a.name", { hasText: name }) });

const steps = {
  async "from POST to the violation on the page"() {
    await server.put("web", SPEC);
    await server.post("web", [calm(now())]);
    await go("#/");
    await row("quick").getByText("open").first().waitFor();
    const began = performance.now();
    await server.post("web", [calm(now(), { ms: 250, path: SCRIPT, [SCRIPT]: SCRIPT })], "?ack=memory");
    await row("quick").locator(".state.violated").waitFor();
    const after = performance.now() - began;
    await page.getByRole("link", { name: /^Violations/ }).click();
    await page.locator(".list .row", { hasText: "quick" }).first().waitFor();
    return `${after.toFixed(0)} ms`;
  },

  async "why: the tree, the line, the values"() {
    await page.locator(".list .row", { hasText: "quick" }).first().click();
    await page.getByRole("heading", { name: "quick" }).waitFor();
    const why = page.locator(".why");
    await why.locator(".holds.violated").first().waitFor();
    assert.match(await why.innerText(), /ms < 100/);
    assert.match(await why.innerText(), /250/, "the line or the value is shown");
    await page.locator(".chart canvas").first().waitFor();
  },

  async "script in a log, a field's name, a title is text"() {
    assert.match(await page.locator(".detail").innerText(), /<img src=x onerror=/);
    await go("#/");
    assert.match(await row("answered").innerText(), /<script>window\.hit=1<\/script>/);
    await go("#/violations");
    await page.locator(".list .row").first().waitFor();
    await go("#/stream/web");
    await page.getByRole("heading", { name: "web" }).waitFor();
    assert.equal(await page.evaluate(() => [globalThis.hit, document.querySelectorAll("main img, main script").length].join()), ",0");
  },

  async "open obligations count down, queries have values"() {
    await server.post("web", [calm(now(), { req: true, ms: 20 })]);
    await go("#/property/web/web/answered");
    await page.locator(".pending .due", { hasText: /^(in )?\d+(\.\d)? s( ago)?$/ }).first().waitFor();
    await go("#/property/web/web/slowest");
    await page.locator(".figure.big", { hasText: "250" }).waitFor();
    await page.locator(".chart canvas").first().waitFor();
    // Robustness: 100 − 250 at the worst.
    await go("#/property/web/web/quick");
    await page.getByRole("heading", { name: "Robustness" }).waitFor();
    await page.locator('.chart[aria-label*="-150"], .chart[aria-label*="−150"]').waitFor();
  },

  async "editing: bad is told and not saved, good is saved and watched"() {
    await go("#/specs/web");
    const editor = page.getByRole("textbox", { name: "Text of web" });
    await editor.waitFor();
    const type = async (text) => {
      await editor.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText(text);
    };
    await type(SPEC.replace("ms < 100", "ms < < 100"));
    await page.locator(".finding", { hasText: "error" }).first().waitFor();
    await page.locator(".editor .cm-lintRange-error").first().waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".said.bad").waitFor();
    assert.equal((await server.ask("/v1/specs/web")).text, SPEC);
    // What was said of a text is not said of another.
    await editor.click();
    await page.keyboard.type(" ");
    await page.locator(".said.bad").waitFor({ state: "detached" });
    assert.equal(await page.locator(".said").innerText(), "");
    await type(`${SPEC}property calm : G (ms < 500);\n`);
    await page.keyboard.press("Control+S");
    await page.locator(".said.good").waitFor();
    await page.locator(".finding").waitFor({ state: "detached" });
    assert.match((await server.ask("/v1/specs/web")).text, /property calm/);
    await page.getByRole("button", { name: "Try on the past" }).click();
    await page.locator(".tried tr", { hasText: "quick" }).locator(".state.violated").waitFor();
    await page.locator(".tried tr", { hasText: "calm" }).locator(".state.open").waitFor();
    // Completion: a pattern of the language, a column of the stream.
    await editor.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("property p : absence_b");
    await page.locator(".editor .cm-tooltip-autocomplete", { hasText: "absence_before" }).waitFor();
    await page.keyboard.press("Escape");
    await go("#/");
    await row("calm").waitFor();
    await go("#/specs/web");
    await page.locator(".editor .cm-content", { hasText: "absence_b" }).waitFor();
    await go("#/");
  },

  async "what is typed in place of a selection"() {
    await go("#/specs/typed");
    const editor = page.getByRole("textbox", { name: "Text of typed" });
    await editor.click();
    await page.keyboard.press("Control+A");
    await page.keyboard.type("property p : G name");
    assert.equal(await editor.innerText(), "property p : G name");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+Shift+ArrowLeft");
    await page.keyboard.type("(a");
    assert.equal(await editor.innerText(), "property p : G (a)", "brackets are closed");
    await page.keyboard.press("Control+Z");
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Delete");
    await go("#/");
    await page.evaluate(() => sessionStorage.clear());
  },

  async "traces that fail alike, a model of the stream"() {
    await server.put("visits", "trace { stream: visits; time: ts; by: user; }\nproperty entered : G (act == \"leave\" -> O act == \"enter\");\n");
    const acts = { a: ["enter", "leave"], b: ["walk", "leave"], c: ["walk", "leave"], d: ["enter", "walk", "leave"], e: ["leave"] };
    await server.post("visits", Object.entries(acts).flatMap(([user, all]) => all.map((act, index) => ({ ts: index + 1, user, act }))).sort((a, b) => a.ts - b.ts));
    await go("#/property/visits/visits/entered");
    await page.getByRole("heading", { name: "Failure classes" }).waitFor();
    assert.match(await page.locator("section", { hasText: "Failure classes" }).innerText(), /violated/);
    await page.locator(".why .step").first().waitFor();
    await go("#/stream/visits");
    await page.getByLabel("Column whose value is the state").fill("act");
    await page.getByLabel("Column that divides").fill("user");
    await page.getByRole("button", { name: "Merge" }).click();
    const image = page.locator(".picture img");
    await image.waitFor();
    assert.ok(await image.evaluate((image) => image.decode().then(() => image.naturalWidth > 50)));
    assert.match(await page.locator(".picture").innerText(), /3 states/);
  },

  async "the past and the words are those of the stream that the text names"() {
    // The first by name.
    await server.post("fresh", [{ ts: 1, colour: "red" }]);
    await go("#/");
    await page.locator(".tile", { hasText: "fresh" }).waitFor();
    await go("#/specs/named");
    const editor = page.getByRole("textbox", { name: "Text of named" });
    await editor.waitFor();
    const chosen = page.getByLabel("Stream whose past it is tried on");
    const is = (stream) => page.waitForFunction((stream) => document.querySelector("select").value === stream, stream);
    const type = async (text, more) => {
      await editor.click();
      await page.keyboard.press("Control+A");
      await page.keyboard.insertText(text);
      await page.keyboard.type(more);
    };
    const offered = (word) => page.locator(".editor .cm-tooltip-autocomplete li", { hasText: word }).first().waitFor();
    await is("web");
    await type("// trace { stream: fresh; }\ntrace { time: ts; stream: visits; }\nproperty p : G ", "us");
    await offered("user");
    await is("visits");
    await page.keyboard.press("Escape");
    await type('trace { stream: "fr*, none"; }\nproperty p : G ', "co");
    await offered("colour");
    await is("fresh");
    await page.keyboard.press("Escape");
    // Somebody's choice stays until the text names others; one that is not there yet is named.
    await chosen.selectOption("visits");
    await page.keyboard.press("Tab");
    await editor.click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("lour");
    await page.keyboard.press("Escape");
    await sleep(100);
    assert.equal(await chosen.inputValue(), "visits");
    await type("trace { stream: none; }\nproperty p : G ", "a;");
    await is("none");
    await page.getByRole("button", { name: "Try on the past" }).click();
    await page.locator(".tried", { hasText: "That stream has no lines yet." }).waitFor();
    await type("trace { stream: web; }\nproperty p : G ", "(ms < 100);");
    await page.getByRole("button", { name: "Try on the past" }).click();
    await page.locator(".tried", { hasText: "of web" }).locator(".state.violated").waitFor();
    await go("#/");
    await page.evaluate(() => sessionStorage.clear());
  },

  async "what turns the direction of text is shown, and turns nothing"() {
    await server.put("turned", "trace { stream: turned; }\nproperty paid : G (ms < 100);\n");
    await server.post("turned", [{ ms: 500, who: "\u202edrow\u2066 x\u2069" }]);
    await go("#/property/turned/turned/paid");
    await page.locator(".why .log-text").first().waitFor();
    await page.locator(".list .row").first().waitFor();
    const shown = await page.locator("main").innerText();
    assert.match(shown, /\\u202edrow\\u2066 x\\u2069/);
    for (const hash of ["#/property/turned/turned/paid", "#/violations", "#/"]) {
      await go(hash);
      await page.getByText("drow").first().waitFor();
      const raw = await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent + [...document.querySelectorAll("[title]")].map((own) => own.title).join("")));
      assert.equal(raw, false, hash);
    }
  },

  async "a lost connection is told, and taken up again"() {
    await go("#/violations");
    expectLoss = true;
    await server.kill();
    await page.getByRole("alert").getByText("Connection lost").waitFor();
    await server.start();
    await page.locator('.status[data-state="live"]').waitFor();
    await page.getByRole("alert").waitFor({ state: "hidden" });
    expectLoss = false;
    await server.post("web", [calm(now(), { ms: 777 })]);
    await page.locator(".list .row", { hasText: "777" }).first().waitFor();
    const { violations } = (await server.ask("/v1/violations?limit=10000")).json();
    const shown = Number(await page.locator(".list .row").first().getAttribute("aria-setsize"));
    assert.equal(shown, violations.length, "each once");
    // More than fits into one piece of the feed.
    await server.post("web", Array.from({ length: 700 }, (_, index) => calm(now(), { ms: 101 + (index % 300) })));
    await page.waitForFunction((all) => Number(document.querySelector(".list .row")?.getAttribute("aria-setsize")) === all, shown + 700);
  },

  async "a server that asks for a token"() {
    const guarded = new Server(program);
    const token = guarded.token("page", "read,write,administer");
    const blind = guarded.token("blind", "write");
    await guarded.start();
    try {
      assert.equal((await guarded.ask("/v1/properties")).status, 401);
      const headers = { authorization: `Bearer ${token}` };
      assert.equal((await guarded.ask("/v1/specs/own", { method: "PUT", headers, body: "property calm : G (ms < 100);\n" })).status, 200);
      assert.equal((await guarded.ask("/v1/streams/own/events", { method: "POST", headers, body: '{"ms": 5}' })).status, 200);
      const fresh = await browser.newPage();
      const addresses = [];
      fresh.on("request", (request) => addresses.push(request.url()));
      await fresh.goto(guarded.url);
      const field = fresh.getByLabel("This server asks for a token");
      const shown = async (token) => {
        assert.ok(addresses.every((address) => !address.includes("tw_")), "no address has a token");
        addresses.length = 0;
        await field.fill(token);
        await fresh.getByRole("button", { name: "Go on" }).click();
      };
      const said = (text) => fresh.locator("dialog", { hasText: text }).waitFor();
      // Wrong ones are asked for again, with the reason; each is shown to the server once.
      for (const wrong of ["tw_wrong", "tw_wronger", "tw_wrongest"]) {
        await shown(wrong);
        await said("The token is not known.");
        await fresh.waitForFunction(() => document.querySelector("#token")?.value === "");
        await sleep(wrong === "tw_wrongest" ? 2500 : 0);
        assert.equal(addresses.length, 1, addresses.join());
      }
      // One that is good for something else is asked for again, too, now or when somebody wants to.
      await shown(blind);
      await said("The token has not the right to read this.");
      assert.equal(addresses.length, 1, addresses.join());
      await fresh.keyboard.press("Escape");
      await fresh.getByRole("alert").getByText("has not the right to read this").waitFor();
      await sleep(2500);
      assert.equal(addresses.length, 1, addresses.join());
      await fresh.getByRole("button", { name: "Another token" }).click();
      await shown(token);
      await fresh.locator('.status[data-state="live"]').waitFor();
      await fresh.getByText("calm").first().waitFor();
      await guarded.ask("/v1/streams/own/events", { method: "POST", headers, body: '{"ms": 500}' });
      await fresh.locator(".state.violated").first().waitFor();
      // One that is taken out is told, and not shown again.
      assert.ok(addresses.every((address) => !address.includes("tw_")), "no address has a token");
      writeFileSync(guarded.more[1], "# none\n");
      await said("The token is not known.");
      await sleep(200);
      addresses.length = 0;
      await sleep(2500);
      assert.equal(addresses.length, 0, addresses.join());
      await field.waitFor();
      await fresh.close();
    } finally {
      await guarded.end();
    }
  },

  async "all of it by keyboard"() {
    await page.goto("about:blank");
    await go("#/");
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "To the content");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "main");
    await page.keyboard.press("/");
    await page.keyboard.type("quick");
    await row("answered").waitFor({ state: "detached" });
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "quick");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "quick", level: 1 }).waitFor();
    const list = page.getByRole("listbox");
    await list.focus();
    await page.keyboard.press("End");
    const last = await list.getAttribute("aria-activedescendant");
    await page.keyboard.press("Home");
    const first = await list.getAttribute("aria-activedescendant");
    assert.ok(first && last && first !== last, `${first} ${last}`);
    assert.equal(await page.locator(`#${first}`).getAttribute("aria-selected"), "true");
    await page.locator(".why .step").first().waitFor();
    // Every control has a name, every focus is seen.
    const nameless = await page.evaluate(() => [...document.querySelectorAll("button, a, input, select, [tabindex='0']")].filter((node) => !(node.ariaLabel ?? node.textContent ?? "").trim()).length);
    assert.equal(nameless, 0);
    const theme = page.getByRole("button", { name: /Theme/ });
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await back();
    await theme.focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    assert.notEqual(await back(), light, "dark");
    await page.keyboard.press("Enter");
    assert.equal(await back(), light, "as the system has it");
  },

  async "on a phone nothing is wider than the screen"() {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const hash of ["#/", "#/violations", "#/property/web/web/quick", "#/stream/web", "#/specs", "#/specs/web"]) {
      await go(hash);
      await sleep(300);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(over <= 0, `${hash}: ${over} px too wide`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  },

  async "the policy, other sites, tokens"() {
    const index = await server.ask("/");
    const policy = index.headers.get("content-security-policy");
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.equal(index.headers.get("x-content-type-options"), "nosniff");
    assert.equal(index.headers.get("referrer-policy"), "no-referrer");
    for (const headers of [{ origin: "http://evil.example" }, { origin: "null" }]) {
      const answer = await server.ask("/v1/streams/web/events", { method: "POST", headers, body: "{}" });
      assert.equal(answer.status, 403, answer.text);
    }
    const rebound = await new Promise((resolve, reject) => {
      get(`${server.url}/v1/streams`, { headers: { host: "evil.example" } }, (answer) => resolve(answer.statusCode)).on("error", reject);
    });
    assert.equal(rebound, 403, "a name that was made to lead here");
    // With a token, every request has it in a header and none in its address.
    const asked = [];
    page.on("request", (request) => asked.push(request));
    await page.evaluate(() => sessionStorage.setItem("tracewise-token", "secret-of-this-test"));
    await page.reload();
    await page.locator('.status[data-state="live"]').waitFor();
    const ours = asked.filter((request) => new URL(request.url()).pathname.startsWith("/v1/"));
    assert.ok(ours.some((request) => request.url().includes("/v1/feed")));
    for (const request of ours) {
      assert.ok(!request.url().includes("secret"), request.url());
      assert.equal(request.headers()["authorization"], "Bearer secret-of-this-test");
    }
    await page.evaluate(() => sessionStorage.clear());
  },

  async "10,000 violations and 1,000 events a second"() {
    for (let batch = 0; batch < 10; batch += 1) {
      await server.post("web", Array.from({ length: 1000 }, (_, index) => calm(now(), { ms: 101 + ((batch * 1000 + index) % 400) })));
    }
    await go("#/violations");
    await page.locator('.list .row').first().waitFor();
    await page.waitForFunction(() => Number(document.querySelector(".list .row")?.getAttribute("aria-setsize")) >= 10_000);
    assert.ok((await page.locator(".list .row").count()) < 100, "only what is seen is there");
    if (folder) await page.screenshot({ path: join(folder, "page-violations.png") });
    await page.evaluate(() => {
      globalThis.took = [];
      new PerformanceObserver((seen) => {
        for (const entry of seen.getEntries()) {
          globalThis.took.push([entry.name, entry.duration, entry.processingEnd - entry.processingStart]);
        }
      }).observe({ type: "event", durationThreshold: 16, buffered: false });
    });
    const session = await browser.newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    /** Seconds that the page's thread has worked, whatever else the machine does. */
    const worked = async () => (await session.send("Performance.getMetrics")).metrics.find((one) => one.name === "TaskDuration").value;
    const measure = async () => {
      const before = await worked();
      await page.evaluate(() => (globalThis.took = []));
      let events = 0;
      let on = true;
      const began = performance.now();
      const load = (async () => {
        while (on) {
          await server.post("web", Array.from({ length: 100 }, () => calm(now(), { ms: 101 + Math.random() * 300 })), "?ack=memory");
          events += 100;
          const due = began + events;
          await sleep(Math.max(0, due - performance.now()));
        }
      })();
      await sleep(1000);
      let done = 0;
      // What people do: walk through the list, hold it, filter it, open one, go elsewhere and back.
      for (let round = 0; round < 4; round += 1) {
        await page.getByRole("listbox").focus();
        for (const key of ["Home", "ArrowDown", "ArrowDown", "PageDown", "ArrowUp", "End", "Home"]) {
          await page.keyboard.press(key);
          done += 1;
        }
        await page.getByRole("button", { name: "Hold" }).click();
        await page.getByRole("button", { name: "Go on" }).click();
        await page.getByRole("searchbox").click();
        await page.keyboard.type("ms");
        await page.getByRole("searchbox").clear();
        await page.locator(".list .row").first().click();
        await page.getByRole("heading", { name: "quick", level: 1 }).waitFor();
        await page.getByRole("listbox").focus();
        for (const key of ["ArrowDown", "ArrowDown", "PageDown"]) await page.keyboard.press(key);
        await page.getByRole("link", { name: "Overview", exact: true }).click();
        await page.getByRole("button", { name: /violated/ }).click();
        await page.getByRole("link", { name: /^Violations/ }).click();
        done += 13;
      }
      const seconds = (performance.now() - began) / 1000;
      const rate = events / seconds;
      const share = ((await worked()) - before) / seconds;
      on = false;
      await load;
      await sleep(500);
      const took = await page.evaluate(() => globalThis.took);
      const sorted = (place) => took.map((one) => one[place]).sort((a, b) => a - b);
      const at = (all, share) => all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0;
      const [whole, own] = [sorted(1), sorted(2)];
      // Events shorter than 16 ms are not reported: with them the shares would only be better.
      const said = `${done} interactions at ${rate.toFixed(0)} events/s; of ${took.length} event timings from 16 ms on: to the next picture half within ${at(whole, 0.5)}, 95 % ${at(whole, 0.95)}, longest ${at(whole, 1)} ms; handlers longest ${at(own, 1).toFixed(1)} ms; the page's thread worked ${(share * 100).toFixed(0)} % of the time; load ${loadavg()[0].toFixed(1)}`;
      return { said, share, good: at(own, 1) <= LIMIT && at(whole, 0.95) <= LIMIT };
    };
    // Whatever else the machine does adds to these times, and nothing takes from them: of three series the best counts.
    const all = [];
    let good = false;
    let least = 1;
    for (let series = 0; series < 3 && !good; series += 1) {
      const found = await measure();
      all.push(found.said);
      good = found.good;
      least = Math.min(least, found.share);
    }
    // On a machine with twice as much to do as it can, times are those of others: there the work counts.
    const busy = loadavg()[0] > 2 * cpus().length;
    assert.ok(good || (busy && least < 0.5), all.join("\n"));
    const said = all.reverse().join("; before that: ");
    const { end } = (await server.ask("/v1/violations?limit=1")).json();
    await page.waitForFunction((end) => document.querySelector(".found-count")?.textContent.replaceAll(",", "") === String(end), end);
    return said;
  },
};

let failed = false;
try {
  if (folder) mkdirSync(folder, { recursive: true });
  for (const [name, step] of Object.entries(steps)) {
    const began = performance.now();
    const said = await step();
    assert.deepEqual(wrong, [], "errors in the browser");
    console.log(`ok   ${name}${said ? `: ${said}` : ""} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  }
  if (folder) await pictures(browser, program, folder);
} catch (error) {
  failed = true;
  console.error(error);
  if (wrong.length > 0) console.error(wrong);
  mkdirSync("out", { recursive: true });
  await page.screenshot({ path: "out/failed.png" }).catch(() => {});
} finally {
  await browser.close();
  await server.end();
  rmSync(profile, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
