// The page: a head, one view at a time, and what is told while it is open.

import { onTokenWanted, token } from "./api";
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

const store = new Store(draw);
let view: View | null = null;

const main = el("main", { id: "main", tabindex: "-1" });
const banner = el("div", { class: "banner", role: "alert", hidden: true });
const bannerText = el("span", {});
append(banner, bannerText, " ", el("button", { type: "button", onclick: () => (store.feed ? store.feed.now() : void begin()) }, "Try now"));
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
  if (!store.feed) {
    banner.hidden = store.error === null;
    say(bannerText, `The server does not answer (${store.error ?? ""}), retrying.`);
    return;
  }
  const { state, retryAt } = store.feed.connection;
  status.dataset["state"] = state;
  say(status, state === "live" ? "live" : state === "lost" ? "not connected" : "connecting");
  banner.hidden = state !== "lost";
  if (state === "lost") {
    const left = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
    say(bannerText, left > 0 ? `Connection lost, retrying in ${left} s. What is shown may be old.` : "Connection lost, retrying. What is shown may be old.");
  }
}

/** Asks for a token, which is kept as long as this tab. */
function askToken(): void {
  if (document.querySelector("dialog")) return;
  const field = el("input", { type: "password", id: "token", name: "token", autocomplete: "current-password" });
  const dialog = el(
    "dialog",
    { "aria-label": "Token" },
    el(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          token.set(field.value.trim());
          dialog.close();
          dialog.remove();
          void begin();
        },
      },
      el("label", { for: "token" }, "This server asks for a token. It is kept until this tab is closed."),
      field,
      el("button", { type: "submit", class: "first" }, "Go on"),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

let waiting = 0;
async function begin(): Promise<void> {
  clearTimeout(waiting);
  try {
    await store.start();
  } catch {
    // The server may not be there yet.
    waiting = setTimeout(() => void begin(), 2000) as unknown as number;
  }
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
