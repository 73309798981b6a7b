//! Lines in, templates out.

use crate::cluster::{self, Signature};
use crate::header::Header;
use crate::mask::{Gap, Look, Masked};
use crate::template::{self, Template};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Signatures; beyond, they are put together.
    pub signatures: usize,
    /// Bytes of a line that are looked at.
    pub line: usize,
    /// Whether to remember the signature of each line, for [`Found::each`].
    pub each: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { signatures: 50_000, line: 4096, each: false }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The templates, most frequent first.
    pub templates: Vec<Template>,
    /// Of each line, the number of its template: empty unless [`Limits::each`].
    pub each: Vec<u32>,
    /// How many times signatures were put together before the end, because they were too many.
    pub compactions: usize,
}

/// Lines from which the header is learnt.
const SAMPLE: usize = 2000;
/// Lines that make a value a word.
const MANY: u64 = 8;
/// And bytes of them.
const SAMPLE_BYTES: usize = 1 << 20;

/// A signature that was seen.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The content of a line that has it.
    pub example: Box<[u8]>,
    /// What varies in the example.
    pub gaps: Vec<Gap>,
    /// Notes in the example.
    pub notes: Vec<Range<usize>>,
    /// The gaps, of the first 64, that had one value in all lines.
    pub same: u64,
    /// The gaps that were whole numbers in all lines.
    pub int: u64,
    /// The gaps that were numbers in all lines.
    pub number: u64,
    /// Words that stand for others: the places where signatures that were put together differ.
    pub any: Vec<bool>,
    pub count: u64,
    /// The number of the first line.
    pub first: u64,
}

/// Finds templates.
#[derive(Debug)]
pub struct Miner {
    limits: Limits,
    header: Option<Header>,
    /// The first lines, until the header is known.
    sample: Vec<u8>,
    ends: Vec<usize>,
    table: FxHashMap<u64, u32>,
    entries: Vec<Entry>,
    masked: Masked,
    lines: u64,
    /// By line, the number of its signature.
    each: Vec<u32>,
    compactions: usize,
    /// Words of no more lines than this are values: nought until there are too many signatures.
    rare: u64,
}

impl Miner {
    /// A miner that has seen nothing.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            header: None,
            sample: Vec::new(),
            ends: Vec::new(),
            table: FxHashMap::default(),
            entries: Vec::new(),
            masked: Masked::default(),
            lines: 0,
            each: Vec::new(),
            compactions: 0,
            rare: 0,
        }
    }

    /// One more line. Of several in one (a stack trace), the first counts.
    pub fn push(&mut self, line: &[u8]) {
        let first = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        let line = &line[..first.min(self.limits.line)];
        match &self.header {
            Some(header) => {
                let content = line[header.end(line)..].trim_ascii();
                self.content(content);
            }
            None => {
                self.sample.extend_from_slice(line);
                self.ends.push(self.sample.len());
                if self.ends.len() >= SAMPLE || self.sample.len() >= SAMPLE_BYTES {
                    self.learn();
                }
            }
        }
    }

    fn learn(&mut self) {
        let sample = std::mem::take(&mut self.sample);
        let ends = std::mem::take(&mut self.ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let lines: Vec<&[u8]> = starts.zip(&ends).map(|(start, &end)| &sample[start..end]).collect();
        let header = Header::of(&lines);
        for line in lines {
            self.content(line[header.end(line)..].trim_ascii());
        }
        self.header = Some(header);
    }

    fn content(&mut self, content: &[u8]) {
        let mut masked = std::mem::take(&mut self.masked);
        masked.scan(content);
        let number = match self.table.get(&masked.hash) {
            Some(&number) => {
                self.entries[number as usize].again(content, &masked);
                number
            }
            None => {
                let number = self.entries.len() as u32;
                self.table.insert(masked.hash, number);
                self.entries.push(Entry::new(content, &masked, self.lines));
                number
            }
        };
        self.masked = masked;
        self.lines += 1;
        if self.limits.each {
            self.each.push(number);
        }
        if self.entries.len() >= self.limits.signatures {
            self.compact();
        }
    }

    /// Puts signatures together, until there is room again.
    fn compact(&mut self) {
        self.compactions += 1;
        let texts = Texts::of(&self.entries);
        loop {
            let clusters = cluster::clusters(&texts.signatures(&self.entries, self.rare));
            let merged = 1 + clusters.iter().copied().max().unwrap_or(0) as usize;
            if merged <= self.limits.signatures / 2 || self.rare > self.lines {
                self.merge(&texts, &clusters, merged);
                return;
            }
            self.rare = (self.rare * 4).max(1);
        }
    }

    fn merge(&mut self, texts: &Texts, clusters: &[u32], merged: usize) {
        let mut first: Vec<Option<usize>> = vec![None; merged];
        let mut kept: Vec<Entry> = Vec::with_capacity(merged);
        let mut places = vec![0u32; merged];
        let old = std::mem::take(&mut self.entries);
        for (number, (entry, &cluster)) in old.into_iter().zip(clusters).enumerate() {
            match first[cluster as usize] {
                None => {
                    first[cluster as usize] = Some(number);
                    places[cluster as usize] = kept.len() as u32;
                    kept.push(entry);
                }
                Some(one) => {
                    let into = &mut kept[places[cluster as usize] as usize];
                    for (place, (a, b)) in texts.words[one].iter().zip(&texts.words[number]).enumerate() {
                        into.any[place] |= a.0 != b.0 || entry.any[place];
                    }
                    into.count += entry.count;
                    into.first = into.first.min(entry.first);
                }
            }
        }
        let moves: Vec<u32> = clusters.iter().map(|&cluster| places[cluster as usize]).collect();
        for number in self.table.values_mut() {
            *number = moves[*number as usize];
        }
        // Signatures that were put together are known no more by their own hashes: the table keeps within its bound.
        let mut seen = vec![false; kept.len()];
        self.table.retain(|_, number| !std::mem::replace(&mut seen[*number as usize], true));
        self.entries = kept;
        if self.limits.each {
            for number in &mut self.each {
                *number = moves[*number as usize];
            }
        }
    }

    /// The templates of all lines.
    pub fn finish(mut self) -> Found {
        if self.header.is_none() {
            self.learn();
        }
        let texts = Texts::of(&self.entries);
        let signatures = texts.signatures(&self.entries, self.rare);
        let clusters = cluster::clusters(&signatures);
        let (templates, groups) = template::templates(&self.entries, &texts, &clusters);
        let each = self.each.iter().map(|&number| groups[number as usize]).collect();
        Found { templates, each, compactions: self.compactions }
    }
}

impl Entry {
    fn new(content: &[u8], masked: &Masked, first: u64) -> Self {
        let (int, number) = looks(&masked.gaps);
        let mut entry = Self {
            example: content.into(),
            gaps: masked.gaps.clone(),
            notes: masked.notes.clone(),
            same: !0,
            int,
            number,
            any: Vec::new(),
            count: 1,
            first,
        };
        entry.any = vec![false; entry.words().count()];
        entry
    }

    /// One more line of the signature.
    fn again(&mut self, content: &[u8], masked: &Masked) {
        self.count += 1;
        let (int, number) = looks(&masked.gaps);
        self.int &= int;
        self.number &= number;
        let mut left = self.same & mask(self.gaps.len());
        while left != 0 {
            let gap = left.trailing_zeros() as usize;
            left &= left - 1;
            let there = masked.gaps.get(gap).map(|own| &content[own.at.clone()]);
            if there != Some(&self.example[self.gaps[gap].at.clone()]) {
                self.same &= !(1 << gap);
            }
        }
        // The example shows what may be there.
        if masked.notes.len() > self.notes.len() && masked.gaps.len() == self.gaps.len() {
            self.example = content.into();
            self.gaps.clone_from(&masked.gaps);
            self.notes.clone_from(&masked.notes);
        }
    }

    /// Whether a gap is a word after all (`ssh2`): all of many lines have it.
    pub fn constant(&self, gap: usize) -> bool {
        let value = &self.example[self.gaps[gap].at.clone()];
        let wordy = value.len() <= 12 && value.iter().filter(|byte| byte.is_ascii_alphabetic()).count() >= 3;
        gap < 64 && self.same >> gap & 1 == 1 && self.count >= MANY && wordy && !value.contains(&b'/')
    }

    /// The words of the example, as ranges. Gaps of several words and notes are not cut, notes are left out.
    pub fn words(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let text = &self.example;
        let mut at = 0;
        let mut gap = 0;
        std::iter::from_fn(move || {
            loop {
                while at < text.len() && text[at].is_ascii_whitespace() {
                    at += 1;
                }
                match self.notes.iter().find(|note| note.start == at) {
                    Some(note) => at = note.end,
                    None => break,
                }
            }
            if at >= text.len() {
                return None;
            }
            let start = at;
            while at < text.len()
                && !text[at].is_ascii_whitespace()
                && !self.notes.iter().any(|note| note.start == at)
            {
                while gap < self.gaps.len() && self.gaps[gap].at.start < at {
                    gap += 1;
                }
                at = match self.gaps.get(gap) {
                    Some(own) if own.at.start == at => own.at.end.max(at + 1),
                    _ => at + 1,
                };
            }
            Some(start..at)
        })
    }
}

fn mask(gaps: usize) -> u64 {
    if gaps >= 64 { !0 } else { (1 << gaps) - 1 }
}

fn looks(gaps: &[Gap]) -> (u64, u64) {
    let (mut int, mut number) = (0, 0);
    for (place, gap) in gaps.iter().take(64).enumerate() {
        int |= u64::from(gap.look == Look::Int) << place;
        number |= u64::from(gap.look != Look::Other) << place;
    }
    (int, number)
}

/// The words of entries with what varies masked, numbered.
pub(crate) struct Texts {
    /// Of each entry its words: number, and where in the example.
    pub words: Vec<Vec<(u32, Range<usize>)>>,
    /// Whether a word says nothing but what is masked.
    pub blank: Vec<bool>,
    /// Whether a word looks like a name that people or programs give (`name=x`, `a.b.C`, `some_key`).
    identifier: Vec<bool>,
}

impl Texts {
    fn of(entries: &[Entry]) -> Self {
        let mut numbers: FxHashMap<Vec<u8>, u32> = FxHashMap::default();
        let mut texts =
            Self { words: Vec::with_capacity(entries.len()), blank: Vec::new(), identifier: Vec::new() };
        let mut text = Vec::new();
        for entry in entries {
            let mut own = Vec::with_capacity(entry.any.len());
            for word in entry.words() {
                let blank = masked_word(entry, &word, &mut text);
                let next = numbers.len() as u32;
                let number = match numbers.get(&text) {
                    Some(&number) => number,
                    None => {
                        numbers.insert(text.clone(), next);
                        next
                    }
                };
                if number == next {
                    texts.blank.push(blank);
                    let inner = text.len() > 2
                        && text[1..text.len() - 1]
                            .iter()
                            .any(|byte| matches!(byte, b'=' | b'.' | b'_' | b'/' | b'@' | b'-'));
                    texts.identifier.push(inner);
                }
                own.push((number, word));
            }
            texts.words.push(own);
        }
        texts
    }

    /// The signatures; words of no more lines than `rare` say nothing.
    fn signatures(&self, entries: &[Entry], rare: u64) -> Vec<Signature> {
        let mut often: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        if rare > 0 {
            for (entry, words) in entries.iter().zip(&self.words) {
                for (place, (word, _)) in words.iter().enumerate() {
                    *often.entry((place as u32, *word)).or_default() += entry.count;
                }
            }
        }
        let one = |(entry, words): (&Entry, &Vec<(u32, Range<usize>)>)| {
            let says_nothing = |(place, (word, _)): (usize, &(u32, Range<usize>))| {
                self.blank[*word as usize]
                    || entry.any[place]
                    || rare > 0 && often[&(place as u32, *word)] <= rare
            };
            let identifier = |(word, _): &(u32, Range<usize>)| self.identifier[*word as usize];
            Signature {
                identifier: words.iter().map(identifier).collect(),
                bare: words.iter().map(|(_, at)| entry.example[at.clone()] == *b"()").collect(),
                words: words.iter().map(|(word, _)| *word).collect(),
                blank: words.iter().enumerate().map(says_nothing).collect(),
                count: entry.count,
            }
        };
        entries.iter().zip(&self.words).map(one).collect()
    }
}

/// Writes a word with what varies masked; whether nothing else is in it.
fn masked_word(entry: &Entry, word: &Range<usize>, text: &mut Vec<u8>) -> bool {
    text.clear();
    let mut at = word.start;
    let mut says = false;
    let mut gapped = false;
    let from = entry.gaps.partition_point(|gap| gap.at.start < word.start);
    for (number, gap) in
        entry.gaps.iter().enumerate().skip(from).take_while(|(_, gap)| gap.at.start < word.end)
    {
        if entry.constant(number) {
            continue;
        }
        says |=
            entry.example[at..gap.at.start].iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
        text.extend_from_slice(&entry.example[at..gap.at.start]);
        text.push(0);
        gapped = true;
        at = gap.at.end;
    }
    let rest = &entry.example[at.min(word.end)..word.end];
    says |= rest.iter().any(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80);
    text.extend_from_slice(rest);
    gapped && !says
}
