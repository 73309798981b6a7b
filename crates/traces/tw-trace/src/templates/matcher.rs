//! All templates of a specification at once: a rare fragment of each is looked for in one pass over the texts of a batch, and a
//! template is tried where its fragment stands. Texts without any fragment cost that pass.

use super::choice::{Choice, Start};
use super::grams::Grams;
use super::one::{One, Scratch};
use aho_corasick::{AhoCorasick, packed};
use std::sync::OnceLock;
use tw_ir::Template;

/// Short fragments that one pass looks for: what the vectorised search takes.
const GROUP: usize = 64;

/// Where a template matched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    /// Numbers of the texts, ascending.
    pub lines: Vec<u32>,
    /// Of each, the spans of the template's pieces, in bytes of the text.
    pub spans: Vec<(u32, u32)>,
    /// Spans per text.
    pub width: usize,
    /// The first text that has the fragment and is no match.
    pub near: Option<u32>,
}

impl Hits {
    /// What a piece took in the `hit`-th text.
    #[inline]
    pub fn span(&self, hit: usize, piece: usize) -> std::ops::Range<usize> {
        let (start, end) = self.spans[hit * self.width + piece];
        start as usize..end as usize
    }

    fn add(&mut self, line: usize, scratch: &Scratch) {
        self.lines.push(line as u32);
        self.spans.extend_from_slice(&scratch.spans);
    }
}

/// Templates made ready to be matched together.
#[derive(Debug)]
pub(crate) struct Matcher {
    ones: Vec<One>,
    /// Made when the first texts are seen, which show what is rare.
    plan: OnceLock<Plan>,
}

#[derive(Debug, Default)]
struct Plan {
    passes: Vec<Pass>,
    /// Templates without any text.
    always: Vec<usize>,
}

#[derive(Debug)]
struct Pass {
    search: Search,
    /// Of each fragment, what may stand where it is found: itself, and those that begin like it.
    tries: Vec<Vec<Try>>,
}

#[derive(Debug)]
enum Search {
    Grams(Grams),
    Packed(Box<packed::Searcher>),
    /// Where the machine has no vectors that serve.
    Automaton(Box<AhoCorasick>),
}

#[derive(Clone, Copy, Debug)]
struct Try {
    template: usize,
    start: Start,
}

impl Plan {
    fn new(ones: &[One], text: &[u8]) -> Self {
        let choice = Choice::new(ones, text);
        let mut plan = Self::default();
        let (mut long, mut short) = (Vec::new(), Vec::new());
        for (template, one) in ones.iter().enumerate() {
            match choice.of(one) {
                Some((chosen, is_long)) => {
                    let own = (chosen.fragment, Try { template, start: chosen.start });
                    if is_long { long.push(own) } else { short.push(own) }
                }
                None => plan.always.push(template),
            }
        }
        let alike = |a: &(Vec<u8>, Try), b: &(Vec<u8>, Try)| a.0 == b.0;
        long.sort_by(|a, b| a.0.cmp(&b.0));
        short.sort_by(|a, b| a.0.cmp(&b.0));
        plan.passes.extend(Pass::of_grams(&long));
        let distinct: Vec<_> = short.chunk_by(alike).collect();
        plan.passes.extend(distinct.chunks(GROUP).filter_map(|group| Pass::new(&group.concat())));
        plan
    }
}

impl Matcher {
    pub fn new<'t>(templates: impl Iterator<Item = &'t Template>) -> Self {
        Self { ones: templates.map(One::new).collect(), plan: OnceLock::new() }
    }

    /// Matches texts that are laid end to end; `ends` says where each ends.
    pub fn run(&self, text: &[u8], ends: &[u32]) -> Vec<Hits> {
        let width = |one: &One| Hits { width: one.width(), ..Hits::default() };
        let mut hits: Vec<Hits> = self.ones.iter().map(width).collect();
        let plan = self.plan.get_or_init(|| Plan::new(&self.ones, text));
        let mut scratch = Scratch::default();
        for &template in &plan.always {
            for line in 0..ends.len() {
                let own = &text[start_of(ends, line)..ends[line] as usize];
                if !own.is_empty() && self.ones[template].find(own, &mut scratch) {
                    hits[template].add(line, &scratch);
                }
            }
        }
        for pass in &plan.passes {
            let mut trying = Trying {
                ones: &self.ones,
                text,
                ends,
                line: 0,
                states: vec![0; self.ones.len()],
                scratches: vec![Scratch::default(); self.ones.len()],
                hits: &mut hits,
            };
            pass.search.each(text, |at, fragment| trying.all(&pass.tries[fragment], at));
        }
        hits
    }
}

/// Templates are tried where their fragments are found, from left to right.
struct Trying<'m> {
    ones: &'m [One],
    text: &'m [u8],
    ends: &'m [u32],
    /// The text in which the last fragment was found.
    line: usize,
    /// Of each template, the text that it was tried on last: its number twice, plus one, plus one more if it matched.
    states: Vec<usize>,
    scratches: Vec<Scratch>,
    hits: &'m mut [Hits],
}

impl Trying<'_> {
    /// Tries templates whose fragment begins at `at`.
    #[inline]
    fn all(&mut self, tries: &[Try], at: usize) {
        let mut step = 1;
        while self.ends[self.line] as usize <= at {
            // Near ones first, then further and further.
            let next = (self.line + step).min(self.ends.len() - 1);
            if self.ends[next - 1] as usize > at {
                let between = &self.ends[self.line..next];
                self.line += between.partition_point(|&end| end as usize <= at);
                break;
            }
            self.line = next;
            step *= 2;
        }
        let start = start_of(self.ends, self.line);
        for own in tries {
            if self.states[own.template] != 2 * self.line + 2 {
                self.one(*own, start, at - start);
            }
        }
    }

    fn one(&mut self, Try { template, start }: Try, from: usize, at: usize) {
        let own = &self.text[from..self.ends[self.line] as usize];
        let (one, scratch, hits) =
            (&self.ones[template], &mut self.scratches[template], &mut self.hits[template]);
        let tried = self.states[template] == 2 * self.line + 1;
        // What was not begun may be begun later.
        let (begun, found) = match start {
            // Most that share a fragment differ soon.
            Start::Before(offset) => match at.checked_sub(offset) {
                Some(at) if one.may_stand(own, at) => {
                    if !tried {
                        one.begin(scratch);
                    }
                    (true, one.at(own, at, scratch))
                }
                _ => (false, false),
            },
            Start::BehindRun(offset) => match at.checked_sub(offset) {
                Some(at) => {
                    if !tried {
                        one.begin(scratch);
                    }
                    (true, one.behind_run(own, at, scratch))
                }
                None => (false, false),
            },
            // All of it is looked at, once.
            Start::Anywhere => (true, !tried && one.find(own, scratch)),
        };
        if begun {
            self.states[template] = 2 * self.line + 1 + usize::from(found);
        }
        if found {
            hits.add(self.line, scratch);
        } else if hits.near.is_none() {
            hits.near = Some(self.line as u32);
        }
    }
}

fn start_of(ends: &[u32], line: usize) -> usize {
    if line == 0 { 0 } else { ends[line - 1] as usize }
}

impl Pass {
    /// Fragments of one length.
    fn of_grams(fragments: &[(Vec<u8>, Try)]) -> Option<Self> {
        let groups: Vec<&[(Vec<u8>, Try)]> = fragments.chunk_by(|a, b| a.0 == b.0).collect();
        let distinct: Vec<&[u8]> = groups.iter().map(|group| group[0].0.as_slice()).collect();
        let tries = groups.iter().map(|group| group.iter().map(|(_, own)| *own).collect()).collect();
        Some(Self { search: Search::Grams(Grams::new(&distinct)?), tries })
    }

    /// Short fragments.
    fn new(fragments: &[(Vec<u8>, Try)]) -> Option<Self> {
        let mut distinct: Vec<&[u8]> = fragments.iter().map(|(bytes, _)| bytes.as_slice()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let tries = distinct
            .iter()
            .map(|own| {
                // Of several that begin at one place, one is reported.
                let alike = |bytes: &[u8]| bytes.starts_with(own) || own.starts_with(bytes);
                fragments.iter().filter(|(bytes, _)| alike(bytes)).map(|(_, own)| *own).collect()
            })
            .collect();
        let packed = packed::Config::new().builder().extend(&distinct).build();
        let search = match packed {
            Some(searcher) => Search::Packed(Box::new(searcher)),
            None => Search::Automaton(Box::new(AhoCorasick::new(&distinct).ok()?)),
        };
        Some(Self { search, tries })
    }
}

impl Search {
    /// Every place where a fragment begins, from left to right for each of them.
    fn each(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        match self {
            Search::Grams(grams) => grams.each(text, found),
            Search::Packed(searcher) => {
                let mut from = 0;
                while let Some(own) = searcher.find_in(text, (from..text.len()).into()) {
                    found(own.start(), own.pattern().as_usize());
                    from = own.start() + 1;
                }
            }
            Search::Automaton(automaton) => {
                // In the order of their ends, and one literal may reach into the text behind: sorted by their beginnings.
                let mut all: Vec<(usize, usize)> = automaton
                    .find_overlapping_iter(text)
                    .map(|own| (own.start(), own.pattern().as_usize()))
                    .collect();
                all.sort_unstable();
                all.into_iter().for_each(|(at, fragment)| found(at, fragment));
            }
        }
    }
}
