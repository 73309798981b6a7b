//! How many lines are put exactly with those of the same template, on generated logs of many kinds.

mod kinds;

use kinds::Kind;
use rustc_hash::FxHashMap;
use tw_templates::{Found, Limits, Miner};

fn mine(lines: &[(String, usize)]) -> Found {
    let mut miner = Miner::new(Limits { each: true, ..Limits::default() });
    for (line, _) in lines {
        miner.push(line.as_bytes());
    }
    miner.finish()
}

/// The share of lines whose group is exactly right.
fn accuracy(kind: &Kind, show: bool) -> f64 {
    let lines = kind.lines(2000, 7);
    let found = mine(&lines);
    let mut of_truth: FxHashMap<usize, Vec<u32>> = FxHashMap::default();
    let mut of_found: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for ((_, truth), each) in lines.iter().zip(&found.each) {
        of_truth.entry(*truth).or_default().push(*each);
        of_found.entry(*each).or_default().push(*truth);
    }
    let mut right = 0;
    for (truth, groups) in &of_truth {
        let one = groups[0];
        if groups.iter().all(|group| *group == one) && of_found[&one].iter().all(|own| own == truth) {
            right += groups.len();
        } else if show {
            let mut texts: Vec<_> =
                groups.iter().map(|group| &found.templates[*group as usize].text).collect();
            texts.sort();
            texts.dedup();
            texts.truncate(6);
            println!("  {}: {}\n    {:#?}", kind.name, kind.template(*truth), texts);
        }
    }
    right as f64 / lines.len() as f64
}

fn average(kinds: &[Kind]) -> f64 {
    let all: Vec<f64> = kinds
        .iter()
        .map(|kind| {
            let share = accuracy(kind, true);
            println!("{:12} {share:.3}", kind.name);
            share
        })
        .collect();
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn kinds_that_the_rules_were_made_with() {
    let average = average(kinds::KNOWN);
    println!("average      {average:.3}");
    assert!(average >= 0.95, "{average}");
}

#[test]
fn kinds_that_the_rules_were_not_made_with() {
    let average = average(kinds::OTHERS);
    println!("average      {average:.3}");
    assert!(average >= 0.85, "{average}");
}

#[test]
fn kinds_with_many_rare_texts() {
    let average = average(kinds::TAILS);
    println!("average      {average:.3}");
    assert!(average >= 0.85, "{average}");
}
