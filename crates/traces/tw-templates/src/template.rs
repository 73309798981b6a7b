//! A cluster as a text with named gaps.

use crate::miner::{Entry, Texts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// A template that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// A name for its event.
    pub name: String,
    /// The text, with gaps as `{a}`, `{b:int}`, `{c:words}`, `{d:rest}`.
    pub text: String,
    /// The gaps: name and type (empty for a run of text).
    pub gaps: Vec<(String, &'static str)>,
    /// Lines.
    pub lines: u64,
    /// The content of one of them.
    pub example: String,
    /// The number of the first of them.
    pub first: u64,
}

/// One place of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Item {
    /// The same masked word everywhere.
    Word(u32),
    /// Words that differ, or that are masked as a whole.
    Gap,
}

/// The templates of clusters, most frequent first, and of each entry the number of its template.
pub(crate) fn templates(entries: &[Entry], texts: &Texts, clusters: &[u32]) -> (Vec<Template>, Vec<u32>) {
    let count = clusters.iter().max().map_or(0, |last| *last as usize + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (entry, &cluster) in clusters.iter().enumerate() {
        members[cluster as usize].push(entry);
    }
    // Clusters of several lengths whose words are the same between gaps are one: gaps may have several words.
    let mut groups: Vec<Group> = Vec::new();
    let mut by_words: FxHashMap<Vec<Item>, usize> = FxHashMap::default();
    for members in members {
        let items = items(entries, texts, &members);
        let mut key = items.clone();
        key.dedup_by(|a, b| *a == Item::Gap && *b == Item::Gap);
        let said = key.iter().filter(|item| **item != Item::Gap).count();
        let number = match by_words.get(&key) {
            Some(&number) if said >= 2 => number,
            _ => {
                groups.push(Group { members: Vec::new(), key: key.clone(), lengths: Vec::new() });
                by_words.insert(key, groups.len() - 1);
                groups.len() - 1
            }
        };
        groups[number].lengths.push(items.len());
        groups[number].members.extend(members);
    }
    let lines = |group: &Group| group.members.iter().map(|&member| entries[member].count).sum::<u64>();
    let first = |group: &Group| group.members.iter().map(|&member| entries[member].first).min();
    groups.sort_by_key(|group| (std::cmp::Reverse(lines(group)), first(group)));
    let mut of_entry = vec![0; entries.len()];
    let mut names = FxHashSet::default();
    let mut found = Vec::with_capacity(groups.len());
    for (number, group) in groups.iter().enumerate() {
        for &member in &group.members {
            of_entry[member] = number as u32;
        }
        let one = group
            .members
            .iter()
            .min_by_key(|&&member| (std::cmp::Reverse(entries[member].notes.len()), entries[member].first));
        let Some(&one) = one else { continue };
        let mut writer = Writer { text: String::new(), gaps: Vec::new() };
        group.write(entries, texts, one, &mut writer);
        let name = name(&writer.text, &mut names);
        found.push(Template {
            name,
            text: writer.text,
            gaps: writer.gaps,
            lines: lines(group),
            example: String::from_utf8_lossy(&entries[one].example).into_owned(),
            first: first(group).unwrap_or(0),
        });
    }
    (found, of_entry)
}

fn items(entries: &[Entry], texts: &Texts, members: &[usize]) -> Vec<Item> {
    let one = &texts.words[members[0]];
    let item = |(place, (word, _)): (usize, &(u32, Range<usize>))| {
        let same = |&member: &usize| texts.words[member][place].0 == *word && !entries[member].any[place];
        match !texts.blank[*word as usize] && members.iter().all(same) {
            true => Item::Word(*word),
            false => Item::Gap,
        }
    };
    one.iter().enumerate().map(item).collect()
}

struct Group {
    members: Vec<usize>,
    key: Vec<Item>,
    /// How many words the members of each cluster have.
    lengths: Vec<usize>,
}

impl Group {
    fn write(&self, entries: &[Entry], texts: &Texts, one: usize, writer: &mut Writer) {
        let entry = &entries[one];
        let words = &texts.words[one];
        let several = self.lengths.iter().any(|length| *length != self.lengths[0]);
        let mut at = 0;
        let mut place = 0;
        for (number, item) in self.key.iter().enumerate() {
            let Some((word, range)) = words.get(place) else { break };
            let last = number + 1 == self.key.len();
            writer.literal(&entry.example, at..range.start);
            match item {
                Item::Word(_) => {
                    self.word(entries, texts, one, place, writer);
                    at = range.end;
                    place += 1;
                }
                Item::Gap => {
                    let next = self.key.get(number + 1);
                    let ends =
                        |&(_, (own, _)): &(usize, &(u32, Range<usize>))| next == Some(&Item::Word(*own));
                    let until =
                        words.iter().enumerate().skip(place + 1).find(ends).map_or(words.len(), |(at, _)| at);
                    if several {
                        writer.gap(if last { "rest" } else { "words" });
                        place = until;
                        at = words[until - 1].1.end;
                    } else {
                        for own in place..until {
                            let range = &words[own].1;
                            if own > place {
                                writer.literal(&entry.example, words[own - 1].1.end..range.start);
                            }
                            if texts.blank[words[own].0 as usize] && self.alike(texts, own, words[own].0) {
                                self.word(entries, texts, one, own, writer);
                            } else {
                                self.whole(entries, texts, one, own, writer);
                            }
                        }
                        let _ = word;
                        place = until;
                        at = words[until - 1].1.end;
                    }
                }
            }
            // What may be there or not is part of the gap before it.
            while let Some(note) = entry
                .notes
                .iter()
                .find(|note| note.start >= at && words.get(place).is_none_or(|next| note.end <= next.1.start))
            {
                writer.swallow(last && place >= words.len());
                at = note.end;
            }
        }
    }

    fn alike(&self, texts: &Texts, place: usize, word: u32) -> bool {
        self.members.iter().all(|&member| texts.words[member].get(place).is_some_and(|own| own.0 == word))
    }

    /// A word that is the same but for its gaps.
    fn word(&self, entries: &[Entry], texts: &Texts, one: usize, place: usize, writer: &mut Writer) {
        let entry = &entries[one];
        let range = texts.words[one][place].1.clone();
        let mut at = range.start;
        let from = entry.gaps.partition_point(|gap| gap.at.start < range.start);
        for (number, gap) in
            entry.gaps.iter().enumerate().skip(from).take_while(|(_, gap)| gap.at.start < range.end)
        {
            writer.literal(&entry.example, at..gap.at.start);
            at = gap.at.end;
            let value = &entry.example[gap.at.clone()];
            let nth = number - from;
            let each = |which: &dyn Fn(&Entry, usize) -> bool| {
                self.members.iter().all(|&member| {
                    let own = &entries[member];
                    let place = texts.words[member].get(place).filter(|_| !self.mixed());
                    place.is_some_and(|(_, range)| {
                        let number = own.gaps.partition_point(|gap| gap.at.start < range.start) + nth;
                        number < 64 && number < own.gaps.len() && which(own, number)
                    })
                })
            };
            let lines: u64 = self.members.iter().map(|&member| entries[member].count).sum();
            let wordy = value.iter().any(u8::is_ascii_alphabetic) && value.len() <= 12;
            let constant = lines > 1
                && wordy
                && each(&|own, number| {
                    own.same >> number & 1 == 1 && own.example[own.gaps[number].at.clone()] == *value
                });
            if constant {
                writer.literal(&entry.example, gap.at.clone());
            } else if gap.words {
                writer.gap("words");
            } else if each(&|own, number| own.int >> number & 1 == 1) {
                writer.gap("int");
            } else if each(&|own, number| own.number >> number & 1 == 1) {
                writer.gap("real");
            } else {
                writer.gap("");
            }
        }
        writer.literal(&entry.example, at..range.end);
    }

    fn mixed(&self) -> bool {
        self.lengths.iter().any(|length| *length != self.lengths[0])
    }

    /// A word that differs: one gap, but for the signs around it that all have.
    fn whole(&self, entries: &[Entry], texts: &Texts, one: usize, place: usize, writer: &mut Writer) {
        let text = |member: usize| {
            texts.words[member]
                .get(place)
                .map_or(&[][..], |(_, range)| &entries[member].example[range.clone()])
        };
        let own = text(one);
        let sign = |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b'/' | b'\\' | b'_' | b'-');
        let mut before = own.iter().take_while(|byte| sign(byte)).count();
        let mut after = own[before..].iter().rev().take_while(|byte| sign(byte)).count();
        for &member in &self.members {
            let other = text(member);
            before = before.min(own.iter().zip(other).take_while(|(a, b)| a == b).count());
            let common = own.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
            after = after.min(common).min(other.len().saturating_sub(before + 1));
        }
        let range = &texts.words[one][place].1;
        let merged = self.members.iter().any(|&member| entries[member].any[place]);
        if merged || before + after >= own.len() {
            (before, after) = (0, 0);
        }
        writer.literal(&entries[one].example, range.start..range.start + before);
        writer.gap("");
        writer.literal(&entries[one].example, range.end - after..range.end);
    }
}

struct Writer {
    text: String,
    gaps: Vec<(String, &'static str)>,
}

impl Writer {
    fn literal(&mut self, example: &[u8], range: Range<usize>) {
        if range.start >= range.end {
            return;
        }
        for c in String::from_utf8_lossy(&example[range]).chars() {
            match c {
                '{' => self.text.push_str("{{"),
                '}' => self.text.push_str("}}"),
                c => self.text.push(c),
            }
        }
    }

    fn gap(&mut self, kind: &'static str) {
        let number = self.gaps.len();
        let letter = char::from(b'a' + (number % 26) as u8);
        let name = if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26) };
        // Two gaps side by side are one.
        if self.text.ends_with('}') && !self.text.ends_with("}}") {
            return;
        }
        match kind {
            "" => self.text.push_str(&format!("{{{name}}}")),
            kind => self.text.push_str(&format!("{{{name}:{kind}}}")),
        }
        self.gaps.push((name, kind));
    }

    /// Makes the last gap reach to here.
    fn swallow(&mut self, last: bool) {
        let Some((name, _)) = self.gaps.pop() else { return };
        let start =
            [format!("{{{name}}}"), format!("{{{name}:")].iter().filter_map(|own| self.text.rfind(own)).max();
        self.text.truncate(start.unwrap_or(self.text.len()));
        self.gap(if last { "rest" } else { "words" });
    }
}

/// Words that name nothing.
const SMALL: &[&str] = &[
    "for", "from", "of", "the", "to", "in", "on", "at", "by", "is", "was", "a", "an", "with", "and", "as",
    "it",
];

/// A name from the words of a template, and one that no other has.
fn name(text: &str, taken: &mut FxHashSet<String>) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while words.len() < 4 && !rest.is_empty() {
        if rest.starts_with('{') && !rest.starts_with("{{") {
            let end = rest.find('}').map_or(rest.len(), |end| end + 1);
            rest = &rest[end..];
            // The words before the first gap are enough, if there are any.
            let said = words.iter().filter(|word| !SMALL.contains(&word.as_str())).count();
            if said >= 2 {
                break;
            }
            continue;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        if end > 0 && rest.starts_with(char::is_alphabetic) {
            words.push(snake(&rest[..end]));
        }
        rest = &rest[end..];
        let skip = rest.find(|c: char| c.is_alphanumeric() || c == '{').unwrap_or(rest.len());
        rest = if skip == 0 && rest.starts_with("{{") { &rest[2..] } else { &rest[skip..] };
        if rest.starts_with("{{") {
            rest = &rest[2..];
        }
    }
    while words.len() > 1 && words.last().is_some_and(|word| SMALL.contains(&word.as_str())) {
        words.pop();
    }
    let mut name = words.join("_");
    if name.is_empty() {
        name = if text.is_empty() { "empty".to_owned() } else { "line".to_owned() };
    }
    let mut unique = name.clone();
    let mut number = 2;
    while !taken.insert(unique.clone()) {
        unique = format!("{name}_{number}");
        number += 1;
    }
    unique
}

/// A word in lower case, with `_` between the parts of `CamelCase`.
fn snake(word: &str) -> String {
    let mut found = String::new();
    let mut lower = false;
    for c in word.chars() {
        if c.is_uppercase() && lower {
            found.push('_');
        }
        lower = c.is_lowercase() || c.is_numeric();
        found.extend(c.to_lowercase());
    }
    found
}
