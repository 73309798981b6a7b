// What there is, and how it stands: streams with their rates, properties with their states.

import type { Property, State, Stream } from "../api";
import { Sparkline } from "../chart";
import { el, keyed, say, straight } from "../dom";
import { bytes, count, rate, stamp } from "../format";
import { STATES, type View, badge, due, mostUrgent, setBadge } from "../parts";
import { to } from "../routes";
import { type Store, keyOf } from "../store";

interface Row extends HTMLTableRowElement {
  parts: { state: HTMLElement; property: HTMLElement; last: HTMLElement; violations: HTMLElement; pending: HTMLElement; due: HTMLElement };
}

interface Tile extends HTMLElement {
  spark: Sparkline;
  parts: { rate: HTMLElement; lines: HTMLElement; behind: HTMLElement; violated: HTMLElement };
}

export function overview(store: Store): View {
  const tiles = el("div", { class: "tiles" });
  const body = el("tbody", {});
  const knownTiles = new Map<string, Tile>();
  const knownRows = new Map<string, Row>();
  let text = "";
  let only: State | null = null;

  const filter = el("input", {
    type: "search",
    placeholder: "Filter by name, stream, text",
    "aria-label": "Filter properties",
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => {
      text = filter.value.trim().toLowerCase();
      update();
    },
  });
  const buttons = new Map<State, HTMLButtonElement>();
  const numbers = new Map<State, HTMLElement>();
  for (const state of STATES) {
    const number = el("b", {}, "0");
    const button = el("button", { type: "button", class: "filter", "aria-pressed": "false", onclick: () => choose(state) }, badge(state), number);
    buttons.set(state, button);
    numbers.set(state, number);
  }
  const choose = (state: State) => {
    only = only === state ? null : state;
    for (const [own, button] of buttons) button.ariaPressed = String(own === only);
    update();
  };
  const empty = el("p", { class: "empty" });
  const head = ["State", "Property", "Last violation", "Violations", "Open", "Due next"].map((name, index) =>
    el("th", { scope: "col", class: index >= 3 && index <= 4 ? "number" : undefined }, name),
  );
  const table = el("table", { class: "properties" }, el("thead", {}, el("tr", {}, ...head)), body);
  const node = el(
    "div",
    { class: "overview" },
    el("h1", { tabindex: "-1", class: "unseen" }, "Overview"),
    el("section", { "aria-label": "Streams" }, el("h2", {}, "Streams"), tiles),
    el(
      "section",
      { "aria-label": "Properties" },
      el("div", { class: "bar" }, el("h2", {}, "Properties"), el("div", { class: "filters", role: "group", "aria-label": "States to show" }, ...buttons.values()), filter),
      table,
      empty,
    ),
  );

  function update(): void {
    const violated = new Map<string, number>();
    const totals = new Map<State, number>();
    for (const own of store.properties) {
      if (own.kind === "query") continue;
      totals.set(own.state, (totals.get(own.state) ?? 0) + 1);
      if (own.state === "violated") violated.set(own.stream, (violated.get(own.stream) ?? 0) + 1);
    }
    for (const [state, number] of numbers) say(number, count(totals.get(state) ?? 0));
    keyed(tiles, knownTiles, store.streams, (own) => own.stream, makeTile, (tile, own) => {
      const rates = store.rates.get(own.stream) ?? [];
      const latest = rates.slice(-5);
      say(tile.parts.rate, rate(latest.length > 0 ? latest.reduce((a, b) => a + b, 0) / latest.length : 0));
      say(tile.parts.lines, `${count(own.lines)} lines, ${bytes(own.bytes)}`);
      say(tile.parts.behind, own.behind > 0 ? `${count(own.behind)} behind` : "");
      const wrong = violated.get(own.stream) ?? 0;
      say(tile.parts.violated, wrong > 0 ? `${count(wrong)} violated` : "");
      tile.spark.set(rates, rates.length <= 120 ? 120 : rates.length <= 300 ? 300 : 600);
    });
    const shown = store.properties.filter((own) => {
      if (only && (own.state !== only || own.kind === "query")) return false;
      return !text || `${own.property} ${own.title ?? ""} ${own.stream} ${own.spec} ${own.text}`.toLowerCase().includes(text);
    });
    const order = (own: Property) => (own.kind === "query" ? STATES.length : STATES.indexOf(own.state));
    shown.sort((a, b) => order(a) - order(b) || (a.property < b.property ? -1 : a.property > b.property ? 1 : a.stream < b.stream ? -1 : 1));
    keyed(body, knownRows, shown, keyOf, makeRow, (row, own) => fillRow(row, own, store.now));
    empty.hidden = shown.length > 0;
    table.hidden = shown.length === 0;
    say(empty, nothing(store, text !== "" || only !== null));
  }

  return { node, title: "Overview", update };
}

function nothing(store: Store, filtered: boolean): string {
  if (filtered) return "No property is like that.";
  if (store.streams.length === 0) return "No stream yet: one begins with the first event, POST /v1/streams/NAME/events.";
  return "No property yet: write a specification under “Specifications”.";
}

function makeTile(stream: Stream): Tile {
  const spark = new Sparkline(`Lines of ${stream.stream} per second, up to ten minutes`);
  const parts = {
    rate: el("span", { class: "tile-rate" }),
    lines: el("span", { class: "quiet" }),
    behind: el("span", { class: "behind" }),
    violated: el("span", { class: "violated" }),
  };
  const tile = el(
    "a",
    { class: "tile", href: to.stream(stream.stream) },
    el("span", { class: "tile-name" }, stream.stream),
    parts.rate,
    spark.node as unknown as HTMLElement,
    el("span", { class: "tile-foot" }, parts.lines, parts.behind, parts.violated),
  );
  return Object.assign(tile, { spark, parts }) as unknown as Tile;
}

function makeRow(own: Property): Row {
  const link = el("a", { class: "name", href: to.property(own) }, own.property);
  const parts = {
    state: el("span", {}),
    property: el("div", { class: "names" }, link, own.title ? el("span", { class: "title" }, own.title) : null, el("span", { class: "where" }, `${own.stream} · ${own.spec}`)),
    last: el("div", { class: "last" }),
    violations: el("span", {}),
    pending: el("span", {}),
    due: el("span", {}),
  };
  const row = el(
    "tr",
    {},
    el("td", { class: "cell-state" }, parts.state),
    el("td", { class: "cell-name" }, parts.property),
    el("td", { class: "cell-last" }, parts.last),
    el("td", { class: "number cell-violations" }, parts.violations),
    el("td", { class: "number cell-pending" }, parts.pending),
    el("td", { class: "cell-due" }, parts.due),
  );
  // The whole row leads where its name does.
  row.addEventListener("click", (event) => {
    if (!(event.target as HTMLElement).closest("a") && getSelection()?.isCollapsed !== false) location.hash = to.property(own);
  });
  return Object.assign(row, { parts }) as Row;
}

function fillRow(row: Row, own: Property, now: number): void {
  const { parts } = row;
  if (own.kind === "query" && !own.stopped) {
    if (parts.state.className !== "state query") {
      delete parts.state.dataset["state"];
      parts.state.className = "state query";
      parts.state.textContent = "value";
    }
    const value = own.value?.value;
    say(parts.last, value === null || value === undefined ? "none yet" : typeof value === "object" ? JSON.stringify(value) : String(value));
    parts.last.classList.add("figure");
    return;
  }
  setBadge(parts.state, own.state);
  const last = own.last;
  say(parts.last, own.stopped ?? (last ? `${stamp(last.time) || `position ${count(last.position)}`} · ${last.line?.text || last.explanation}` : ""));
  parts.last.title = straight(own.stopped ?? last?.explanation ?? "");
  say(parts.violations, own.violations ? count(own.violations) : "");
  say(parts.pending, own.pending_count ? count(own.pending_count) : "");
  const urgent = mostUrgent(own);
  const when = urgent ? due(urgent, now) : null;
  say(parts.due, when?.text ?? "");
  parts.due.classList.toggle("late", when?.late === true);
  row.classList.toggle("is-violated", own.state === "violated");
}
