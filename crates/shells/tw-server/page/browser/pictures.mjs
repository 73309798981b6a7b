// Pictures of the page for its documentation, from a server with a small shop's log.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Server } from "./server.mjs";

const SHOP = `// What the shop promises.
trace { stream: shop; time: ts; }

property answered "every order is confirmed within 5 s" :
  forall id. G (order(id: id) -> F[0,5] confirmed(id: id));
property paid_first "nothing is shipped before it is paid" :
  forall id. G (shipped(id: id) -> O paid(id: id));
property quick "no answer takes 100 ms" : G (ms < 100);
property no_failure : G !failed;
property opened : F order;
query slowest "ms of the slowest answer" : max[ms];
query orders : count[order];
`;

/** A small shop, second by second, some of it wrong. */
function shop(seconds) {
  const start = Math.floor(Date.now() / 1000) - seconds;
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const events = [];
  for (let second = 0; second < seconds; second += 1) {
    const ts = start + second;
    const id = `o-${1000 + second}`;
    const ms = Math.round(30 + 25 * Math.sin(second / 40) + 40 * random() ** 3 + (random() < 0.01 ? 60 : 0));
    events.push({ ts, event: "order", id, ms, failed: random() < 0.004 });
    if (random() > 0.03) events.push({ ts: ts + 0.3, event: "confirmed", id, ms: ms - 8, failed: false });
    if (random() > 0.02) events.push({ ts: ts + 0.5, event: "paid", id, ms: 12, failed: false });
    events.push({ ts: ts + 0.9, event: "shipped", id, ms: 9, failed: false });
  }
  return events;
}

export async function pictures(browser, program, folder) {
  const server = new Server(program);
  await server.start();
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const take = async (name, hash, width, height, colorScheme, ready) => {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    await page.goto(`${server.url}/${hash}`);
    await page.reload();
    await page.locator('.status[data-state="live"]').waitFor();
    await ready?.();
    await sleep(1500);
    await page.screenshot({ path: join(folder, `page-${name}.png`) });
  };
  try {
    await server.put("shop", SHOP);
    const events = shop(900);
    for (let at = 0; at < events.length; at += 60) await server.post("shop", events.slice(at, at + 60));
    // A live part, so that rates and values move.
    for (let second = 0; second < 12; second += 1) {
      const ts = Date.now() / 1000;
      await server.post("shop", Array.from({ length: 20 + 15 * (second % 4) }, (_, index) => ({ ts: ts + index / 1000, event: "order", id: `n-${second}-${index}`, ms: 20 + index, failed: false })));
      await server.post("web", Array.from({ length: 5 + second }, (_, index) => ({ ts: ts + index / 1000, event: "get", ms: 3 })));
      await sleep(1000);
    }
    const tree = () => page.locator(".why .step").first().waitFor();
    await take("light", "#/", 1280, 640, "light");
    await take("property", "#/property/shop/shop/paid_first", 1280, 860, "light", tree);
    await take("dark", "#/property/shop/shop/quick", 1280, 860, "dark", async () => {
      await tree();
      await page.getByRole("heading", { name: "Robustness" }).waitFor();
    });
    await take("narrow", "#/", 390, 780, "light");
    await take("editor", "#/specs/shop", 1280, 760, "dark", async () => {
      const editor = page.getByRole("textbox", { name: "Text of shop" });
      await editor.waitFor();
      await page.getByLabel("Stream whose past").selectOption("shop");
      await page.getByRole("button", { name: "Try on the past" }).click();
      await page.locator(".tried tr").first().waitFor();
      await editor.click();
      await page.keyboard.press("Control+End");
      await page.keyboard.type("property shipped_paid : preced");
      await page.locator(".editor .cm-tooltip-autocomplete").waitFor();
    });
    const many = Array.from({ length: 200 }, (_, index) => `property p${String(index).padStart(3, "0")} : ${index % 3 === 0 ? `G (ms < ${50 + index})` : index % 3 === 1 ? `G (order -> F[0,${index}] shipped)` : `F (ms > ${index / 4})`};`);
    await server.put("many", `trace { stream: shop; time: ts; }\n${many.join("\n")}\n`);
    const ts = Date.now() / 1000;
    await server.post("shop", Array.from({ length: 300 }, (_, index) => ({ ts: ts + index / 100, event: index % 2 ? "order" : "shipped", id: `m-${index}`, ms: index, failed: false })));
    await take("many", "#/", 1280, 860, "light", async () => {
      await page.getByText("p199").waitFor();
      await page.locator(".state.violated", { hasText: "violated" }).nth(20).waitFor();
    });
  } finally {
    await page.close();
    await server.end();
  }
}
