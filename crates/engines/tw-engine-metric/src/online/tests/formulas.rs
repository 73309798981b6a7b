//! Random formulas as text.

use tw_testkit::Rng;

/// A random formula over a and b. Under a `bounded` one no operator looks for ever into the future.
pub(super) fn formula(rng: &mut Rng, depth: usize, bounded: bool, next: bool) -> String {
    if depth == 0 {
        return rng.pick(&["a", "b", "!a", "!b"]).into();
    }
    let timed = bounded || rng.one_in(2);
    let interval = match (timed, rng.below(5)) {
        (false, _) => "",
        (_, 0) => "[0,0]",
        (_, 1) => "[0,2]",
        (_, 2) => "[1,2]",
        (_, 3) => "(0,3)",
        _ => "[2,4]",
    };
    let (kind, both) = (rng.below(if next { 8 } else { 6 }), rng.one_in(2));
    let bounded = bounded || (timed && kind != 0);
    let a = formula(rng, depth - 1, bounded, next);
    let smaller = rng.below(depth);
    let b = formula(rng, smaller, bounded, next);
    let op = match kind {
        0 => return format!("({a} {} {b})", rng.pick(&["&", "|", "->", "^"])),
        1 | 2 if both => rng.pick(&["U", "W", "R", "M"]),
        1 | 2 => return format!("{}{interval} ({a})", rng.pick(&["F", "G"])),
        3 if both => rng.pick(&["S", "B", "T"]),
        3 => return format!("{}{interval} ({a})", rng.pick(&["O", "H", "Y", "Z"])),
        6 | 7 => return format!("{}{interval} ({a})", rng.pick(&["X", "N"])),
        _ => return format!("({a} {} {b})", rng.pick(&["&", "|"])),
    };
    format!("({a} {op}{interval} {b})")
}

/// A random formula with unbounded operators under bounded ones.
pub(super) fn nested(rng: &mut Rng) -> String {
    let part = |rng: &mut Rng| rng.pick(&["a", "b", "!a", "!b", "a & b", "a -> b", "O[1,2] a", "a S b"]);
    let (p, q, r, s) = (part(rng), part(rng), part(rng), part(rng));
    let inner = match rng.below(8) {
        0 => format!("F ({p})"),
        1 => format!("G ({p})"),
        2 => format!("(({p}) U ({q}))"),
        3 => format!("(({p}) R ({q}))"),
        4 => format!("F G ({p})"),
        5 => format!("(({p}) U (({q}) & F ({r})))"),
        6 => format!("(({p}) S F ({q}))"),
        _ => format!("(({p}) U[2,inf) ({q}))"),
    };
    let inner = match rng.below(3) {
        0 => inner,
        1 => format!("({inner} & ({s}))"),
        _ => format!("(({s}) -> {inner})"),
    };
    let interval = rng.pick(&["[0,2]", "[1,2]", "(0,3)", "[2,4]", "[0,0]", "[0,6]"]);
    let outer = match rng.below(6) {
        0 => format!("F{interval} {inner}"),
        1 => format!("G{interval} {inner}"),
        2 => format!("(({r}) U{interval} {inner})"),
        3 => format!("({inner} U{interval} ({r}))"),
        4 => format!("O{interval} {inner}"),
        _ => format!("({inner} S{interval} ({r}))"),
    };
    match rng.below(4) {
        0 => outer,
        1 => format!("G (({s}) -> {outer})"),
        2 => format!("F (({s}) & {outer})"),
        _ => format!("G[0,3] {outer}"),
    }
}
