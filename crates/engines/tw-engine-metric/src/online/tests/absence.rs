//! What is missing is told at its deadline, never before: random cuts of the stream with heartbeats between events, each
//! continued in many ways.

use super::earliness::{Word, columns, continuations};
use super::formulas::{formula, nested};
use super::{is_due, options, program};
use crate::online::{Each, Online};
use tw_ir::{Clock, Program, Semantics};
use tw_monitor::EvaluateOptions;
use tw_testkit::{Rng, cases};

/// A stream that is cut now and then.
struct Stream<'p> {
    text: &'p str,
    program: &'p Program,
    options: EvaluateOptions,
    online: Online,
    word: Word,
    /// All later positions are after this time.
    passed: i64,
    /// What was told of the first positions.
    told: Vec<bool>,
}

impl Stream<'_> {
    fn index(&self) -> bool {
        self.options.clock == Clock::Index
    }

    /// Looks at what is told: nothing that a continuation contradicts, and all that is due.
    fn cut(&mut self, rng: &mut Rng) {
        while let Some((at, holds)) = self.online.next_settled(0) {
            assert_eq!(at, self.told.len());
            self.told.push(holds);
        }
        let this = &*self;
        let (verdict, open) = (this.online.verdict(0), this.told.len());
        let say = |what: &str| {
            let Self { text, options, word, passed, told, .. } = this;
            format!(
                "{text}, {:?}, {:?}\n{word:?} {passed} {told:?} {verdict:?} {what}",
                options.semantics, options.clock
            )
        };
        let mut longer = continuations(&this.word, this.passed, 1);
        longer.extend((0..8).map(|_| this.longer(rng)));
        for word in longer {
            let column = &columns(this.program, &this.options, &word, &[this.program.roots[0].node])[0];
            let told = (0..open).all(|at| column.get(at) == this.told[at]);
            assert!(
                told && verdict.is_none_or(|verdict| verdict == column.get(0)),
                "{}",
                say(&format!("{word:?}"))
            );
        }
        if let Some(delay) = this.online.delay(0).filter(|_| open < this.word.len()) {
            let len = this.word.len();
            let times: Vec<i64> = match this.index() {
                true => (0..len as i64).collect(),
                false => this.word.iter().map(|(time, _)| *time).collect(),
            };
            let passed = if this.index() { len as i64 - 1 } else { this.passed };
            assert!(!is_due(&times, len, Some(passed), open, delay), "{}", say("late"));
        }
    }

    /// A random continuation.
    fn longer(&self, rng: &mut Rng) -> Word {
        let mut word = self.word.clone();
        let mut now = (self.passed + 1).max(word[word.len() - 1].0);
        for _ in 0..1 + rng.below(8) {
            now += rng.pick(&[0, 0, 1, 1, 2, 3, 5, 20]);
            word.push((now, rng.below(4) as u64));
        }
        word
    }
}

#[test]
fn nothing_is_told_too_early_or_too_late() {
    let mut bounded = 0;
    for seed in 0..cases(1_500).min(200_000) {
        let mut rng = Rng::new(seed);
        let (depth, future) = (1 + rng.below(4), rng.one_in(2));
        let text = if rng.one_in(4) { nested(&mut rng) } else { formula(&mut rng, depth, future, true) };
        let program = program(&[&text]);
        let semantics = rng.pick(&[Semantics::Finite, Semantics::Finite, Semantics::RepeatLast]);
        let options = options(semantics, rng.pick(&[Clock::Stamps, Clock::Stamps, Clock::Index]));
        let online = Online::new(&program, &options, Each::Root).unwrap();
        bounded += usize::from(online.delay(0).is_some());
        let mut stream = Stream {
            text: &text,
            program: &program,
            options,
            online,
            word: Vec::new(),
            passed: -1,
            told: Vec::new(),
        };
        let mut now = 0;
        let len = 1 + rng.below(10);
        for at in 0..len {
            now += rng.pick(&[0, 0, 1, 1, 2, 3, 5]);
            let row = rng.below(4) as u64;
            stream.word.push((now, row));
            stream.online.step(Some(now), &[row]).unwrap();
            stream.passed = stream.passed.max(now - 1);
            while !stream.index() && rng.one_in(3) {
                // Half of the heartbeats go just to an edge of an interval.
                let beat = now + rng.pick(&[0, 1, 2, 3, 4, 5, 7]) - 1;
                stream.online.advance(beat).unwrap();
                stream.passed = stream.passed.max(beat);
                now = now.max(stream.passed + 1);
                if rng.one_in(2) {
                    stream.cut(&mut rng);
                }
            }
            if at + 1 == len || rng.one_in(3) {
                stream.cut(&mut rng);
            }
        }
    }
    assert!(bounded > 0);
}
