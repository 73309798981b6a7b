// The editor of specifications: CodeMirror in a shadow root, where its styles are made by script and need no exception from the
// page's policy.

import { autocompletion, type CompletionContext, type CompletionResult, completionKeymap, snippetCompletion } from "@codemirror/autocomplete";
import { indentWithTab } from "@codemirror/commands";
import { HighlightStyle, type StreamParser, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic as Mark, linter } from "@codemirror/lint";
import { EditorState, type Text } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { tags } from "@lezer/highlight";
import type { Diagnostic } from "./api";
import { straight } from "./dom";

export interface Words {
  keywords: string[];
  operators: { word: string; about: string }[];
  patterns: { name: string; form: string; about: string }[];
  fields: { name: string; about: string }[];
}

export interface EditorOptions {
  text: string;
  label: string;
  save: () => void;
  /** The text is another now. */
  changed: () => void;
  check: (text: string) => Promise<Diagnostic[]>;
  words: () => Promise<Words>;
}

export interface Editor {
  text(): string;
  go(line: number, column: number): void;
  close(): void;
}

const DECLARATIONS = /^(?:property|query|let|trace|require|monitor|chart|after|stream|observe|trigger|const|events?|table)\b/;
const OPERATORS = /^(?:[XNFGUWRMYZOHSBT](?![A-Za-z0-9_])|forall|exists|count|sum|min|max|avg|median|first|last|in|matches|over|by|every|true|false|has)\b/;

const parser: StreamParser<{ block: boolean }> = {
  name: "tracewise",
  startState: () => ({ block: false }),
  token(stream, state) {
    if (state.block) {
      state.block = !stream.match(/^.*?\*\//);
      if (state.block) stream.skipToEnd();
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("/*")) {
      state.block = true;
      return "comment";
    }
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/^`[^`]*`?/)) return "variableName";
    if (stream.match(/^\d+(?:\.\d+)?(?:ns|us|ms|s|m|h|d)?\b/)) return "number";
    if (stream.match(DECLARATIONS)) return "keyword";
    if (stream.match(OPERATORS)) return "operatorKeyword";
    if (stream.match(/^[A-Za-z_][A-Za-z0-9_.]*/)) return "variableName";
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
};

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: tags.operatorKeyword, color: "var(--operator)", fontWeight: "600" },
  { tag: tags.string, color: "var(--text-string)" },
  { tag: tags.number, color: "var(--number)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--panel)", fontSize: "13.5px", border: "1px solid var(--line)", borderRadius: "4px" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", minHeight: "16rem", maxHeight: "60vh" },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "16rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--quiet)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--raised)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": { backgroundColor: "var(--selection) !important" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)", borderRadius: "4px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)" },
  ".cm-panels input, .cm-panels button": { color: "var(--ink)", background: "var(--panel)" },
  ".cm-matchingBracket, .cm-nonmatchingBracket": { backgroundColor: "var(--selection)" },
});

/**
 * Puts what is typed in place of what is selected. Chromium would style it like what it replaces, by an attribute that the page's
 * policy refuses.
 */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.inputType === "insertText" ? event.data : null;
    if (text === null || empty || view.composing || view.state.readOnly) return false;
    const insert = () => view.state.update({ ...view.state.replaceSelection(text), userEvent: "input.type", scrollIntoView: true });
    // Brackets are closed, quotes put around, as for everything that is typed.
    const taken = view.state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, text, insert));
    if (!taken) view.dispatch(insert());
    return true;
  },
});

/** The place of a line and column, both from 1, the column in characters; none lies outside the text. */
function place(text: Text, line: number, column: number): number {
  const own = text.line(Math.min(Math.max(1, line), text.lines));
  // Columns count characters, the editor halves of those beyond the first plane.
  const before = Array.from(own.text).slice(0, Math.max(0, column - 1)).join("").length;
  return Math.min(own.from + before, own.to);
}

function mark(text: Text, one: Diagnostic): Mark {
  const label = one.labels?.[0];
  const from = place(text, one.line ?? 1, one.column ?? 1);
  const to = label ? place(text, label.end_line, label.end_column) : from;
  const severity = one.severity === "error" ? "error" : one.severity === "warning" ? "warning" : "info";
  return { from, to: Math.max(to, from), severity, message: one.help ? `${one.message}\n${one.help}` : one.message, ...(one.code ? { source: one.code } : {}) };
}

/** Opens an editor in a place. */
export function open(parent: HTMLElement, options: EditorOptions): Editor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: "open" });
  const home = document.createElement("div");
  root.replaceChildren(home);
  const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.matchBefore(/[A-Za-z_][A-Za-z0-9_.]*/);
    if (!before && !context.explicit) return null;
    const known = await options.words();
    // Names that the text declares.
    const own = new Set(Array.from(context.state.doc.toString().matchAll(/\b(?:property|query|let|monitor|stream|chart)\s+([A-Za-z_]\w*)/g), (found) => found[1]!));
    const all = [
      ...known.fields.map((field) => ({ label: field.name, displayLabel: straight(field.name), detail: straight(field.about), type: "property", boost: 3 })),
      ...Array.from(own, (label) => ({ label, type: "variable", boost: 2 })),
      ...known.patterns.map((pattern) => snippetCompletion(holes(pattern.form), { label: pattern.name, detail: pattern.form, info: pattern.about, type: "function", boost: 1 })),
      ...known.operators.map((operator) => ({ label: operator.word, detail: operator.about, type: "keyword" })),
      ...known.keywords.map((label) => ({ label, type: "keyword" })),
    ];
    return { from: before?.from ?? context.pos, options: all, validFor: /^[\w.]*$/ };
  };
  const view = new EditorView({
    parent: home,
    root,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        keymap.of([{ key: "Mod-s", preventDefault: true, run: () => (options.save(), true) }]),
        basicSetup,
        keymap.of([...completionKeymap, indentWithTab]),
        StreamLanguage.define(parser),
        syntaxHighlighting(colours),
        look,
        typedOver,
        EditorView.updateListener.of((update) => update.docChanged && options.changed()),
        autocompletion({ override: [complete] }),
        linter(async (view) => (await options.check(view.state.doc.toString())).map((one) => mark(view.state.doc, one)), { delay: 350 }),
        EditorView.contentAttributes.of({ "aria-label": options.label, "aria-description": "Escape, then Tab, leaves the editor" }),
        EditorView.lineWrapping,
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    go: (line, column) => {
      const at = place(view.state.doc, line, column);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

/** `name(p, q)` as a text whose arguments are walked through with the tabulator. */
function holes(form: string): string {
  return form.replace(/\(([^()]*)\)/, (_, inner: string) => `(${inner.split(",").map((one) => `\${${one.trim().replace(/[{}]/g, "")}}`).join(", ")})`);
}
