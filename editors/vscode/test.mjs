// Checks the extension as far as that goes without an editor: its files are well-formed, and its grammar finds what it should in
// pieces of a specification.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const json = (name) => JSON.parse(readFileSync(join(here, name), "utf8"));
const about = json("package.json");
assert(about.main && about.contributes.languages[0].extensions.includes(".tw"));
json("language-configuration.json");
for (const [name, snippet] of Object.entries(json("snippets/tracewise.json"))) {
  assert(snippet.prefix && snippet.body.length, name);
}

// Every expression of the grammar is one, and of these words each has its scope.
const grammar = json("syntaxes/tracewise.tmLanguage.json");
const rules = [];
const collect = (rule) => {
  if (rule.match) rules.push([new RegExp(rule.match), rule]);
  for (const part of ["begin", "end"]) if (rule[part]) new RegExp(rule[part]);
  if (rule.begin) rules.push([new RegExp(rule.begin), rule]);
  (rule.patterns ?? []).filter((inner) => !inner.include).forEach(collect);
};
grammar.patterns.forEach(({ include }) => collect(grammar.repository[include.slice(1)]));
const scope = (text) => {
  const found = rules.map(([rule, own]) => [rule.exec(text), own]).filter(([hit]) => hit?.index === 0);
  return found[0]?.[1].name ?? found[0]?.[1].captures?.[1]?.name ?? found[0]?.[1].beginCaptures?.[1]?.name;
};
for (const [text, wanted] of [
  ["// note", "comment.line"], ["/* note */", "comment.block"], ['"text"', "string.quoted"], ["`a b`", "variable.other"],
  ["10ms", "constant.numeric"], ["1.5e3", "constant.numeric"], ["G (p)", "keyword.operator"], ["until q", "keyword.operator"],
  ["-> q", "keyword.operator"], ["forall x", "keyword.control"], ["true", "constant.language"], ["count[p]", "support.function"],
  ["property p : q", "keyword.other"], ["Gamma", undefined], ["counting", undefined],
]) {
  assert((scope(text) ?? "").startsWith(wanted ?? "") && (wanted || !scope(text)), `${text}: ${scope(text)}`);
}
console.log("the extension is well-formed");
