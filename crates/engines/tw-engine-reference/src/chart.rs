//! Charts, by their definitions: windows of the projection, whole-trace conditions, and executions by deleting first
//! occurrences.

use tw_core::Position;
use tw_ir::chart::{Check, Condition, Matching, Reading};

/// What a trace comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Judged {
    /// The positions whose events settle a violation, ascending, each once.
    pub violations: Vec<Position>,
    /// Whether the end violates it.
    pub ended: bool,
    /// Whether that is because something is pending.
    pub pending: bool,
}

/// A chart on a word: the positions and numbers of its events, in their order.
pub(crate) fn judge(check: &Check, word: &[(Position, usize)]) -> Judged {
    let mut judged = match (check.iterate, check.reading) {
        (Some(matching), _) => iterated(check, matching, word),
        (None, Reading::Ltl) => one_shot(check, word),
        (None, Reading::Segment) => segment(check, word),
        (None, Reading::Precedes) => precedes(check, word),
    };
    judged.violations.sort_unstable();
    judged.violations.dedup();
    judged
}

/// Whether the events are distinct ones of that basic chart, each after those that precede it.
fn begins(check: &Check, main: bool, events: &[(Position, usize)]) -> bool {
    let own = if main { check.pre..check.events.len() } else { 0..check.pre };
    events.iter().enumerate().all(|(at, &(_, event))| {
        let earlier = |number: usize| events[..at].iter().any(|&(_, other)| other == number);
        let mut before =
            (0..own.len()).filter(|bit| own.contains(&event) && check.before[event] >> bit & 1 == 1);
        own.contains(&event) && !earlier(event) && before.all(|bit| earlier(own.start + bit))
    })
}

/// Whether the basic chart occurs as the window that ends before `end`.
fn occurs(check: &Check, main: bool, word: &[(Position, usize)], end: usize) -> bool {
    let len = if main { check.main() } else { check.pre };
    end >= len && begins(check, main, &word[end - len..end])
}

fn segment(check: &Check, word: &[(Position, usize)]) -> Judged {
    let mut judged = Judged::default();
    for end in 1..=word.len() {
        match check.condition {
            Condition::Necessary if occurs(check, false, word, end) => {
                let wanted = end + check.main();
                let wrong =
                    (end + 1..=wanted.min(word.len())).find(|&to| !begins(check, true, &word[end..to]));
                match wrong {
                    Some(wrong) => judged.violations.push(word[wrong - 1].0),
                    None if word.len() < wanted => (judged.ended, judged.pending) = (true, true),
                    None => {}
                }
            }
            Condition::Sufficient
                if occurs(check, true, word, end) && !occurs(check, false, word, end - check.main()) =>
            {
                judged.violations.push(word[end - 1].0);
            }
            _ => {}
        }
    }
    judged
}

fn precedes(check: &Check, word: &[(Position, usize)]) -> Judged {
    let mut judged = Judged::default();
    for end in 1..=word.len() {
        match check.condition {
            Condition::Necessary if occurs(check, false, word, end) => {
                let later = (end + check.main()..=word.len()).any(|to| occurs(check, true, word, to));
                judged.ended |= !later;
                judged.pending |= !later;
            }
            Condition::Sufficient
                if occurs(check, true, word, end)
                    && !(1..=end - check.main()).any(|to| occurs(check, false, word, to)) =>
            {
                judged.violations.push(word[end - 1].0);
            }
            _ => {}
        }
    }
    judged
}

/// ξ of the paper for the prechart, with χ, and for the main chart.
fn one_shot(check: &Check, word: &[(Position, usize)]) -> Judged {
    let side = |main: bool| {
        let own = |event: &usize| (*event >= check.pre) == main;
        word.iter().copied().filter(move |(_, event)| own(event)).collect::<Vec<_>>()
    };
    let (pre, main) = (side(false), side(true));
    let first_main = word.iter().position(|&(_, event)| event >= check.pre).unwrap_or(word.len());
    let last_pre = word.iter().rposition(|&(_, event)| event < check.pre);
    let before =
        pre.len() == check.pre && begins(check, false, &pre) && last_pre.is_none_or(|at| at < first_main);
    let after = main.len() == check.main() && begins(check, true, &main);
    match check.condition {
        Condition::Necessary => Judged {
            ended: before && !after,
            pending: before && !after && begins(check, true, &main),
            ..Judged::default()
        },
        Condition::Sufficient => Judged { ended: after && !before, ..Judged::default() },
    }
}

/// The published division of a trace: the first occurrences of all events, again and again. Places in the word.
fn divide(word: &[(Position, usize)], own: std::ops::Range<usize>) -> Vec<Vec<usize>> {
    let mut left: Vec<usize> = (0..word.len()).collect();
    let mut parts = Vec::new();
    loop {
        let first = |event: usize| left.iter().copied().find(|&at| word[at].1 == event);
        let Some(mut part) = own.clone().map(first).collect::<Option<Vec<usize>>>() else { return parts };
        left.retain(|at| !part.contains(at));
        part.sort_unstable();
        parts.push(part);
    }
}

fn iterated(check: &Check, matching: Matching, word: &[(Position, usize)]) -> Judged {
    let pre = divide(word, 0..check.pre);
    let main = divide(word, check.pre..check.events.len());
    let ordered = |side: bool, part: &[usize]| {
        let events: Vec<(Position, usize)> = part.iter().map(|&at| word[at]).collect();
        begins(check, side, &events)
    };
    let (first, last) = (|part: &Vec<usize>| part[0], |part: &Vec<usize>| part[part.len() - 1]);
    let mut judged = Judged::default();
    for (number, part) in main.iter().enumerate() {
        let led = pre.iter().filter(|pre| last(pre) < first(part)).count();
        let lacks = match matching {
            Matching::Paper => led == 0,
            Matching::Injective => led < number + 1,
        };
        if !ordered(true, part) || check.condition == Condition::Sufficient && lacks {
            judged.violations.push(word[last(part)].0);
        }
    }
    if check.condition == Condition::Sufficient {
        judged.ended = matching == Matching::Paper && main.len() > pre.len();
        judged.pending = judged.ended;
        return judged;
    }
    for (number, part) in pre.iter().enumerate() {
        let overlaps = number > 0 && last(&pre[number - 1]) >= first(part);
        if !ordered(false, part) || overlaps {
            judged.violations.push(word[last(part)].0);
        }
        let later = main.iter().filter(|main| first(main) > last(part)).count();
        let lacks = match matching {
            Matching::Paper => main.len() < pre.len() || later == 0,
            Matching::Injective => later < pre.len() - number,
        };
        judged.ended |= lacks;
        judged.pending |= lacks;
    }
    judged
}
