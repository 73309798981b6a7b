//! What the exit codes of each command say, for the page about the command line.

/// A command's name, and when it exits with 0, 1 and 3; nothing where it never does. 2 is the same for all: bad usage, or input
/// that cannot be read.
pub const EXITS: &[(&str, [&str; 3])] = &[
    (
        "check",
        [
            "all properties hold on all traces",
            "some property is violated",
            "nothing is violated, something is undecided",
        ],
    ),
    ("query", ["answered", "a requirement is violated", "a requirement is undecided"]),
    ("eval", ["answered", "", ""]),
    (
        "classify",
        [
            "nothing fails; with `--store`, in no new way",
            "a class is violated; with `--store`, a new one",
            "classes are only undecided",
        ],
    ),
    ("watch", ["all hold at the end", "something is violated", "not one position came"]),
    #[cfg(target_os = "linux")]
    (
        "record",
        [
            "that of the program",
            "that of the program; with `--fail` where it is 0, a rule is violated",
            "that of the program",
        ],
    ),
    ("serve", ["ended by INT or TERM", "", ""]),
    ("robust", ["answered", "with `--min`: a value is below it", ""]),
    ("stream", ["done; well-defined; yes", "not well-defined; no", "gave up"]),
    (
        "chart",
        ["all charts hold; printed", "some chart is violated", "nothing is violated, something is pending"],
    ),
    ("explain", ["explained", "", ""]),
    ("fmt", ["formatted", "with `--check`: some file is not in canonical form", ""]),
    ("lint", ["no errors", "with `--deny warnings`: there are warnings", ""]),
    ("lsp", ["the client left", "the client was gone, or left without saying so", ""]),
    ("generate", ["printed", "", ""]),
    ("import", ["read and printed", "", ""]),
    ("test", ["all expectations are met", "one is not", ""]),
    ("inspect", ["done", "", ""]),
    ("init", ["done", "", ""]),
    ("convert", ["written", "", ""]),
    ("slice", ["done", "", ""]),
    ("split", ["written", "", ""]),
    ("templates", ["done", "", ""]),
    ("simulate", ["written", "", ""]),
    ("merge", ["merged; all formulas that were given hold", "some formula does not hold", ""]),
    ("model-check", ["all formulas hold", "some formula does not hold", ""]),
    ("coverage", ["done", "", ""]),
    ("races", ["nothing found", "something found", "nothing found, and the search was not complete"]),
    ("schema", ["printed", "", ""]),
    ("completions", ["printed", "", ""]),
    ("man", ["written", "", ""]),
];
