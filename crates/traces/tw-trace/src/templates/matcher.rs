//! All templates of a specification at once: the rarest fragment of each is looked for in one pass over the texts of a batch,
//! and a template is tried where its fragment stands. Texts without any fragment cost that pass.

use super::one::{One, Scratch};
use aho_corasick::{AhoCorasick, packed};
use tw_ir::Template;

/// Fragments that one pass looks for: what the vectorised search takes.
const GROUP: usize = 64;
/// Bytes of the longest fragment …
const FRAGMENT: usize = 8;
/// … and where there are many, which then share fragments, so that one pass finds more of them.
const SHARED: usize = 4;
/// Shorter fragments are looked for in a pass of their own: they would slow down the search for the others.
const SHORT: usize = 3;

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
    Packed(Box<packed::Searcher>),
    /// Where the machine has no vectors that serve.
    Automaton(Box<AhoCorasick>),
}

#[derive(Clone, Copy, Debug)]
struct Try {
    template: usize,
    /// Where the fragment stands in the literal that the template begins with; `None` if it stands elsewhere.
    offset: Option<usize>,
}

impl Matcher {
    pub fn new<'t>(templates: impl Iterator<Item = &'t Template>) -> Self {
        let ones: Vec<One> = templates.map(One::new).collect();
        let (mut always, mut fragments) = (Vec::new(), Vec::new());
        for (template, one) in ones.iter().enumerate() {
            match fragment(one) {
                Some((bytes, offset)) => fragments.push((bytes, Try { template, offset })),
                None => always.push(template),
            }
        }
        let alike = |a: &(Vec<u8>, Try), b: &(Vec<u8>, Try)| a.0 == b.0;
        fragments.sort_by(|a, b| a.0.cmp(&b.0));
        if fragments.chunk_by(alike).count() > GROUP {
            fragments.iter_mut().for_each(|(bytes, _)| bytes.truncate(SHARED));
        }
        let (short, long): (Vec<_>, Vec<_>) =
            fragments.into_iter().partition(|(bytes, _)| bytes.len() < SHORT);
        let passes = [&long, &short].into_iter().flat_map(|fragments| {
            let distinct: Vec<_> = fragments.chunk_by(alike).collect();
            distinct.chunks(GROUP).filter_map(|group| Pass::new(&group.concat())).collect::<Vec<_>>()
        });
        let passes = passes.collect();
        Self { ones, passes, always }
    }

    /// Matches texts that are laid end to end; `ends` says where each ends.
    pub fn run(&self, text: &[u8], ends: &[u32]) -> Vec<Hits> {
        let width = |one: &One| Hits { width: one.width(), ..Hits::default() };
        let mut hits: Vec<Hits> = self.ones.iter().map(width).collect();
        let mut scratch = Scratch::default();
        for &template in &self.always {
            for line in 0..ends.len() {
                let own = &text[start_of(ends, line)..ends[line] as usize];
                if !own.is_empty() && self.ones[template].find(own, &mut scratch) {
                    hits[template].add(line, &scratch);
                }
            }
        }
        for pass in &self.passes {
            // Of each template, the text that it is done with, plus one.
            let mut done = vec![0; self.ones.len()];
            let mut scratches = vec![Scratch::default(); self.ones.len()];
            let mut line = 0;
            pass.each(text, |at, fragment| {
                if (ends[line] as usize) <= at {
                    line += 1;
                    if (ends[line] as usize) <= at {
                        line += ends[line..].partition_point(|&end| end as usize <= at);
                    }
                }
                let start = start_of(ends, line);
                let own = &text[start..ends[line] as usize];
                for Try { template, offset } in &pass.tries[fragment] {
                    let (one, state) = (&self.ones[*template], &mut done[*template]);
                    let (tried, matched) = (*state == 2 * line + 1, *state == 2 * line + 2);
                    if matched {
                        continue;
                    }
                    let scratch = &mut scratches[*template];
                    let found = match offset {
                        Some(offset) => match (at - start).checked_sub(*offset) {
                            // Most that share a fragment differ soon.
                            Some(at) if one.may_stand(own, at) => {
                                if !tried {
                                    one.begin(scratch);
                                }
                                one.at(own, at, scratch)
                            }
                            _ => {
                                if hits[*template].near.is_none() {
                                    hits[*template].near = Some(line as u32);
                                }
                                continue;
                            }
                        },
                        // All of it is looked at, once.
                        None if tried => false,
                        None => one.find(own, scratch),
                    };
                    *state = 2 * line + 1 + usize::from(found);
                    let hits = &mut hits[*template];
                    if found {
                        hits.add(line, scratch);
                    } else if hits.near.is_none() {
                        hits.near = Some(line as u32);
                    }
                }
            });
        }
        hits
    }
}

fn start_of(ends: &[u32], line: usize) -> usize {
    if line == 0 { 0 } else { ends[line - 1] as usize }
}

impl Pass {
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

    /// Every place where a fragment begins, from left to right for each of them.
    fn each(&self, text: &[u8], mut found: impl FnMut(usize, usize)) {
        match &self.search {
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

/// The fragment by which a template is looked for: the rarest of its literals, and where it stands in the first piece.
fn fragment(one: &One) -> Option<(Vec<u8>, Option<usize>)> {
    let mut best: Option<(u32, Vec<u8>, Option<usize>)> = None;
    for (piece, literal) in one.literals() {
        let long = literal.len().min(4);
        for (at, window) in literal.windows(long).enumerate() {
            // Short ones are found often, whatever they are.
            let common: u32 =
                window.iter().map(|&byte| commonness(byte)).sum::<u32>() + 60 * (4 - long as u32);
            // From the beginning of the template on, there is one place to try.
            let common = common + if piece == 0 { 0 } else { 12 };
            if best.as_ref().is_none_or(|(least, ..)| common < *least) {
                let end = literal.len().min(at + FRAGMENT);
                best = Some((common, literal[at..end].to_vec(), (piece == 0).then_some(at)));
            }
        }
    }
    best.map(|(_, bytes, offset)| (bytes, offset))
}

/// How often a byte stands in logs, about: the logarithm of its share.
fn commonness(byte: u8) -> u32 {
    match byte {
        b' ' => 60,
        b'0'..=b'9' => 50,
        b'e' | b't' | b'o' | b'a' | b'i' | b'n' | b's' | b'r' => 48,
        b'd' | b'c' | b'l' | b'p' | b'm' | b'u' | b'f' | b'.' | b':' => 42,
        b'h' | b'g' | b'b' | b'k' | b'w' | b'v' | b'y' | b'-' | b'/' | b'_' | b'=' | b',' => 34,
        b'x' | b'j' | b'q' | b'z' | b'[' | b']' | b'(' | b')' | b'"' => 26,
        b'A'..=b'Z' => 24,
        _ => 16,
    }
}
