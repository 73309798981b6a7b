// All violations that the page has, the newest first; and the same list for one property.

import type { Violation } from "../api";
import { el, say } from "../dom";
import { count, counted, stamp } from "../format";
import { List, part } from "../list";
import { type View, boundText } from "../parts";
import { to } from "../routes";
import type { Store } from "../store";

/** What a filter looks at, made once for each. */
const texts = new WeakMap<Violation, string>();
function textOf(own: Violation): string {
  let text = texts.get(own);
  if (text === undefined) {
    text = `${own.property} ${own.stream} ${own.spec} ${boundText(own.bindings)} ${own.line?.text ?? ""} ${own.explanation}`.toLowerCase();
    texts.set(own, text);
  }
  return text;
}

/** Milliseconds of a frame that choosing may take; the rest is for the next. */
const SHARE = 6;

/** Violations that satisfy something, kept in step with the store at the cost of what is new. */
export class Chosen {
  items: Violation[] = [];
  private next = 0;
  /** Whether some were not looked at yet. */
  behind = false;
  private wanted: ((own: Violation) => boolean) | null = null;

  constructor(private readonly store: Store) {}

  choose(wanted: ((own: Violation) => boolean) | null): void {
    this.wanted = wanted;
    this.items = [];
    this.next = 0;
    this.update();
  }

  /** Whether something is new. */
  update(): boolean {
    const all = this.store.violations;
    const start = all[0]?.number ?? 0;
    const before = this.items.length;
    // Another store than before.
    if (this.next > this.store.end) [this.items, this.next] = [[], 0];
    const until = performance.now() + SHARE;
    this.behind = false;
    for (let at = this.store.from(this.next); at < all.length; at += 1) {
      const own = all[at]!;
      if (this.wanted && at % 128 === 0 && performance.now() > until) {
        this.behind = true;
        this.next = own.number;
        this.store.changed();
        break;
      }
      if (!this.wanted || this.wanted(own)) this.items.push(own);
    }
    if (!this.behind) this.next = this.store.end;
    let gone = 0;
    while (gone < this.items.length && this.items[gone]!.number < start) gone += 1;
    if (gone > 0) this.items.splice(0, gone);
    return gone > 0 || this.items.length !== before;
  }
}

/** The list of violations; with `property`, names of properties are left out. */
export function violationList(label: string, property: boolean, opened: (own: Violation) => void, reached?: (own: Violation) => void): List<Violation> {
  const list = new List<Violation>({
    label,
    number: (own) => own.number,
    opened,
    ...(reached ? { reached } : {}),
    make: () =>
      el("div", {}, el("span", { class: "v-time" }), el("span", { class: "v-what" }), el("span", { class: "v-bound" }), el("span", { class: "v-line" }), el("span", { class: "v-why" })),
    show: (row, own) => {
      part(row, 0, stamp(own.time) || `#${count(own.position)}`);
      part(row, 1, property ? "" : `${own.property} · ${own.stream}`);
      part(row, 2, boundText(own.bindings));
      part(row, 3, own.line?.text ?? "");
      part(row, 4, own.explanation);
    },
  });
  list.node.classList.add(property ? "of-property" : "of-all");
  return list;
}

export function violationsView(store: Store): View {
  const chosen = new Chosen(store);
  const list = violationList("Violations, the newest first", false, (own) => {
    location.hash = to.property(own, own.id);
  });
  let held = false;
  const hold = el("button", { type: "button", "aria-pressed": "false", onclick: () => set(!held) }, "Hold");
  const set = (on: boolean) => {
    held = on;
    hold.ariaPressed = String(on);
    say(hold, on ? "Go on" : "Hold");
    update();
  };
  const filter = el("input", {
    type: "search",
    placeholder: "Filter by property, stream, values, line",
    "aria-label": "Filter violations",
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => {
      const text = filter.value.trim().toLowerCase();
      chosen.choose(text ? (own) => textOf(own).includes(text) : null);
      list.set(chosen.items);
      tell();
    },
  });
  const said = el("p", { class: "quiet", role: "status" });
  const tell = () => {
    const all = store.violations.length;
    const here = chosen.items.length === all ? counted(all, "violation") : `${count(chosen.items.length)} of ${counted(all, "violation")}`;
    const older = store.end - all;
    say(said, older > 0 ? `${here}; ${counted(older, "older one")} on the server` : here);
  };
  const node = el("div", { class: "view-list" }, el("div", { class: "bar" }, el("h1", { tabindex: "-1" }, "Violations"), said, el("span", { class: "push" }), hold, filter), list.node);
  const update = () => {
    if (held && !chosen.behind) return;
    chosen.update();
    list.set(chosen.items);
    tell();
  };
  return { node, title: "Violations", update };
}
