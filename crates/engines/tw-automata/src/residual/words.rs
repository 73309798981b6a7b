//! Residuals in the user's words.
//!
//! The canonical form is for machines: `true ^ a ^ a & F b` is `a -> F b` to the person who wrote it. Temporal atoms
//! are printed as they were written, and the combination of few atoms as the shortest of three forms: a disjunction
//! of conjunctions, a conjunction of disjunctions (both irredundant, by the Minato–Morreale recursion on truth tables),
//! or the exclusive or itself.

use super::print::{AND, LIMIT, NAME, PREFIX, UNTIL, XOR, stands_alone};
use super::{Atom, AtomId, FormulaId, Syntax, Terms};
use tw_ir::{Program, display};

/// Truth tables have 2^6 = 64 rows.
const FEW: usize = 6;
const OR: u8 = 1;

/// The columns of a truth table: bit `r` of column `v` is bit `v` of `r`.
const COLUMNS: [u64; FEW] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// A conjunction: the atoms (by place) that must hold, and those that must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cube {
    holds: u8,
    fails: u8,
}

impl Terms {
    /// The formula as a user would say it.
    pub fn words(&self, formula: FormulaId, program: &Program) -> String {
        let mut monomials: Vec<Vec<u32>> = self.monomials(formula).into_iter().map(<[u32]>::to_vec).collect();
        let mut atoms: Vec<u32> = self.atoms_of(formula).iter().map(|atom| atom.0).collect();
        if formula.as_constant().is_some() {
            return self.print(formula, program, Syntax::Specification);
        }
        // What all conjunctions share comes first where there are too many atoms for a truth table.
        let mut factors = Vec::new();
        if atoms.len() > FEW {
            let shared = |atom: &u32| monomials.iter().all(|monomial| monomial.contains(atom));
            let (common, rest): (Vec<u32>, Vec<u32>) = atoms.iter().partition(|atom| shared(atom));
            monomials.iter_mut().for_each(|monomial| monomial.retain(|atom| !common.contains(atom)));
            factors = self.reading_order(&common);
            atoms = rest;
        }
        let mut out = String::new();
        for (place, factor) in factors.iter().enumerate() {
            if out.len() > LIMIT {
                return out + "…";
            }
            let (name, level) = self.own_words(*factor, program);
            out.push_str(if place > 0 { " & " } else { "" });
            out.push_str(&operand(name, level, AND + 1));
        }
        if atoms.is_empty() {
            return out;
        }
        let atoms = self.reading_order(&atoms);
        let (rest, level) = if atoms.len() <= FEW {
            self.few(&monomials, &atoms, program)
        } else {
            (self.many(&monomials, program), XOR)
        };
        if factors.is_empty() { rest } else { out + " & " + &operand(rest, level, AND) }
    }

    /// The exclusive or of conjunctions of few atoms in its shortest form, and how tightly that binds.
    fn few(&self, monomials: &[Vec<u32>], atoms: &[AtomId], program: &Program) -> (String, u8) {
        let table = table(monomials, atoms);
        let (sum, product) = (cover(table, table, FEW), cover(!table, !table, FEW));
        let literals = |cubes: &[Cube]| -> u32 {
            cubes.iter().map(|cube| cube.holds.count_ones() + cube.fails.count_ones()).sum()
        };
        let (in_sum, in_product) = (literals(&sum), literals(&product));
        let in_xor: usize = monomials.iter().map(|monomial| monomial.len().max(1)).sum();
        let names: Vec<(String, u8)> = atoms.iter().map(|&atom| self.own_words(atom, program)).collect();
        if (in_xor as u32) < in_sum.min(in_product) {
            let cubes: Vec<Cube> = monomials.iter().map(|monomial| cube(monomial, atoms)).collect();
            return (join(&cubes, &names, [" & ", " ^ "], [AND, XOR]), XOR);
        }
        if in_sum <= in_product {
            let level = if sum.len() > 1 { OR } else { AND };
            return (join(&sum, &names, [" & ", " | "], [AND, OR]), level);
        }
        // The negation of a sum of conjunctions: literals and operators change places.
        let negated: Vec<Cube> = product.iter().map(|c| Cube { holds: c.fails, fails: c.holds }).collect();
        let level = if negated.len() > 1 { AND } else { OR };
        (join(&negated, &names, [" | ", " & "], [OR, AND]), level)
    }

    /// The exclusive or of conjunctions of many atoms, as it stands.
    fn many(&self, monomials: &[Vec<u32>], program: &Program) -> String {
        let mut out = String::new();
        for (place, monomial) in monomials.iter().enumerate() {
            out.push_str(if place > 0 { " ^ " } else { "" });
            out.push_str(if monomial.is_empty() { "true" } else { "" });
            for (place, &atom) in self.reading_order(monomial).iter().enumerate() {
                if out.len() > LIMIT {
                    return out + "…";
                }
                let (name, level) = self.own_words(atom, program);
                out.push_str(if place > 0 { " & " } else { "" });
                out.push_str(&operand(name, level, AND + 1));
            }
        }
        out
    }

    /// An atom as it was written, and how tightly that binds.
    fn own_words(&self, atom: AtomId, program: &Program) -> (String, u8) {
        let node = self.origin(atom);
        let level = match self.atom(atom) {
            Atom::Temporal(_, left, _) => {
                if left.is_none() {
                    PREFIX
                } else {
                    UNTIL
                }
            }
            _ if stands_alone(program, node) => NAME,
            _ => XOR,
        };
        (display(program, node), level)
    }
}

/// In parentheses if it binds weaker than it must.
fn operand(text: String, level: u8, needed: u8) -> String {
    if level < needed { format!("({text})") } else { text }
}

fn table(monomials: &[Vec<u32>], atoms: &[AtomId]) -> u64 {
    let column = |atom: &u32| {
        let place = atoms.iter().position(|other| other.0 == *atom).unwrap_or(0);
        COLUMNS[place]
    };
    let conjunction = |monomial: &Vec<u32>| monomial.iter().map(column).fold(u64::MAX, |a, b| a & b);
    monomials.iter().map(conjunction).fold(0, |a, b| a ^ b)
}

fn cube(monomial: &[u32], atoms: &[AtomId]) -> Cube {
    let place = |atom: &AtomId| monomial.contains(&atom.0);
    let holds =
        atoms.iter().enumerate().filter(|(_, atom)| place(atom)).fold(0, |set, (at, _)| set | 1 << at);
    Cube { holds, fails: 0 }
}

/// An irredundant sum of conjunctions between two functions of the first `variables` atoms: true wherever `must` is,
/// false wherever `may` is not.
fn cover(must: u64, may: u64, variables: usize) -> Vec<Cube> {
    if must == 0 {
        return Vec::new();
    }
    if may == u64::MAX {
        return vec![Cube { holds: 0, fails: 0 }];
    }
    let Some(top) = (0..variables).rev().find(|&v| depends(must, v) || depends(may, v)) else {
        return vec![Cube { holds: 0, fails: 0 }];
    };
    let (must0, must1) = (cofactor(must, top, false), cofactor(must, top, true));
    let (may0, may1) = (cofactor(may, top, false), cofactor(may, top, true));
    let fails = cover(must0 & !may1, may0, top);
    let holds = cover(must1 & !may0, may1, top);
    let rest = must0 & !value(&fails) | must1 & !value(&holds);
    let either = cover(rest, may0 & may1, top);
    let with = |cubes: Vec<Cube>, holds: u8, fails: u8| {
        cubes.into_iter().map(move |c| Cube { holds: c.holds | holds, fails: c.fails | fails })
    };
    let bit = 1 << top;
    let mut cubes: Vec<Cube> = with(holds, bit, 0).chain(with(fails, 0, bit)).chain(either).collect();
    // In reading order: those with the first atoms first.
    cubes.sort_by_key(|cube| std::cmp::Reverse((cube.holds | cube.fails).reverse_bits()));
    cubes
}

fn depends(table: u64, variable: usize) -> bool {
    cofactor(table, variable, false) != cofactor(table, variable, true)
}

fn cofactor(table: u64, variable: usize, value: bool) -> u64 {
    let (column, shift) = (COLUMNS[variable], 1 << variable);
    if value {
        let half = table & column;
        half | half >> shift
    } else {
        let half = table & !column;
        half | half << shift
    }
}

fn value(cubes: &[Cube]) -> u64 {
    let one = |cube: &Cube| {
        (0..FEW).fold(u64::MAX, |table, v| {
            let table = if cube.holds >> v & 1 == 1 { table & COLUMNS[v] } else { table };
            if cube.fails >> v & 1 == 1 { table & !COLUMNS[v] } else { table }
        })
    };
    cubes.iter().map(one).fold(0, |a, b| a | b)
}

/// Literals joined by the inner operator, those joined by the outer one; `levels` are how tightly these bind.
fn join(cubes: &[Cube], names: &[(String, u8)], operators: [&str; 2], levels: [u8; 2]) -> String {
    let parts: Vec<String> = cubes
        .iter()
        .map(|cube| {
            let alone = cubes.len() == 1 && (cube.holds | cube.fails).count_ones() == 1;
            let mut literals = Vec::new();
            for (place, (name, level)) in names.iter().enumerate() {
                let needed = if alone { XOR } else { AND + 1 };
                if cube.holds >> place & 1 == 1 {
                    literals.push(if *level < needed { format!("({name})") } else { name.clone() });
                }
                if cube.fails >> place & 1 == 1 {
                    literals.push(if *level < PREFIX { format!("!({name})") } else { format!("!{name}") });
                }
            }
            let text = if literals.is_empty() { "true".to_owned() } else { literals.join(operators[0]) };
            if literals.len() > 1 && cubes.len() > 1 && levels[0] < levels[1] {
                format!("({text})")
            } else {
                text
            }
        })
        .collect();
    parts.join(operators[1])
}
