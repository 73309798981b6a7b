// The page: a head, one view at a time, and what is told while it is open.

import { Refused, onTokenWanted, token } from "./api";
import { append, el, fill, say } from "./dom";
import { count } from "./format";
import type { View } from "./parts";
import { type Place, read, to } from "./routes";
import { Store } from "./store";
import * as theme from "./theme";
import { overview } from "./views/overview";
import { propertyView } from "./views/property";
import { specsView } from "./views/specs";
import { streamView } from "./views/stream";
import { violationsView } from "./views/violations";

const store = new Store(draw, (why) => why.status === 403 && token.get() && askToken(why.message));
let view: View | null = null;

const main = el("main", { id: "main", tabindex: "-1" });
const banner = el("div", { class: "banner", role: "alert", hidden: true });
const bannerText = el("span", {});
const bannerButton = el("button", { type: "button", onclick: () => act() }, "Try now");
append(banner, bannerText, " ", bannerButton);
const status = el("span", { class: "status", role: "status" });
const links: [Place["at"][], HTMLAnchorElement][] = [
  [["overview", "property", "stream"], el("a", { href: to.overview }, "Overview")],
  [["violations"], el("a", { href: to.violations }, "Violations")],
  [["specs"], el("a", { href: to.specs }, "Specifications")],
];
const found = el("span", { class: "found-count" });
append(links[1]![1], " ", found);

function viewOf(place: Place): View {
  switch (place.at) {
    case "violations":
      return violationsView(store);
    case "property":
      return propertyView(store, place);
    case "stream":
      return streamView(store, place.stream);
    case "specs":
      return specsView(store, place.spec);
    default:
      return overview(store);
  }
}

function go(first = false): void {
  const place = read(location.hash);
  if (!view?.go?.(location.hash)) {
    view?.close?.();
    view = viewOf(place);
    fill(main, view.node);
    scrollTo(0, 0);
    view.update();
    // Who follows a link by keyboard goes on from the new heading.
    if (!first) main.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
  }
  for (const [places, link] of links) {
    if (places.includes(place.at)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  title();
}

function title(): void {
  const violated = store.properties.filter((own) => own.state === "violated").length;
  const text = `${violated > 0 ? `(${violated}) ` : ""}${view?.title ?? ""} · Tracewise`;
  if (document.title !== text) document.title = text;
}

function draw(): void {
  view?.update();
  title();
  say(found, store.end > 0 ? count(store.end) : "");
  connection();
}

function connection(): void {
  const { denied, error, feed } = store;
  const state = denied ? "lost" : (feed?.connection.state ?? "connecting");
  status.dataset["state"] = state;
  say(status, state === "live" ? "live" : state === "lost" ? "not connected" : "connecting");
  banner.hidden = denied === null && (feed ? state !== "lost" : error === null);
  say(bannerButton, !guarded() ? "Try now" : asked ? "Another token" : "Enter a token");
  if (denied) {
    say(bannerText, denied.status === 401 && !asked ? "This server asks for a token." : `The server does not let this page in: ${asked || denied.message}.`);
  } else if (!feed) {
    say(bannerText, error instanceof Refused ? `The server says: ${error.message}. Retrying.` : `The server does not answer (${error?.message ?? ""}), retrying.`);
  } else if (state === "lost") {
    const left = Math.max(0, Math.ceil((feed.connection.retryAt - Date.now()) / 1000));
    say(bannerText, left > 0 ? `Connection lost, retrying in ${left} s. What is shown may be old.` : "Connection lost, retrying. What is shown may be old.");
  }
}

/** Whether another token would help. */
function guarded(): boolean {
  return store.denied !== null && (store.denied.status === 401 || token.get() !== null);
}

/** What the banner's button does. */
function act(): void {
  if (guarded()) openDialog();
  else if (store.feed && !store.denied) store.feed.now();
  else void begin();
}

/** What the server said of the latest token, if there was one. */
let asked = "";
/** A token was entered, and nothing was read with it yet. */
let entered = false;
const tokenField = el("input", { type: "password", id: "token", name: "token", autocomplete: "current-password" });
const tokenSaid = el("p", { class: "bad", role: "alert" });
const tokenForm = el(
  "form",
  {
    onsubmit: (event) => {
      event.preventDefault();
      if (!tokenField.value.trim()) return;
      token.set(tokenField.value.trim());
      entered = true;
      asked = "";
      say(tokenSaid, "");
      void begin();
    },
  },
  el("label", { for: "token" }, "This server asks for a token. It is kept until this tab is closed."),
  tokenField,
  tokenSaid,
  el("button", { type: "submit", class: "first" }, "Go on"),
  el("button", { type: "button", onclick: () => dialog.close() }, "Not now"),
);
const dialog = el("dialog", { "aria-label": "Token" }, tokenForm);
dialog.addEventListener("close", () => dialog.remove());

function openDialog(): void {
  if (dialog.open) return;
  document.body.append(dialog);
  dialog.showModal();
}

/** Asks for a token, once for each reason: who does not want to give one now is not asked again and again. */
let told = false;
function askToken(why: string): void {
  if (why) {
    asked = why;
    tokenField.value = "";
    say(tokenSaid, sentence(why));
  }
  if (why || !told) openDialog();
  told = true;
  store.changed();
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Seconds between attempts, and at most. */
const [RETRY, LONGEST_RETRY] = [2, 60];
let waiting = 0;
let attempts = 0;
async function begin(): Promise<void> {
  clearTimeout(waiting);
  const own = (attempts += 1);
  try {
    await store.start();
  } catch (error) {
    if (own !== attempts || (error instanceof Refused && error.denied)) return;
    // The server may not be there yet, or wants to be left alone for a while.
    const wait = error instanceof Refused ? Math.min(LONGEST_RETRY, Math.max(RETRY, error.after)) : RETRY;
    if (dialog.open) say(tokenSaid, sentence((error as Error).message));
    waiting = setTimeout(() => void begin(), wait * 1000) as unknown as number;
    return;
  }
  if (own !== attempts || !entered) return;
  entered = false;
  dialog.close();
  // What the view asked for with another token, or none, is asked for again.
  view?.close?.();
  view = null;
  go(true);
}

const button = theme.button();
const head = el(
  "header",
  { class: "head" },
  el("a", { class: "brand", href: to.overview, "aria-label": "Tracewise, overview" }, "Tracewise"),
  el("nav", { "aria-label": "Pages" }, ...links.map(([, link]) => link)),
  status,
  button,
);
const skip = el("a", { class: "skip", href: "#main", onclick: (event) => (event.preventDefault(), main.focus()) }, "To the content");
append(document.body, skip, head, banner, main);
addEventListener("hashchange", () => go());
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.composedPath()[0] as HTMLElement;
  if (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName)) return;
  const filter = main.querySelector<HTMLInputElement>("input[type=search]");
  if (!filter) return;
  event.preventDefault();
  filter.focus();
});
// Countdowns go on while nothing comes.
setInterval(() => {
  store.now += 1;
  if (!document.hidden) store.changed();
}, 1000);
onTokenWanted(askToken);
go(true);
void begin();
