//! What is written as a template is contained, by the definition of templates, in the lines it was found from.

mod kinds;

use tw_ir::Template;
use tw_templates::{Limits, Miner};
use tw_trace::find_template;

/// The share of lines that contain their own template, and some of those that do not.
fn share(kind: &kinds::Kind) -> (f64, Vec<String>) {
    let lines = kind.lines(2000, 11);
    let mut miner = Miner::new(Limits { each: true, ..Limits::default() });
    lines.iter().for_each(|(line, _)| miner.push(line.as_bytes()));
    let found = miner.finish();
    let templates: Vec<Template> = found
        .templates
        .iter()
        .map(|own| Template::parse(&own.text).unwrap_or_else(|error| panic!("{own:?}: {error:?}")))
        .collect();
    let (mut right, mut wrong) = (0, Vec::new());
    for ((line, _), &own) in lines.iter().zip(&found.each) {
        match find_template(&templates[own as usize], line) {
            Some(_) => right += 1,
            None => wrong.push(format!("{}\n      {line}", found.templates[own as usize].text)),
        }
    }
    wrong.dedup_by(|a, b| a.split('\n').next() == b.split('\n').next());
    (right as f64 / lines.len() as f64, wrong)
}

#[test]
fn lines_contain_their_templates() {
    let all: Vec<&kinds::Kind> = kinds::KNOWN.iter().chain(kinds::OTHERS).chain(kinds::TAILS).collect();
    let mut sum = 0.0;
    for kind in &all {
        let (share, wrong) = share(kind);
        println!("{:12} {share:.3}  {}", kind.name, kind.template(0));
        wrong.iter().take(6).for_each(|wrong| println!("  {wrong}"));
        sum += share;
    }
    let average = sum / all.len() as f64;
    println!("average {average:.4}");
    assert!(average >= 0.99, "{average}");
}
