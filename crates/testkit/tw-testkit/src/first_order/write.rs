//! Random properties with quantifiers, as text.

use super::Class;
use super::log::EVENTS;
use crate::Rng;

struct Writer<'r> {
    rng: &'r mut Rng,
    class: Class,
    /// The variables in scope, innermost last.
    scope: Vec<String>,
    /// How many more variables may be bound: tables of the definition grow with each.
    left: usize,
}

/// A specification of one property. Every third declares an argument `int`.
pub(super) fn property(rng: &mut Rng, class: Class) -> String {
    let head = if rng.one_in(3) { "event p(k: int); " } else { "" };
    let mut writer = Writer { rng, class, scope: Vec::new(), left: 3 };
    let body = match class {
        Class::Guarded => writer.guarded(),
        _ => writer.free(),
    };
    format!("{head}property a : {body};")
}

impl Writer<'_> {
    /// `G forall x, y. atoms -> φ`, `forall x. G (…)`, or a closed formula.
    fn guarded(&mut self) -> String {
        let outer = self.rng.below(3);
        let names = self.bind_all(outer);
        let mut left: Vec<String> = names.iter().map(|name| self.atom_of(name)).collect();
        if self.rng.one_in(4) {
            left.push(self.leaf());
        }
        let body = self.formula(3);
        let body = if left.is_empty() { body } else { format!("({}) -> ({body})", left.join(" & ")) };
        let names = names.join(", ");
        match self.rng.below(3) {
            _ if outer == 0 => format!("G ({body})"),
            0 => format!("forall {names}. G ({body})"),
            1 => format!("forall {names}. ({body})"),
            _ => format!("G forall {names}. ({body})"),
        }
    }

    /// The same shapes without guards.
    fn free(&mut self) -> String {
        let outer = self.rng.below(3);
        let names = self.bind_all(outer);
        let mut body = self.formula(3);
        if self.class == Class::InAtoms {
            for name in &names {
                let atom = self.atom_of(name);
                body = format!("({body}) {} {atom}", self.rng.pick(&["&", "|", "->", "<->"]));
            }
        }
        let quantifier = self.rng.pick(&["forall", "forall", "exists"]);
        let names = names.join(", ");
        match self.rng.below(3) {
            _ if outer == 0 => format!("G ({body})"),
            0 => format!("{quantifier} {names}. G ({body})"),
            1 => format!("{quantifier} {names}. ({body})"),
            _ => format!("G {quantifier} {names}. ({body})"),
        }
    }

    /// A new variable, which now and then hides another or a column.
    fn bind(&mut self) -> String {
        self.left = self.left.saturating_sub(1);
        let fresh = self.rng.pick(&["x", "y", "z", "u", "v", "w"]);
        let name = if self.rng.one_in(12) { "c".to_owned() } else { fresh.to_owned() };
        self.scope.push(name.clone());
        name
    }

    /// So many new variables, each with a name of its own.
    fn bind_all(&mut self, count: usize) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        while names.len() < count {
            let name = self.bind();
            if names.contains(&name) {
                self.scope.pop();
            } else {
                names.push(name);
            }
        }
        names
    }

    /// An event pattern with this variable in it.
    fn atom_of(&mut self, name: &str) -> String {
        match self.rng.below(5) {
            0 => format!("p({name})"),
            1 => format!("q({name})"),
            2 => format!("r({name}, _)"),
            3 => format!("{name} == c_"),
            _ => {
                let other = self.argument();
                format!("r({other}, {name})")
            }
        }
        .replace("c_", "`c`")
    }

    /// A variable in scope, a constant or `_`.
    fn argument(&mut self) -> String {
        match self.rng.below(5) {
            0 => "_".to_owned(),
            1 => self.constant(),
            _ => self.variable(),
        }
    }

    fn constant(&mut self) -> String {
        self.rng.pick(&["0", "1", "2", "3", "2.5", "\"a\""]).to_owned()
    }

    /// A number, or a variable.
    fn variable(&mut self) -> String {
        match self.scope.len() {
            0 => self.rng.below(4).to_string(),
            some => self.scope[self.rng.below(some)].clone(),
        }
    }

    fn leaf(&mut self) -> String {
        let op = self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
        match self.rng.below(9) {
            0 => "e".to_owned(),
            1 => format!("`c` {op} {}", self.rng.below(4)),
            2 if !self.scope.is_empty() => format!("{} {op} {}", self.variable(), self.rng.below(4)),
            3 if !self.scope.is_empty() => format!("{} {op} {}", self.variable(), self.variable()),
            4 if !self.scope.is_empty() => {
                format!("{} {} `c`", self.variable(), self.rng.pick(&["==", "!=", "<"]))
            }
            // Arithmetic is exact where variables are guarded.
            5 if !self.scope.is_empty() && self.class == Class::Guarded => {
                format!("{} + {} {op} {}", self.variable(), self.rng.below(3), self.variable())
            }
            _ => {
                let (name, arity) = self.rng.pick(&EVENTS[..3]);
                let arguments: Vec<String> = (0..arity).map(|_| self.argument()).collect();
                // What may be declared `int` is compared with whole numbers alone.
                match (name, arguments.as_slice()) {
                    ("p", [argument]) if argument.contains(['.', '"']) => "p(1)".to_owned(),
                    _ => format!("{name}({})", arguments.join(", ")),
                }
            }
        }
    }

    fn formula(&mut self, depth: usize) -> String {
        if depth == 0 || self.rng.one_in(6) {
            return self.leaf();
        }
        let depth = depth - 1;
        match self.rng.below(12) {
            0 | 1 => format!("!({})", self.formula(depth)),
            2..=4 => {
                let op = self.rng.pick(&["&", "|", "->", "<->", "^"]);
                format!("({}) {op} ({})", self.formula(depth), self.formula(depth))
            }
            5 | 6 => {
                let op = self.rng.pick(&["X", "N", "F", "G", "Y", "Z", "O", "H"]);
                format!("{op}{} ({})", self.interval(), self.formula(depth))
            }
            7 | 8 => {
                let op = self.rng.pick(&["U", "W", "R", "M", "S", "B", "T"]);
                format!("({}) {op}{} ({})", self.formula(depth), self.interval(), self.formula(depth))
            }
            9 | 10 if self.left > 0 => self.quantified(depth),
            11 if self.left > 0 => self.tally(depth),
            _ => self.leaf(),
        }
    }

    fn interval(&mut self) -> &'static str {
        self.rng.pick(&["", "", "[0,2]", "[1,3]", "(0,2]", "[1,inf)", "[0,0]", "[2,4)"])
    }

    fn quantified(&mut self, depth: usize) -> String {
        let forall = self.rng.one_in(2);
        let word = if forall { "forall" } else { "exists" };
        let before = self.scope.len();
        let ranged = self.rng.one_in(6);
        let name = self.bind();
        let (body, atom) = (self.formula(depth), self.atom_of(&name));
        self.scope.truncate(before);
        match self.class {
            _ if ranged => format!("({word} {name} in l[*]. ({body}))"),
            Class::Guarded if forall => format!("({word} {name}. {atom} -> ({body}))"),
            Class::Guarded => format!("({word} {name}. {atom} & ({body}))"),
            Class::InAtoms => {
                let op = self.rng.pick(&["&", "|", "->", "U", "S"]);
                format!("({word} {name}. ({body}) {op} {atom})")
            }
            Class::Other => format!("({word} {name}. ({body}))"),
        }
    }

    /// An aggregate compared with a number, mostly of finitely many valuations.
    fn tally(&mut self, depth: usize) -> String {
        let before = self.scope.len();
        let count = 1 + self.rng.below(self.left.min(2));
        let names = self.bind_all(count);
        let atoms: Vec<String> = names.iter().map(|name| self.atom_of(name)).collect();
        let body = self.formula(depth);
        self.scope.truncate(before);
        let unguarded = self.class == Class::Other && self.rng.one_in(8);
        let body = if unguarded { body } else { format!("{} & ({body})", atoms.join(" & ")) };
        let value = &names[0];
        let names = names.join(", ");
        let tally = match self.rng.below(6) {
            0 => format!("sum({value} for {names} : {body})"),
            1 => format!("min({value} for {names} : {body})"),
            2 => format!("max({value} * 2 for {names} : {body})"),
            3 => format!("avg({value} for {names} : {body})"),
            _ => format!("count({names} : {body})"),
        };
        let op = self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
        format!("({tally} {op} {})", self.rng.below(4))
    }
}
