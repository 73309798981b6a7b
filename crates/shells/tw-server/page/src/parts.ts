// Parts that several views have: states, lines of a log, obligations, explanations.

import type { Line, Obligation, Property, Stamp, State, Step } from "./api";
import { draw, el } from "./dom";
import { bindings, count, length, seconds, stamp, value } from "./format";

/** What a view is: a node, brought up to date with each frame in which something changed. */
export interface View {
  node: HTMLElement;
  title: string;
  update(): void;
  /** The same view at another place, if it can go there; it is made anew otherwise. */
  go?(hash: string): boolean;
  close?(): void;
}

// Shapes differ, not only colours.
const SHAPES: Record<State, string> = {
  violated: "M4 4L12 12M12 4L4 12",
  satisfied: "M3 8.5L6.5 12L13 4.5",
  open: "M8 3A5 5 0 1 1 7.99 3Z",
  stopped: "M4.5 4V12M11.5 4V12",
};
export const WORDS: Record<State, string> = { violated: "violated", satisfied: "satisfied", open: "open", stopped: "stopped" };
export const STATES: readonly State[] = ["violated", "stopped", "open", "satisfied"];

/** A state as a sign and a word. */
export function badge(state: State): HTMLElement {
  const node = el("span", {});
  setBadge(node, state);
  return node;
}

export function setBadge(node: HTMLElement, state: State): void {
  if (node.dataset["state"] === state) return;
  node.dataset["state"] = state;
  node.className = `state ${state}`;
  const sign = draw("svg", { viewBox: "0 0 16 16", class: "sign", "aria-hidden": "true" });
  sign.append(draw("path", { d: SHAPES[state] }));
  node.replaceChildren(sign, WORDS[state]);
}

/** A line of a log. */
export function logLine(line: Line | null): HTMLElement {
  if (!line) return el("span", { class: "quiet" }, "no line of its own");
  return el("code", { class: "log" }, el("span", { class: "log-number", title: "line" }, count(line.line)), el("span", { class: "log-text" }, line.text));
}

/** Names and values. */
export function chips(values: Record<string, unknown>): HTMLElement | null {
  const entries = Object.entries(values);
  if (entries.length === 0) return null;
  return el("span", { class: "chips" }, ...entries.map(([name, bound]) => el("span", { class: "chip" }, el("b", {}, name), " ", value(bound))));
}

/** When something is due, as of a time. */
export function due(owed: Obligation, now: number): { text: string; late: boolean } {
  if (owed.deadline_position !== undefined) return { text: `by position ${count(owed.deadline_position)}`, late: false };
  if (owed.deadline === undefined || owed.deadline === null) return { text: "whenever", late: false };
  const at = seconds(owed.deadline);
  if (at === null) return { text: `by ${stamp(owed.deadline)}`, late: false };
  const left = at - now;
  // A log that is read later than it was written.
  if (Math.abs(left) > 86_400 * 2) return { text: `by ${stamp(owed.deadline)}`, late: false };
  return left >= 0 ? { text: `in ${length(left)}`, late: false } : { text: `${length(left)} ago`, late: true };
}

/** The obligation that is due first. */
export function mostUrgent(property: Property): Obligation | null {
  let first: Obligation | null = null;
  let least = Infinity;
  for (const owed of property.pending ?? []) {
    const at = owed.deadline_position ?? dueAt(owed.deadline ?? null);
    if (first === null || at < least) [first, least] = [owed, at];
  }
  return first;
}

function dueAt(deadline: Stamp): number {
  if (deadline === null) return Infinity;
  return typeof deadline === "number" ? deadline : (seconds(deadline) ?? Infinity);
}

/** Why something holds or fails, as a tree that is opened and closed. */
export function tree(step: Step, depth = 0): HTMLElement {
  const range = step.to > step.from ? `positions ${count(step.from)} to ${count(step.to)}` : `position ${count(step.from)}`;
  const at = step.time === null ? range : `${range}, ${stamp(step.time)}`;
  const said = [
    el("span", { class: `holds ${step.holds === null ? "open" : step.holds ? "satisfied" : "violated"}` }, step.holds === null ? "undecided" : step.holds ? "holds" : "fails"),
    " ",
    el("code", { class: "formula" }, step.formula),
    " ",
    el("span", { class: "quiet" }, `at ${at}`),
  ];
  const more = [
    step.reason ? el("p", { class: "reason" }, step.reason) : null,
    chips(step.values),
    step.line ? logLine(step.line) : null,
    step.pending_since !== null ? el("p", { class: "quiet" }, `pending since position ${count(step.pending_since)}`) : null,
  ];
  const children = step.because.length > 0 ? el("ul", { class: "because" }, ...step.because.map((child) => el("li", {}, tree(child, depth + 1)))) : null;
  if (!children) return el("div", { class: "step" }, el("div", { class: "step-head" }, ...said), ...more);
  return el("details", { class: "step", open: depth < 4 }, el("summary", { class: "step-head" }, ...said), ...more, children);
}

/** A section with a heading. */
export function section(heading: string, ...children: (Node | string | null)[]): HTMLElement {
  return el("section", { class: "panel" }, el("h2", {}, heading), ...children);
}

/** What is bound, in one line, or nothing. */
export const boundText = (bound: Record<string, unknown>) => bindings(bound);

/** A property's name with its sentence. */
export function named(own: { property: string; title?: string | undefined }): string {
  return own.title ? `${own.property}: ${own.title}` : own.property;
}
