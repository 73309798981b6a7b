//! Long files: what a line costs does not depend on how many there are. Squared, these would take minutes.

use tw_import::{Options, format_named, import};

#[test]
fn long_files_are_read_line_by_line() {
    const LINES: usize = 100_000;
    let many = |line: &dyn Fn(usize) -> String| (0..LINES).map(line).collect::<String>();
    for (format, text) in [
        ("mltl", many(&|_| "G[0,5] (a0 -> F[0,3] a1)\n".into())),
        ("breach", many(&|i| format!("phi{i} := alw_[0,5](x[t] > {i})\n"))),
        ("dejavu", many(&|i| format!("pred m{i}(x) = P a(x)\nprop p{i} : forall x . a(x) -> m{i}(x)\n"))),
        ("monpoly", format!("{}TRUE", many(&|i| format!("p(x{i})\n AND ")))),
        ("c2po", format!("INPUT\n  a: bool;\nFTSPEC\n{}", many(&|i| format!("  p{i}: G[0,5] a;\n")))),
    ] {
        let read = import("long", &text, format_named(format).expect(format), &Options::default());
        assert!(read.diagnostics.is_empty(), "{format}: {:?}", read.diagnostics.first());
        assert!(read.value.split_whitespace().count() >= LINES, "{format}");
    }
}
