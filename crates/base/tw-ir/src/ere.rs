//! Extended regular expressions over numbered events, hash-consed in a flat arena, with their derivatives.
//!
//! The derivative of a language by an event is what may follow that event in it; an expression has finitely many derivatives up
//! to *similarity* (associativity, commutativity and idempotence of `|` and `&`, neutral and absorbing elements), which is what
//! the constructors keep. So derivatives are the states of an automaton, also of `&` and `~`.

use rustc_hash::FxHashMap;

/// Index into [`Eres`]. Operands have smaller indices than what is made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EreId(pub u32);

impl EreId {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ere {
    /// No word.
    Empty,
    /// The empty word.
    Epsilon,
    /// One event.
    Event(u32),
    /// One after the other; the left one is no `Concat`.
    Concat(EreId, EreId),
    /// One of two or more, ascending.
    Or(Box<[EreId]>),
    /// All of two or more, ascending.
    And(Box<[EreId]>),
    /// Every other word.
    Not(EreId),
    /// Any number of times.
    Star(EreId),
}

/// An arena of expressions, similar ones once.
#[derive(Clone, Debug)]
pub struct Eres {
    nodes: Vec<Ere>,
    nullable: Vec<bool>,
    index: FxHashMap<Ere, EreId>,
    derived: FxHashMap<(EreId, u32), EreId>,
}

/// More expressions than the limit were needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge(pub usize);

impl Default for Eres {
    fn default() -> Self {
        let mut eres = Self {
            nodes: Vec::new(),
            nullable: Vec::new(),
            index: FxHashMap::default(),
            derived: FxHashMap::default(),
        };
        for node in [Ere::Empty, Ere::Epsilon, Ere::Not(Self::EMPTY)] {
            eres.intern(node);
        }
        eres
    }
}

impl Eres {
    /// No word.
    pub const EMPTY: EreId = EreId(0);
    /// The empty word.
    pub const EPSILON: EreId = EreId(1);
    /// Every word.
    pub const ALL: EreId = EreId(2);

    /// How many expressions there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// There are always some.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The expression with that index.
    pub fn node(&self, id: EreId) -> &Ere {
        &self.nodes[id.index()]
    }

    /// Whether the empty word is in the language.
    pub fn nullable(&self, id: EreId) -> bool {
        self.nullable[id.index()]
    }

    fn intern(&mut self, node: Ere) -> EreId {
        if let Some(&known) = self.index.get(&node) {
            return known;
        }
        let nullable = match &node {
            Ere::Empty | Ere::Event(_) => false,
            Ere::Epsilon | Ere::Star(_) => true,
            Ere::Concat(a, b) => self.nullable(*a) && self.nullable(*b),
            Ere::Or(parts) => parts.iter().any(|&part| self.nullable(part)),
            Ere::And(parts) => parts.iter().all(|&part| self.nullable(part)),
            Ere::Not(a) => !self.nullable(*a),
        };
        let id = EreId(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.nullable.push(nullable);
        self.index.insert(node, id);
        id
    }

    /// One event.
    pub fn event(&mut self, event: u32) -> EreId {
        self.intern(Ere::Event(event))
    }

    /// One after the other.
    pub fn concat(&mut self, a: EreId, b: EreId) -> EreId {
        if a == Self::EMPTY || b == Self::EMPTY {
            return Self::EMPTY;
        }
        // To the right, so that words have one shape; a loop, since expressions may be long.
        let (mut lefts, mut first) = (Vec::new(), a);
        while let Ere::Concat(left, rest) = self.node(first) {
            lefts.push(*left);
            first = *rest;
        }
        lefts.push(first);
        let mut whole = b;
        for left in lefts.into_iter().rev() {
            whole = match (left, whole) {
                (Self::EPSILON, other) | (other, Self::EPSILON) => other,
                (left, whole) => self.intern(Ere::Concat(left, whole)),
            };
        }
        whole
    }

    /// One or the other.
    pub fn or(&mut self, a: EreId, b: EreId) -> EreId {
        self.many(true, &[a, b])
    }

    /// Both.
    pub fn and(&mut self, a: EreId, b: EreId) -> EreId {
        self.many(false, &[a, b])
    }

    fn many(&mut self, or: bool, parts: &[EreId]) -> EreId {
        let (neutral, absorbing) = if or { (Self::EMPTY, Self::ALL) } else { (Self::ALL, Self::EMPTY) };
        let mut flat: Vec<EreId> = Vec::new();
        for &part in parts {
            match (self.node(part), or) {
                (Ere::Or(inner), true) | (Ere::And(inner), false) => flat.extend(inner.iter()),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat.retain(|&part| part != neutral);
        let opposed = |&part: &EreId| matches!(self.node(part), Ere::Not(a) if flat.binary_search(a).is_ok());
        if flat.contains(&absorbing) || flat.iter().any(opposed) {
            return absorbing;
        }
        match flat.as_slice() {
            [] => neutral,
            [one] => *one,
            _ if or => self.intern(Ere::Or(flat.into())),
            _ => self.intern(Ere::And(flat.into())),
        }
    }

    /// Every other word.
    pub fn not(&mut self, a: EreId) -> EreId {
        match self.node(a) {
            Ere::Not(inner) => *inner,
            _ => self.intern(Ere::Not(a)),
        }
    }

    /// Any number of times.
    pub fn star(&mut self, a: EreId) -> EreId {
        match self.node(a) {
            Ere::Empty | Ere::Epsilon => Self::EPSILON,
            Ere::Star(_) => a,
            _ => self.intern(Ere::Star(a)),
        }
    }

    /// What may follow the event. Linear in the expression; nothing recurses on its depth.
    pub fn derivative(&mut self, id: EreId, event: u32) -> EreId {
        let mut todo = vec![id];
        while let Some(&top) = todo.last() {
            if self.derived.contains_key(&(top, event)) {
                todo.pop();
                continue;
            }
            let children: Vec<EreId> = match self.node(top) {
                Ere::Empty | Ere::Epsilon | Ere::Event(_) => Vec::new(),
                // The right part matters where the left one may be nothing.
                Ere::Concat(a, b) if self.nullable(*a) => vec![*a, *b],
                Ere::Concat(a, _) | Ere::Not(a) | Ere::Star(a) => vec![*a],
                Ere::Or(parts) | Ere::And(parts) => parts.to_vec(),
            };
            let open = todo.len();
            todo.extend(children.iter().filter(|&&child| !self.derived.contains_key(&(child, event))));
            if todo.len() > open {
                continue;
            }
            let of: Vec<EreId> = children.iter().map(|&child| self.derived[&(child, event)]).collect();
            let found = match self.node(top).clone() {
                Ere::Empty | Ere::Epsilon => Self::EMPTY,
                Ere::Event(own) => {
                    if own == event {
                        Self::EPSILON
                    } else {
                        Self::EMPTY
                    }
                }
                Ere::Concat(_, b) => {
                    let left = self.concat(of[0], b);
                    match of.get(1) {
                        Some(&right) => self.or(left, right),
                        None => left,
                    }
                }
                Ere::Or(_) => self.many(true, &of),
                Ere::And(_) => self.many(false, &of),
                Ere::Not(_) => self.not(of[0]),
                Ere::Star(_) => self.concat(of[0], top),
            };
            self.derived.insert((top, event), found);
            todo.pop();
        }
        self.derived[&(id, event)]
    }

    /// The derivatives of an expression by all words over `events` events, itself first, and where each event leads from
    /// each. Gives up beyond `limit` of them, or as many expressions as ten times that.
    pub fn derivatives(
        &mut self,
        root: EreId,
        events: u32,
        limit: usize,
    ) -> Result<(Vec<EreId>, Vec<Vec<u32>>), TooLarge> {
        let mut states = vec![root];
        let mut number: FxHashMap<EreId, u32> = FxHashMap::from_iter([(root, 0)]);
        let mut moves: Vec<Vec<u32>> = Vec::new();
        while moves.len() < states.len() {
            let state = states[moves.len()];
            let mut row = Vec::with_capacity(events as usize);
            for event in 0..events {
                let next = self.derivative(state, event);
                row.push(*number.entry(next).or_insert_with(|| {
                    states.push(next);
                    (states.len() - 1) as u32
                }));
            }
            if states.len() > limit || self.len() > limit.saturating_mul(10) {
                return Err(TooLarge(limit));
            }
            moves.push(row);
        }
        Ok((states, moves))
    }

    /// Whether no word is in the language; `None` where finding out takes more than `limit` derivatives.
    pub fn is_empty_language(&self, root: EreId, events: u32, limit: usize) -> Option<bool> {
        let mut eres = self.clone();
        let (states, _) = eres.derivatives(root, events, limit).ok()?;
        Some(!states.iter().any(|&state| eres.nullable(state)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a word is in the language, by the definition of each operator.
    fn defined(eres: &Eres, id: EreId, word: &[u32]) -> bool {
        let splits = || (0..=word.len()).map(|at| word.split_at(at));
        match eres.node(id) {
            Ere::Empty => false,
            Ere::Epsilon => word.is_empty(),
            Ere::Event(event) => word == [*event],
            Ere::Concat(a, b) => splits().any(|(x, y)| defined(eres, *a, x) && defined(eres, *b, y)),
            Ere::Or(parts) => parts.iter().any(|&part| defined(eres, part, word)),
            Ere::And(parts) => parts.iter().all(|&part| defined(eres, part, word)),
            Ere::Not(a) => !defined(eres, *a, word),
            Ere::Star(a) => {
                word.is_empty() || splits().skip(1).any(|(x, y)| defined(eres, *a, x) && defined(eres, id, y))
            }
        }
    }

    /// A random expression over two events.
    fn random(eres: &mut Eres, seed: &mut u64, depth: u32) -> EreId {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let choice = *seed >> 33;
        if depth == 0 || choice.is_multiple_of(8) {
            return match choice % 5 {
                0 => Eres::EPSILON,
                other => eres.event(other as u32 % 2),
            };
        }
        let a = random(eres, seed, depth - 1);
        match choice % 8 {
            1 => eres.star(a),
            2 => eres.not(a),
            other => {
                let b = random(eres, seed, depth - 1);
                match other {
                    3 | 4 => eres.or(a, b),
                    5 => eres.and(a, b),
                    _ => eres.concat(a, b),
                }
            }
        }
    }

    #[test]
    fn derivatives_accept_the_words_of_the_definition() {
        let mut seed = 7;
        let mut words = 0;
        for case in 0..400 {
            let mut eres = Eres::default();
            let root = random(&mut eres, &mut seed, 4);
            let Ok((states, moves)) = eres.derivatives(root, 2, 500) else { continue };
            let mut some = false;
            for length in 0..6u32 {
                for bits in 0..1u32 << length {
                    let word: Vec<u32> = (0..length).map(|at| bits >> at & 1).collect();
                    let end = word.iter().fold(0, |state, &event| moves[state as usize][event as usize]);
                    let accepted = eres.nullable(states[end as usize]);
                    assert_eq!(accepted, defined(&eres, root, &word), "case {case}: {word:?}");
                    some |= accepted;
                    words += 1;
                }
            }
            if some {
                assert_eq!(eres.is_empty_language(root, 2, 500), Some(false), "case {case}");
            }
        }
        assert!(words > 20_000, "{words}");
    }

    #[test]
    fn similar_expressions_are_one() {
        let mut eres = Eres::default();
        let (a, b) = (eres.event(0), eres.event(1));
        let (ab, ba) = (eres.or(a, b), eres.or(b, a));
        assert_eq!(ab, ba);
        assert_eq!(eres.or(ab, a), ab);
        let left = eres.concat(ab, a);
        let left = eres.concat(left, b);
        let right = eres.concat(a, b);
        assert_eq!(left, eres.concat(ab, right));
        let (not, star) = (eres.not(a), eres.star(a));
        assert_eq!((eres.not(not), eres.star(star)), (a, star));
        assert_eq!((eres.and(a, not), eres.or(a, not)), (Eres::EMPTY, Eres::ALL));
        assert_eq!((eres.concat(a, Eres::EMPTY), eres.concat(Eres::EPSILON, a)), (Eres::EMPTY, a));
    }

    #[test]
    fn budgets_end_in_a_value() {
        let mut eres = Eres::default();
        let (a, b) = (eres.event(0), eres.event(1));
        let any = eres.or(a, b);
        let mut root = eres.star(any);
        root = eres.concat(root, a);
        // The tenth event from the end is a: 1024 states.
        for _ in 0..9 {
            root = eres.concat(root, any);
        }
        assert_eq!(eres.derivatives(root, 2, 500), Err(TooLarge(500)));
        assert_eq!(eres.is_empty_language(root, 2, 500), None);
    }
}
