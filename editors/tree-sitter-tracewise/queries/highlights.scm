(comment) @comment
(string) @string
(number) @number
(unit) @number
(interval) @number
(constant) @constant.builtin
(type) @type
(quoted) @variable
(wildcard) @variable.builtin

(unary operator: _ @operator)
(binary operator: _ @operator)

["var" "event" "let" "property" "query" "require" "trigger" "stream" "observe" "after" "monitor" "chart" "trace"] @keyword
["by" "every" "creation" "end" "where" "when" "ere" "fsm" "ltl" "on" "pre" "main" "coregion"] @keyword
["forall" "exists" "if" "then" "else" "while" "over" "for"] @keyword

(property name: (_) @function)
(query name: (_) @function)
(require name: (_) @function)
(trigger name: (_) @function)
(let name: (_) @function)
(event name: (_) @function)
(stream name: (_) @variable)
(monitor name: (_) @type)
(chart name: (_) @type)
(setting name: (_) @property)
(state name: (_) @constant)
(call function: (_) @function.call)
(index function: (_) @function.call)
(named label: (_) @property)
(message name: (_) @function)
(parameters (identifier) @variable.parameter)
(fields (field (identifier) @variable.parameter))
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
[";" "," ":"] @punctuation.delimiter
