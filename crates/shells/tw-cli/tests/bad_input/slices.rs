//! Properties, periods and manifests that a log cannot be sliced by.

use super::{Case, bad};

pub fn cases() -> Vec<Case> {
    let on = |name: &'static str, command: &str| {
        bad(name, format!("check {command} t.log")).file("t.log", "@1 p (1) q (2)\n@2\n@3 q (1)\n")
    };
    vec![
        on("slices-of-what-is-not-always", "-e 'F p' --slices 2"),
        on("slices-on-no-variable", "-e 'G forall x. p(x) -> F q(x)' --slices 2 --slice-on y"),
        on("slices-on-what-nothing-binds", "-e 'G forall x. q(x) | p(x)' --slices 2 --slice-on x"),
        on("slices-in-time-without-a-bound", "-e 'G forall x. p(x) -> F q(x)' --period 7d"),
        on("slices-of-no-length", "-e 'G forall x. p(x) -> F[0,3] q(x)' --period 0s"),
        on("slices-without-empty-positions", "-e 'G forall x. p(x) -> X q(x)' --slices 2 --filter-empty on"),
        on("slices-and-all-continuations", "-e 'G forall x. p(x) -> F q(x)' --slices 2 --semantics ltl3"),
        bad("slices-a-manifest-of-no-slices", "check -e 'G p' manifest.json")
            .file("manifest.json", "{\"tracewise\": \"slices\", \"version\": 1}"),
        bad("slices-a-manifest-without-its-files", "check -e 'G p' manifest.json").file(
            "manifest.json",
            "{\"tracewise\": \"slices\", \"version\": 1, \"slices\": [{\"file\": \"gone.log\"}]}",
        ),
        on("slices-of-equal-timestamps", "-e 'G forall x. p(x) -> F[0,3] q(x)' --slices 2 --collapse"),
        on("slices-to-split-without-a-number", "-e 'G p' --jobs 3"),
    ]
}
