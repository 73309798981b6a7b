// Specifications: which there are, and the editor, which is loaded when one is opened.

import { streamsOf, takes } from "../about";
import { Refused, ask, diagnostics, json, query, type Diagnostic, type Property, type Violation } from "../api";
import type { Editor, Words } from "../editor";
import { el, fill, say } from "../dom";
import { count, counted, stamp, value } from "../format";
import { type View, badge, logLine } from "../parts";
import { to } from "../routes";
import type { Store } from "../store";

const DRAFT = `trace { stream: web; time: ts; }

property answered "every request is answered within 5 s" : G (req -> F[0,5] ack);
`;

interface Tried {
  from: number;
  to: number;
  whole: boolean;
  stopped?: string;
  properties: (Pick<Property, "property" | "kind" | "state" | "stopped" | "violations" | "value" | "pending_count"> & { last?: Violation | null })[];
  violations: Violation[];
}

export function specsView(store: Store, spec: string | undefined): View {
  return spec === undefined ? listView() : editorView(store, spec);
}

function listView(): View {
  const list = el("ul", { class: "specs" });
  const said = el("p", { class: "bad", role: "status" });
  const name = el("input", { type: "text", "aria-label": "Name of a new specification", placeholder: "new-specification", autocomplete: "off", spellcheck: "false" });
  const form = el(
    "form",
    {
      class: "bar",
      onsubmit: (event) => {
        event.preventDefault();
        const wanted = name.value.trim();
        if (/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$/.test(wanted)) location.hash = to.spec(wanted);
        else say(said, "A name has letters, digits, “-”, “_” or “.”, at most 100, and does not begin with “.”.");
      },
    },
    name,
    el("button", { type: "submit" }, "New"),
  );
  const node = el("div", { class: "view" }, el("div", { class: "bar" }, el("h1", { tabindex: "-1" }, "Specifications"), el("span", { class: "push" }), form), said, list);
  json<{ specs: { spec: string; streams: string[] | null }[] }>("/v1/specs").then(
    ({ specs }) => {
      const row = (own: (typeof specs)[number]) => el("li", {}, el("a", { class: "name", href: to.spec(own.spec) }, own.spec), " ", el("span", { class: "quiet" }, own.streams ? `for ${own.streams.join(", ")}` : "for every stream"));
      fill(list, ...specs.map(row), specs.length === 0 && el("li", { class: "quiet" }, "None yet."));
    },
    (error: Error) => say(said, error.message),
  );
  return { node, title: "Specifications", update: () => {} };
}

function editorView(store: Store, spec: string): View {
  const place = el("div", { class: "editor" });
  const found = el("ol", { class: "findings", "aria-label": "Findings" });
  const said = el("p", { class: "said", role: "status" });
  const tried = el("div", { class: "tried", role: "status" });
  const streams = el("select", { "aria-label": "Stream whose past it is tried on", onchange: () => (picked = streams.value) });
  /** The streams that the text names, and the one that was chosen in place of them. */
  let named: string[] | null = null;
  let picked: string | null = null;
  let edited = true;
  const words = new Map<string, Promise<Words>>();
  let editor: Editor | null = null;
  let saved: string | null = null;
  let closed = false;
  const draft = `tracewise-draft ${spec}`;

  const save = async () => {
    if (!editor) return;
    const text = editor.text();
    said.className = "said";
    say(said, "Saving …");
    try {
      const answer = await json<{ streams: string[]; diagnostics: unknown[] }>(`/v1/specs/${encodeURIComponent(spec)}`, { method: "PUT", body: text, headers: { "content-type": "text/plain; charset=utf-8" } });
      saved = text;
      said.className = "said good";
      say(said, answer.streams.length > 0 ? `Saved; it watches ${answer.streams.join(", ")} from now on.` : "Saved; no stream is there yet that it is about.");
      showFindings(diagnostics(answer.diagnostics));
      void store.refresh().catch(() => {});
    } catch (error) {
      said.className = "said bad";
      say(said, `Not saved: ${(error as Error).message}`);
      if (error instanceof Refused && error.diagnostics.length > 0) showFindings(error.diagnostics);
    }
  };
  const attempt = async () => {
    if (!editor) return;
    follow();
    if (!streams.value) return fill(tried, el("p", { class: "quiet" }, "No stream is there yet that it is about."));
    fill(tried, el("p", { class: "quiet" }, "Reading the past …"));
    try {
      const stream = streams.value;
      const path = `/v1/specs/${encodeURIComponent(spec)}/try?${query({ stream })}`;
      const answer = await json<{ streams: Tried[] }>(path, { method: "POST", body: editor.text(), headers: { "content-type": "text/plain; charset=utf-8" } });
      if (answer.streams[0]) showTried(stream, answer.streams[0]);
      else fill(tried, el("p", { class: "quiet" }, "That stream has no lines yet."));
    } catch (error) {
      fill(tried, el("p", { class: "bad" }, (error as Error).message));
      if (error instanceof Refused && error.diagnostics.length > 0) showFindings(error.diagnostics);
    }
  };
  const remove = async () => {
    if (!confirm(`Remove the specification ${spec}? What it found stays.`)) return;
    try {
      await ask(`/v1/specs/${encodeURIComponent(spec)}`, { method: "DELETE" });
      saved = editor?.text() ?? null;
      location.hash = to.specs;
    } catch (error) {
      say(said, (error as Error).message);
    }
  };
  const node = el(
    "div",
    { class: "view spec" },
    el(
      "div",
      { class: "bar" },
      el("h1", { tabindex: "-1" }, spec),
      el("span", { class: "push" }),
      el("button", { type: "button", class: "first", "aria-keyshortcuts": "Control+S", title: "Ctrl-S", onclick: () => void save() }, "Save"),
      streams,
      el("button", { type: "button", onclick: () => void attempt() }, "Try on the past"),
      el("button", { type: "button", class: "danger", onclick: () => void remove() }, "Remove"),
    ),
    place,
    said,
    found,
    tried,
  );

  function showFindings(all: Diagnostic[]): void {
    const row = (one: Diagnostic) => {
      const where = one.line === null ? "" : `${one.line}:${one.column ?? 1} `;
      const go = el("button", { type: "button", class: "finding", onclick: () => one.line !== null && editor?.go(one.line, one.column ?? 1) }, el("span", { class: `weight ${one.severity}` }, one.severity), " ", where, one.message);
      return el("li", {}, go, one.help ? el("p", { class: "quiet" }, one.help) : null);
    };
    fill(found, ...all.map(row));
  }

  function showTried(stream: string, answer: Tried): void {
    const part = answer.whole ? `all ${counted(answer.to - answer.from, "line")}` : counted(answer.to - answer.from, "line");
    const place = (one: Violation) => el("div", {}, el("span", { class: "quiet" }, `first at position ${count(one.position)}${one.time === null ? "" : `, ${stamp(one.time)}`}`), " ", one.line ? logLine(one.line) : null);
    const row = (own: Tried["properties"][number]) => {
      const first = answer.violations.find((one) => one.property === own.property) ?? own.last;
      const more = own.pending_count ? el("span", { class: "quiet" }, `${counted(own.pending_count, "open obligation")} at the end`) : null;
      return el(
        "tr",
        {},
        el("td", {}, own.kind === "query" ? el("span", { class: "state query" }, "value") : badge(own.state)),
        el("td", {}, el("span", { class: "name" }, own.property)),
        el("td", { class: "number" }, own.kind === "query" ? value(own.value?.value) : count(own.violations ?? 0)),
        el("td", {}, own.stopped ?? (first ? place(first) : more)),
      );
    };
    const head = ["State", "Property", "Violations", "The first"].map((name, index) => el("th", { scope: "col", class: index === 2 ? "number" : undefined }, name));
    fill(
      tried,
      el("h2", {}, `On ${part} of ${stream}`),
      answer.stopped ? el("p", { class: "bad" }, answer.stopped) : null,
      el("table", { class: "plain" }, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...answer.properties.map(row))),
    );
  }

  const load = async () => {
    // The editor weighs more than the rest of the page.
    const path = "./editor.js";
    const made = (await import(path)) as typeof import("../editor");
    let text = DRAFT;
    try {
      text = await (await ask(`/v1/specs/${encodeURIComponent(spec)}`)).text();
      saved = text;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
      say(said, "New: nothing is saved yet.");
    }
    if (closed) return;
    const kept = sessionStorage.getItem(draft);
    sessionStorage.removeItem(draft);
    if (kept !== null && kept !== text) say(said, "What was not saved when you left is here again.");
    editor = made.open(place, {
      text: kept ?? text,
      label: `Text of ${spec}`,
      save: () => void save(),
      check: async (text) => {
        const answer = await json<{ diagnostics: unknown[] }>(`/v1/check?${query({ spec })}`, { method: "POST", body: text, headers: { "content-type": "text/plain; charset=utf-8" } });
        const all = diagnostics(answer.diagnostics);
        showFindings(all);
        return all;
      },
      changed: () => {
        edited = true;
        // What was said of another text.
        if (said.className !== "said") {
          said.className = "said";
          say(said, "");
        }
        store.changed();
      },
      words: () => {
        follow();
        const stream = streams.value;
        let known = words.get(stream);
        if (!known) {
          known = json<Words>(`/v1/words?${query({ stream: stream || undefined })}`);
          words.set(stream, known);
          known.catch(() => words.delete(stream));
        }
        return known;
      },
    });
    follow();
  };
  load().catch((error: Error) => say(said, error.message));
  const warn = (event: BeforeUnloadEvent) => {
    if (editor && saved !== null && editor.text() !== saved) event.preventDefault();
  };
  addEventListener("beforeunload", warn);

  /** Goes to the stream that the text names; one that somebody chose stays until the text names others. */
  function follow(): void {
    if (editor && edited) {
      const now = streamsOf(editor.text());
      if (String(now) !== String(named)) [named, picked] = [now, null];
      edited = false;
    }
    const there = store.streams.map((own) => own.stream);
    const coming = (named ?? []).filter((name) => !name.includes("*") && !there.includes(name));
    const names = [...there, ...coming];
    const before = streams.value;
    if (names.join("\n") !== Array.from(streams.options, (own) => own.value).join("\n")) {
      fill(streams, ...names.map((name) => el("option", { value: name }, name)));
    }
    const fits = (name: string) => names.includes(name) && (name === picked || !named || named.some((own) => takes(own, name)));
    streams.value = [picked, before, ...names].find((name) => name && fits(name)) ?? "";
    streams.disabled = names.length === 0;
  }

  const close = () => {
    closed = true;
    // Who goes elsewhere on the page comes back to what was written.
    if (editor && editor.text() !== (saved ?? DRAFT)) sessionStorage.setItem(draft, editor.text());
    removeEventListener("beforeunload", warn);
    editor?.close();
  };
  return { node, title: spec, update: follow, close };
}
