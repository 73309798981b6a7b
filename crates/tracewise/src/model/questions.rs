//! Formulas to be asked of a model, and the files that hold many.

use crate::{Error, Specification};
use tw_ir::Node;
use tw_model::Model;

/// What a formula is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// The paths that begin in a state: CTL, and CTL*.
    Branching,
    /// One path, all of which must satisfy it: LTL.
    Linear,
}

impl Logic {
    /// Its name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Logic::Branching => "ctl",
            Logic::Linear => "ltl",
        }
    }
}

/// A formula to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Its logic.
    pub logic: Logic,
    /// The formula.
    pub text: String,
    /// What it asks, in words.
    pub title: Option<String>,
}

/// Words that may stand before a formula and say its logic.
const MARKS: [(&str, Logic); 5] = [
    ("CTLSPEC", Logic::Branching),
    ("LTLSPEC", Logic::Linear),
    ("SPEC", Logic::Branching),
    ("ctl:", Logic::Branching),
    ("ltl:", Logic::Linear),
];

impl Question {
    /// A formula of a known logic.
    pub fn new(logic: Logic, text: impl Into<String>) -> Self {
        Self { logic, text: text.into(), title: None }
    }

    /// The formulas that stand in a model's file.
    pub fn of_model(model: &Model) -> Vec<Question> {
        let logic = |linear| if linear { Logic::Linear } else { Logic::Branching };
        model.specifications.iter().map(|own| Question::new(logic(own.linear), own.text.clone())).collect()
    }
}

/// The formulas of a file, one a line. Lines that begin with `//`, `--` or `#` are comments; those right above a
/// formula say what it asks. A formula may say its logic (`CTLSPEC`, `LTLSPEC`, `ctl:`, `ltl:`); otherwise it is of
/// branching time if it has a path quantifier, and of linear time if it has other temporal operators alone.
pub fn questions_in(path: &str) -> Result<Vec<Question>, Error> {
    let text = Specification::text_of(path)?;
    let mut questions = Vec::new();
    let mut comments: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(comment) = ["//", "--", "#"].iter().find_map(|mark| line.strip_prefix(mark)) {
            comments.push(comment.trim());
            continue;
        }
        if line.is_empty() {
            comments.clear();
            continue;
        }
        let marked = MARKS.iter().find_map(|&(mark, logic)| Some((logic, line.strip_prefix(mark)?.trim())));
        let (logic, formula) = match marked {
            Some(marked) => marked,
            None => (logic_of(line)?, line),
        };
        let formula = formula.strip_suffix(';').unwrap_or(formula).trim_end();
        let words = std::mem::take(&mut comments).join(" ");
        let title = Some(words).filter(|words| !words.is_empty());
        questions.push(Question { logic, text: formula.to_string(), title });
    }
    if questions.is_empty() {
        return Err(Error::Usage(format!(
            "`{path}` holds no formula: write one a line, such as `AG EF ready`"
        )));
    }
    Ok(questions)
}

/// The logic that a formula is written in.
fn logic_of(formula: &str) -> Result<Logic, Error> {
    let spec = Specification::from_branching(formula)?;
    let has = |of: fn(Node) -> bool| spec.program.dag.nodes().iter().any(|&node| of(node));
    let temporal = has(|node| node.is_future() || node.is_past());
    Ok(if temporal && !has(Node::is_branching) { Logic::Linear } else { Logic::Branching })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_hold_one_formula_a_line() {
        let path = std::env::temp_dir().join(format!("questions-{}.ctl", std::process::id()));
        let text = "# about nothing\n\n// Is it\n// inevitable?\nAF done\nG F done\nSPEC done;\nltl: done\n\n  EF `F`\n";
        std::fs::write(&path, text).unwrap();
        let questions = questions_in(path.to_str().unwrap());
        std::fs::remove_file(&path).unwrap();
        let questions = questions.unwrap();
        let found: Vec<(&str, &str)> = questions.iter().map(|q| (q.logic.name(), q.text.as_str())).collect();
        let expected =
            [("ctl", "AF done"), ("ltl", "G F done"), ("ctl", "done"), ("ltl", "done"), ("ctl", "EF `F`")];
        assert_eq!(found, expected);
        assert_eq!(questions[0].title.as_deref(), Some("Is it inevitable?"));
        assert!(questions[1..].iter().all(|question| question.title.is_none()));
    }
}
