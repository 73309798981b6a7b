/// <reference types="tree-sitter-cli/dsl" />
// The specification language, as far as colours, folding and moving about need it. The words are those of `words.json`, which a
// test of the command makes from the language's tables.

const words = require("./words.json");

const TIGHT = {
  default: 1, emit: 2, iff: 3, implies: 4, xor: 5, or: 6, and: 7, until: 8,
  prefix: 9, compare: 10, sum: 11, product: 12, unary: 13, index: 14, named: 20,
};

const list = (item) => seq(item, repeat(seq(",", item)));
const UNITS = ["ns", "us", "ms", "s", "m", "h", "d"];
const UNTIL = ["U", "W", "R", "M", "S", "B", "T", "until", "weak_until", "release", "since", "back_to"];

module.exports = grammar({
  name: "tracewise",
  word: ($) => $.identifier,
  extras: ($) => [/\s/, /\uFEFF/, $.comment],
  inline: ($) => [$._name],
  supertypes: ($) => [$._declaration, $._expression],

  rules: {
    source_file: ($) => repeat(choice($._declaration, ";")),
    // In files of charts comments begin with `#` too.
    comment: (_) => token(choice(/(\/\/|#)[^\n]*/, /\/\*[^*]*\*+([^/*][^*]*\*+)*\//)),
    identifier: (_) => /[\p{L}_][\p{L}\p{N}_]*/,
    quoted: (_) => token(seq("`", repeat(choice(/[^`\n]/, "``")), "`")),
    string: (_) => token(seq('"', repeat(choice(/[^"\\\n]/, /\\[^\n]/)), '"')),
    number: (_) => /\d+(\.\d+)?([eE][+-]?\d+)?(ns|us|ms|s|m|h|d)?/,
    unit: (_) => choice(...UNITS),
    _name: ($) => choice($.identifier, $.quoted),
    type: (_) => choice(...words.types, /[a-z0-9]+/),
    title: ($) => $.string,

    _declaration: ($) =>
      choice(
        $.var, $.event, $.let, $.property, $.query, $.require, $.trigger, $.stream, $.observe, $.after,
        $.monitor, $.chart, $.trace,
      ),
    var: ($) => seq("var", field("name", $.path), ":", $.type, ";"),
    event: ($) =>
      seq("event", field("name", $._name), optional($.fields), optional(seq("=", $.path, field("template", $.string))), ";"),
    fields: ($) => seq("(", optional(seq(list($.field), optional(","))), ")"),
    field: ($) => seq($._name, optional(seq(":", $.type))),
    let: ($) => seq("let", field("name", $._name), optional($.parameters), "=", field("body", $._expression), ";"),
    parameters: ($) => seq("(", optional(list($._name)), ")"),
    property: ($) => seq("property", field("name", $._name), optional($.title), ":", field("body", $._expression), ";"),
    trigger: ($) => seq("trigger", field("name", $._name), optional($.title), ":", field("body", $._expression), ";"),
    query: ($) =>
      seq("query", field("name", $._name), optional($.title), ":", field("body", $._expression), optional($.division), ";"),
    require: ($) =>
      seq("require", field("name", $._name), optional($.title), ":", field("body", $._expression), optional($.division), ";"),
    stream: ($) =>
      seq("stream", field("name", $._name), ":", $.type, "=", field("body", $._expression), optional($.division), ";"),
    observe: ($) => seq("observe", list($._name), ";"),
    division: ($) => choice(seq("by", $.path, optional($.every)), seq($.every, optional(seq("by", $.path)))),
    every: ($) => seq("every", $._length),
    _length: ($) => seq($.number, optional($.unit)),

    trace: ($) => seq("trace", "{", repeat($.setting), "}"),
    setting: ($) => seq(field("name", $._dashed), ":", choice($.string, seq($.path, repeat(seq("-", $._name)))), ";"),
    _dashed: ($) => prec.right(seq($._name, repeat(seq("-", $._name)))),

    // In files of charts the `;` may be left out.
    after: ($) => prec.right(seq("after", $.part, ":", list($.part), optional(";"))),
    part: ($) => seq(field("chart", $._name), ".", choice("pre", "main")),
    chart: ($) => seq("chart", field("name", $._name), optional($.title), repeat1($.identifier), "{", repeat($.body), "}"),
    body: ($) => seq(choice("pre", "main"), "{", repeat(choice($.message, $.coregion, ";")), "}"),
    coregion: ($) => seq("coregion", "{", repeat(choice($.message, ";")), "}"),
    message: ($) =>
      seq(field("from", $._joined), "->", field("to", $._joined), ":", field("name", $._joined), optional(seq("[", $.identifier, "only", "]"))),

    // Words that stand together with points, hyphens or slashes.
    _joined: ($) => choice($._name, $.string, alias(token(/[\p{L}\p{N}_]+([.\/-][\p{L}\p{N}_]+)+/), $.identifier)),

    monitor: ($) =>
      seq(
        "monitor", field("name", $._name), optional($.parameters), optional($.title),
        repeat(choice("error", "warning", "suggestion", "strict", "equal")), "{", repeat(choice($._line, ";")), "}",
      ),
    _line: ($) => choice($.monitor_event, $.end, $.where, $.ere, $.fsm, $.ltl, $.on),
    monitor_event: ($) => seq(optional("creation"), "event", $._pattern, ";"),
    end: ($) => seq("end", $._pattern, ";"),
    _pattern: ($) =>
      seq(
        field("name", $._name), optional($.parameters),
        optional(seq("=", field("source", $._name), optional($.arguments))), optional(seq("when", $._expression)),
      ),
    where: ($) => seq("where", $._expression, ";"),
    ltl: ($) => seq("ltl", ":", $._expression, ";"),
    on: ($) => seq("on", field("category", $._name), optional($.string), ";"),
    ere: ($) => seq("ere", ":", $._ere, ";"),
    _ere: ($) =>
      choice(
        $._name,
        prec(3, seq("~", $._ere)),
        prec(4, seq($._ere, choice("*", "+", "?"))),
        prec.left(2, seq($._ere, $._ere)),
        prec.left(1, seq($._ere, choice("|", "&"), $._ere)),
        seq("(", $._ere, ")"),
      ),
    fsm: ($) => seq("fsm", ":", repeat1($.state), ";"),
    state: ($) => seq(field("name", $._name), "[", repeat(seq($._name, choice("->", "=>"), $._name, optional(","))), "]"),

    _expression: ($) =>
      choice(
        $.path, $.number, $.string, $.constant, $.wildcard, $.call, $.index, $.unary, $.binary, $.quantifier,
        $.conditional, $.parenthesised, $.event_use,
      ),
    constant: (_) => choice(...words.constants),
    wildcard: (_) => "_",
    path: ($) =>
      prec.right(seq($._name, repeat(choice(seq(token.immediate("."), $._name), token(/\[\s*\*\s*\]/))))),
    event_use: ($) => prec.right(seq("event", $._name, optional($.arguments))),
    parenthesised: ($) => seq("(", optional(list($._expression)), ")"),
    call: ($) => prec(TIGHT.index, seq(field("function", choice($._name, "first", "last")), $.arguments)),
    arguments: ($) => seq("(", optional(list($._argument)), ")"),
    _argument: ($) => choice($.named, $.collected, $._expression, $.window),
    named: ($) => prec(TIGHT.named, seq(field("label", $._name), ":", $._expression)),
    collected: ($) => seq($._expression, "for", list($.identifier), ":", $._expression),
    window: ($) => seq($._expression, "over", $._length),
    index: ($) =>
      prec(TIGHT.index, seq(
        field("function", choice($.path, $.call, $.constant)), "[",
        choice(
          seq(list($._expression), optional(seq("while", $._expression))),
          $.window,
          seq("+", $.number, "|", $._expression),
        ),
        "]",
      )),
    conditional: ($) => prec.right(TIGHT.sum, seq("if", $._expression, "then", $._expression, "else", $._expression)),
    quantifier: ($) =>
      prec.right(TIGHT.iff, seq(
        choice("forall", "exists"),
        // White space behind the dot that ends a path tells it from one inside.
        choice(seq(list($.identifier), "."), seq($.identifier, "in", $.path, alias(token(/\.\s/), "."))),
        $._expression,
      )),
    interval: ($) =>
      choice(
        seq("[", $._length, ",", choice($._length, "inf"), choice("]", ")")),
        seq("[", choice("<=", "<", ">=", ">", "="), $._length, "]"),
        token(prec(1, /\(\s*\d[\d.eE]*\s?[a-z]*\s*,\s*(\d[\d.eE]*\s?[a-z]*|inf)\s*[)\]]/)),
      ),
    map: ($) => seq("{", choice($._expression, $._function), "}"),
    _function: (_) => choice("+", "-", "*", "/"),
    unary: ($) =>
      choice(
        prec(TIGHT.prefix, seq(field("operator", choice(...words.prefix)), optional($.interval), optional($.map), $._expression)),
        prec(TIGHT.unary, seq(field("operator", "-"), $._expression)),
      ),
    binary: ($) => {
      const infix = (power, ...operators) =>
        prec.left(power, seq($._expression, field("operator", choice(...operators)), $._expression));
      const right = (power, ...operators) =>
        prec.right(power, seq($._expression, field("operator", choice(...operators)), $._expression));
      return choice(
        prec.left(TIGHT.default, seq($._expression, field("operator", "??"), $._expression)),
        prec.left(TIGHT.emit, seq($._expression, field("operator", ":"), $._expression)),
        infix(TIGHT.iff, "<->", "iff"),
        right(TIGHT.implies, "->", "=>", "implies"),
        infix(TIGHT.xor, "^", "++", "xor"),
        prec.left(TIGHT.or, seq($._expression, field("operator", choice("|", "||", "\\/", "or")), optional($.map), $._expression)),
        prec.left(TIGHT.and, seq($._expression, field("operator", choice("&", "&&", "/\\", "and")), optional($.map), $._expression)),
        prec.right(TIGHT.until, seq($._expression, field("operator", choice(...UNTIL)), optional($.interval), optional($.map), $._expression)),
        infix(TIGHT.compare, "==", "=", "!=", "<", "<=", ">", ">="),
        prec.left(TIGHT.compare, seq($._expression, field("operator", "in"), $.set)),
        prec.left(TIGHT.compare, seq($._expression, field("operator", "matches"), $.string)),
        infix(TIGHT.sum, "+", "-"),
        infix(TIGHT.product, "*", "/", "%"),
      );
    },
    set: ($) => seq("{", optional(list($._item)), "}"),
    _item: ($) => choice($._constant, seq($._constant, "..", $._constant)),
    _constant: ($) => choice($.string, $.constant, seq(optional("-"), $.number)),
  },
});
