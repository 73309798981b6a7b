// One property: what it says, how it stands, what it waits for, where it was violated and why.

import { Refused, json, query, type Property, type Step, type Violation } from "../api";
import { Chart } from "../chart";
import { append, el, fill, keyed, say } from "../dom";
import { count, counted, seconds, stamp, value } from "../format";
import { type View, boundText, chips, due, logLine, section, setBadge, tree } from "../parts";
import { type Place, read, to } from "../routes";
import { type Store, keyOf } from "../store";
import { Chosen, violationList } from "./violations";

type Where = Extract<Place, { at: "property" }>;

interface Robustness {
  positions: number[];
  times: (number | string | null)[];
  values: (number | string)[];
}

interface ClassesFound {
  classes: { class: string; verdict: string; traces: number; hologram: string; why: string; examples: string[] }[];
}

export function propertyView(store: Store, where: Where): View {
  let place = where;
  const state = el("span", {});
  const facts = el("dl", { class: "facts" });
  const sentence = el("p", { class: "sentence" });
  const text = el("pre", { class: "formula", tabindex: "0", "aria-label": "Text of the property" });
  const note = el("p", { class: "note", role: "status" });
  const numbers = new Map<string, HTMLElement>();
  for (const name of ["Violations", "Open", "Positions", "Left out", "Stream", "Specification"]) {
    const cell = el("dd", {});
    numbers.set(name, cell);
    append(facts, el("div", {}, el("dt", {}, name), cell));
  }
  fill(numbers.get("Stream")!, el("a", { href: to.stream(place.stream) }, place.stream));
  fill(numbers.get("Specification")!, el("a", { href: to.spec(place.spec) }, place.spec));

  const over = new Chart({ label: "Violations over time", dates: false, kind: "bars", paint: "--violated" });
  const overSection = section("Violations over time", over.node);
  const values = new Chart({ label: "Value each second", dates: true, kind: "steps", paint: "--accent" });
  const valueNow = el("p", { class: "figure big" });
  const valueSection = section("Value", valueNow, values.node);
  const robust = new Chart({ label: "Robustness at the latest positions", dates: false, kind: "line", paint: "--accent", zero: true });
  const robustSection = section("Robustness", el("p", { class: "quiet" }, "How far the signals are from violating it, at each of the latest positions; below zero it is violated."), robust.node);
  const pendingBody = el("ul", { class: "pending" });
  const pendingMore = el("p", { class: "quiet" });
  const pendingSection = section("Open obligations", pendingBody, pendingMore);
  const classesBody = el("div", {});
  const classesSection = section("Failure classes", classesBody);
  for (const own of [valueSection, robustSection, pendingSection, classesSection]) own.hidden = true;

  const detail = el("div", { class: "detail", "aria-live": "polite" });
  const chosen = new Chosen(store);
  chosen.choose((own) => own.property === place.property && own.stream === place.stream && own.spec === place.spec);
  const open = (own: Violation) => {
    // The address says what is shown, without a step back for each.
    history.replaceState(null, "", to.property(place, own.id));
    place = { ...place, violation: own.id };
    show(own);
  };
  const list = violationList(`Violations of ${place.property}, the newest first`, true, open, open);
  const listCount = el("span", { class: "quiet" });
  const listSection = el("section", { class: "panel found" }, el("h2", {}, "Violations ", listCount), el("div", { class: "split" }, list.node, detail));

  const node = el(
    "div",
    { class: "property" },
    el("div", { class: "bar" }, el("h1", { tabindex: "-1" }, place.property), state),
    sentence,
    text,
    note,
    facts,
    valueSection,
    el("div", { class: "panels" }, overSection, robustSection, pendingSection),
    listSection,
    classesSection,
  );

  let shown: string | null = null;
  const known = new Map<string, HTMLElement>();
  let looked = -Infinity;
  /** All are counted again, but not for each that comes. */
  let counts = 0;
  let begun = false;
  let wantsRobust = true;
  let wantsClasses = true;

  function show(own: Violation): void {
    if (shown === own.id) return;
    shown = own.id;
    list.mark(own.number);
    const why = el("div", { class: "why" }, el("p", { class: "quiet" }, "Looking at the log …"));
    const facts: [string, Node | string | null][] = [
      ["Position", count(own.position)],
      ["Time", own.time === null ? null : stamp(own.time)],
      ["Settled by", own.settled_by === undefined ? null : `position ${count(own.settled_by)}`],
      ["Failed together", own.count === undefined ? null : count(own.count)],
      ["Category", own.category ?? null],
      ["Bindings", chips(own.bindings)],
      ["Line", own.line ? logLine(own.line) : null],
    ];
    fill(
      detail,
      el("h3", {}, own.explanation),
      el("dl", { class: "facts tall" }, ...facts.filter(([, what]) => what !== null).map(([name, what]) => el("div", {}, el("dt", {}, name), el("dd", {}, what)))),
      el("h3", {}, "Why"),
      why,
    );
    void explain(own, why);
  }

  async function explain(own: Violation, why: HTMLElement): Promise<void> {
    try {
      const asked = query({ stream: own.stream, spec: own.spec, property: own.property, id: own.id, number: own.number });
      const found = await json<{ explanation: Step | null; note?: string; text?: string }>(`/v1/explanation?${asked}`);
      if (shown !== own.id) return;
      fill(
        why,
        found.note ? el("p", { class: "quiet" }, found.note) : null,
        found.text ? el("p", { class: "reason" }, found.text) : null,
        found.explanation ? tree(found.explanation) : null,
      );
    } catch (error) {
      if (shown !== own.id) return;
      fill(why, el("p", { class: "quiet" }, (error as Error).message));
    }
  }

  function update(): void {
    const own = store.property(place.stream, place.spec, place.property);
    if (!own) {
      say(note, store.loaded ? "There is no such property now: its stream or its specification is gone, or has no event yet." : "");
    } else {
      fillHead(own);
    }
    const news = chosen.update();
    listSection.hidden = own?.kind === "query";
    overSection.hidden = own?.kind === "query";
    if (news || !begun) {
      list.set(chosen.items);
      say(listCount, listed(own));
      counts ||= setTimeout(() => {
        counts = 0;
        overTime();
      }, begun ? 500 : 0) as unknown as number;
    }
    if (shown === null && chosen.items.length > 0) {
      const wanted = place.violation ? chosen.items.findLast((one) => one.id === place.violation) : chosen.items[chosen.items.length - 1];
      if (wanted) show(wanted);
      else if (place.violation) void older();
    } else if (chosen.items.length === 0 && shown === null) {
      fill(detail, el("p", { class: "quiet" }, own?.violations ? "They are older than what this page has." : "None so far."));
    }
    const now = performance.now();
    if (own && now - looked > 3000) {
      looked = now;
      void look(own);
    }
  }

  const listed = (own: Property | undefined) => {
    const all = own?.violations ?? chosen.items.length;
    return all > chosen.items.length ? `${count(chosen.items.length)} of ${count(all)} here` : count(chosen.items.length);
  };

  /** One that is asked for by an address, older than what is here. */
  async function older(): Promise<void> {
    shown = "";
    const wanted = place.violation;
    try {
      const asked = query({ stream: place.stream, property: place.property, limit: 10_000 });
      const { violations } = await json<{ violations: Violation[] }>(`/v1/violations?${asked}`);
      const own = violations.find((one) => one.id === wanted);
      shown = null;
      if (own) show(own);
      else place = { at: place.at, stream: place.stream, spec: place.spec, property: place.property };
    } catch {
      shown = null;
    }
  }

  function fillHead(own: Property): void {
    for (const name of ["Violations", "Open"]) numbers.get(name)!.parentElement!.hidden = own.kind === "query";
    if (own.kind === "query") {
      state.className = "state query";
      say(state, "query");
    } else setBadge(state, own.state);
    say(sentence, own.title ?? "");
    sentence.hidden = !own.title;
    say(text, own.text);
    say(note, own.stopped ? `Stopped: ${own.stopped}` : own.last_left_out ? `The last line that could not be read: ${own.last_left_out}` : "");
    note.classList.toggle("bad", own.stopped !== undefined);
    say(numbers.get("Violations")!, count(own.violations ?? 0));
    say(numbers.get("Open")!, count(own.pending_count ?? 0));
    say(numbers.get("Positions")!, count(own.positions));
    say(numbers.get("Left out")!, count(own.left_out ?? 0));
    const pending = own.pending ?? [];
    pendingSection.hidden = pending.length === 0;
    keyed(
      pendingBody,
      known,
      pending,
      (owed) => `${owed.since} ${owed.owed}`,
      (owed) => el("li", {}, el("span", { class: "due" }), el("code", { class: "formula" }, owed.owed), el("span", { class: "quiet" }, owed.line === null ? `since position ${count(owed.since)}` : `since line ${count(owed.line)}`)),
      (item, owed) => {
        const when = due(owed, store.now);
        say(item.firstElementChild!, when.text);
        item.firstElementChild!.classList.toggle("late", when.late);
      },
    );
    const more = (own.pending_count ?? 0) - pending.length;
    say(pendingMore, more > 0 ? `and ${counted(more, "more")}`.replace("mores", "more") : "");
    if (own.kind === "query") {
      valueSection.hidden = false;
      const whose = own.value?.bindings ? `, the last told: ${boundText(own.value.bindings)}` : "";
      say(valueNow, `${own.value?.error ?? value(own.value?.value)}${whose}`);
      const past = store.values.get(keyOf(own)) ?? [];
      const start = Math.floor(store.now) - past.length + 1;
      values.set(past.map((_, index) => start + index), past, true);
    }
  }

  function overTime(): void {
    begun = true;
    const found = chosen.items;
    const times = found.map((one) => seconds(one.time));
    const dates = times.length > 0 && times.every((time) => time !== null);
    const numbers = !dates && found.length > 0 && found.every((one) => typeof one.time === "number");
    const at = (index: number) => (dates ? times[index]! : numbers ? (found[index]!.time as number) : found[index]!.position);
    let [low, high] = [Infinity, -Infinity];
    found.forEach((_, index) => {
      const x = at(index);
      low = Math.min(low, x);
      high = Math.max(high, x);
    });
    if (found.length === 0) {
      over.set([], [], false);
      return;
    }
    // A bar is a second at least, or a position.
    const bins = Math.max(2, Math.min(60, dates || !numbers ? Math.ceil(high - low) + 1 : 60));
    const width = Math.max((high - low) / (bins - 1), 1e-9);
    const sums = new Array<number>(bins).fill(0);
    found.forEach((one, index) => (sums[Math.min(bins - 1, Math.floor((at(index) - low) / width))]! += one.count ?? 1));
    over.set(sums.map((_, index) => low + (index + 0.5) * width), sums, dates);
  }

  /** What takes a look at the log is asked for now and then, and no more where there is none. */
  async function look(own: Property): Promise<void> {
    const asked = query({ stream: own.stream, spec: own.spec, property: own.property });
    if (wantsRobust && own.kind === "property") {
      try {
        const found = await json<Robustness>(`/v1/robustness?${asked}`);
        const finite = found.values.map((one) => (typeof one === "number" ? one : null));
        robustSection.hidden = !finite.some((one) => one !== null);
        const times = found.times.map((time) => seconds(time));
        const dates = times.length > 0 && times.every((time) => time !== null);
        robust.set(dates ? (times as number[]) : found.positions, finite, dates);
      } catch (error) {
        wantsRobust = !(error instanceof Refused);
      }
    }
    if (wantsClasses && own.kind === "property" && own.state === "violated") {
      wantsClasses = false;
      try {
        const { classes } = await json<ClassesFound>(`/v1/classes?${asked}`);
        classesSection.hidden = classes.length === 0;
        const row = (one: ClassesFound["classes"][number]) =>
          el(
            "tr",
            {},
            el("td", {}, one.verdict),
            el("td", { class: "number" }, count(one.traces)),
            el("td", {}, el("code", { class: "formula" }, one.hologram), el("div", { class: "quiet" }, one.why)),
            el("td", {}, one.examples.slice(0, 3).join(", ")),
          );
        const head = ["Verdict", "Traces", "What it looks like", "For example"].map((name, index) => el("th", { scope: "col", class: index === 1 ? "number" : undefined }, name));
        fill(classesBody, el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...classes.map(row))));
      } catch {
        classesSection.hidden = true;
      }
    }
  }

  const go = (hash: string): boolean => {
    const next = read(hash);
    if (next.at !== "property" || keyOf(next) !== keyOf(place)) return false;
    place = next;
    shown = null;
    update();
    return true;
  };
  return { node, title: place.property, update, go };
}
