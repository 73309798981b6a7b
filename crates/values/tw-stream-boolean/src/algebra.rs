//! Operations on specifications as recognisers: the language of a specification is the inputs that have a model.
//!
//! All constructions are those of the paper (its figures, with the corrections to their bounds), linear in size. Outputs are
//! renamed apart first; inputs of one name are one input. Complement is not among them: it needs determinisation.

use crate::{Builder, Flaw, Id, Named, Node, Specification};

/// Two specifications in one: all inputs by name, all outputs renamed apart.
struct Joined<'a> {
    build: Builder,
    sides: Vec<(&'a Specification, Vec<Named>)>,
}

/// Offsets beyond that are not written out position by position.
const FARTHEST: i32 = 1 << 12;

impl<'a> Joined<'a> {
    fn new(specs: &[&'a Specification]) -> Result<Self, Flaw> {
        let mut build = Builder::new();
        for name in specs.iter().flat_map(|spec| &spec.inputs) {
            if build.find(name).is_none() {
                build.input(name)?;
            }
        }
        let mut sides = Vec::new();
        for &spec in specs {
            let mut named = Vec::new();
            for name in &spec.inputs {
                named.push(build.find(name).ok_or_else(|| Flaw::Undefined(name.clone()))?);
            }
            for name in &spec.outputs {
                let name = build.fresh(name);
                named.push(build.output(&name)?);
            }
            sides.push((spec, named));
        }
        Ok(Joined { build, sides })
    }

    /// A new output.
    fn fresh(&mut self, name: &str) -> Result<Named, Flaw> {
        let name = self.build.fresh(name);
        self.build.output(&name)
    }

    /// The nth output of a side.
    fn output(&self, side: usize, output: usize) -> Named {
        let (spec, named) = &self.sides[side];
        named[spec.inputs.len() + output]
    }

    /// The equation of an output, with its references changed: `change` gets a reference, its offset and its default.
    fn equation(
        &mut self,
        side: usize,
        output: usize,
        mut change: impl FnMut(&mut Builder, Id, i32, bool) -> Result<Id, Flaw>,
    ) -> Result<Id, Flaw> {
        let (spec, named) = &self.sides[side];
        self.build.copy(spec, spec.equations[output], |build, node| match node {
            Node::Stream { stream, offset, default } => {
                let plain = build.at(named[stream as usize], offset.into(), default)?;
                if offset == 0 { Ok(plain) } else { change(build, plain, offset, default) }
            }
            Node::Outside(offset) => {
                let plain = build.constant_at(false, offset.into(), true)?;
                change(build, plain, offset, true)
            }
            _ => Ok(build.constant(false)),
        })
    }

    /// `if …[1|d] | … | …[k|d] then default else reference`: the reference does not reach over a mark.
    fn cut(
        build: &mut Builder,
        mark: (Named, bool, bool),
        plain: Id,
        offset: i32,
        default: bool,
    ) -> Result<Id, Flaw> {
        let (stream, beyond, negated) = mark;
        if offset.unsigned_abs() > FARTHEST as u32 {
            return Err(Flaw::Offset(offset.into()));
        }
        let mut marks = Vec::new();
        for nth in 1..=i64::from(offset.unsigned_abs()) {
            let there = build.at(stream, nth * i64::from(offset.signum()), beyond)?;
            marks.push(if negated { build.not(there) } else { there });
        }
        let over = build.any(marks);
        let default = build.constant(default);
        Ok(build.choose(over, default, plain))
    }
}

/// Inputs that both accept: all equations together.
pub fn intersect(a: &Specification, b: &Specification) -> Result<Specification, Flaw> {
    let mut joined = Joined::new(&[a, b])?;
    let all = [a, b].iter().all(|spec| spec.observed.iter().all(|&observed| observed));
    for (side, spec) in [a, b].into_iter().enumerate() {
        for output in 0..spec.outputs.len() {
            let root = joined.equation(side, output, |_, plain, _, _| Ok(plain))?;
            let named = joined.output(side, output);
            joined.build.define(named, root)?;
            if !all && spec.observed[output] {
                joined.build.observe(named)?;
            }
        }
    }
    joined.build.finish()
}

/// Inputs read from the end: every offset negated.
pub fn reverse(spec: &Specification) -> Result<Specification, Flaw> {
    let mut turned = spec.clone();
    for node in &mut turned.nodes {
        if let Node::Stream { offset, .. } | Node::Outside(offset) = node {
            *offset = -*offset;
        }
    }
    Ok(turned)
}

/// Inputs that one of the two accepts: a uniform stream says which.
pub fn union(a: &Specification, b: &Specification) -> Result<Specification, Flaw> {
    let mut joined = Joined::new(&[a, b])?;
    let check = joined.fresh("check")?;
    let main = joined.fresh("main")?;
    let mut both = Vec::new();
    for (side, spec) in [a, b].into_iter().enumerate() {
        let mut hold = Vec::new();
        for output in 0..spec.outputs.len() {
            let root = joined.equation(side, output, |_, plain, _, _| Ok(plain))?;
            let named = joined.output(side, output);
            let now = joined.build.now(named);
            joined.build.define(named, now)?;
            hold.push(joined.build.iff(now, root));
        }
        both.push(joined.build.all(hold));
    }
    let build = &mut joined.build;
    let (last, now, next) = (build.last(), build.now(check), build.at(check, 1, true)?);
    let same = build.iff(now, next);
    let uniform = build.or(last, same);
    build.demand(check, uniform)?;
    let first = build.implies(now, both[0]);
    let not = build.not(now);
    let second = build.implies(not, both[1]);
    let demand = build.and(first, second);
    build.demand(main, demand)?;
    joined.build.finish()
}

/// Inputs that are one or more words of the language, one after the other.
pub fn plus(spec: &Specification) -> Result<Specification, Flaw> {
    let mut joined = Joined::new(&[spec])?;
    let (begin, end) = (joined.fresh("wbegin")?, joined.fresh("wend")?);
    for output in 0..spec.outputs.len() {
        let root = joined.equation(0, output, |build, plain, offset, default| {
            let mark = if offset > 0 { begin } else { end };
            Joined::cut(build, (mark, true, false), plain, offset, default)
        })?;
        let named = joined.output(0, output);
        joined.build.define(named, root)?;
    }
    let build = &mut joined.build;
    for (mark, other, side) in [(begin, end, -1), (end, begin, 1)] {
        let edge = if side < 0 { build.first() } else { build.last() };
        let (now, beside) = (build.now(mark), build.at(other, side, true)?);
        let (at_edge, paired) = (build.implies(edge, now), build.implies(now, beside));
        let demand = build.and(at_edge, paired);
        build.demand(mark, demand)?;
    }
    joined.build.finish()
}

/// Inputs that are a word of the first followed by a word of the second.
pub fn concat(a: &Specification, b: &Specification) -> Result<Specification, Flaw> {
    let mut joined = Joined::new(&[a, b])?;
    let mark = joined.fresh("wmark")?;
    for (side, spec) in [a, b].into_iter().enumerate() {
        for output in 0..spec.outputs.len() {
            // The first word does not see what comes after it, nor the second what was before it.
            let root =
                joined.equation(side, output, |build, plain, offset, default| match (side, offset > 0) {
                    (0, true) => Joined::cut(build, (mark, false, true), plain, offset, default),
                    (1, false) => Joined::cut(build, (mark, true, false), plain, offset, default),
                    _ => Ok(plain),
                })?;
            let named = joined.output(side, output);
            let (now, inside) = (joined.build.now(named), joined.build.now(mark));
            let equation = match side {
                0 => joined.build.choose(inside, root, now),
                _ => joined.build.choose(inside, now, root),
            };
            joined.build.define(named, equation)?;
        }
    }
    let build = &mut joined.build;
    let (first, last, now) = (build.first(), build.last(), build.now(mark));
    let not = build.not(now);
    let (before, after) = (build.at(mark, -1, true)?, build.at(mark, 1, false)?);
    let after = build.not(after);
    let parts = [(first, now), (last, not), (now, before), (not, after)];
    let parts = parts.map(|(when, then)| build.implies(when, then));
    let demand = build.all(parts.to_vec());
    build.demand(mark, demand)?;
    joined.build.finish()
}
