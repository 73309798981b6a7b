//! Formulas to be asked of a model, and the files that hold many.

use crate::{Error, Specification};
use tw_ir::Node;
use tw_model::Model;
use tw_model::formats::of_file;

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
    /// Where it stands, if in a file: the file, and line and column (from 1) of its first character.
    pub place: Option<(String, usize, usize)>,
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
        Self { logic, text: text.into(), title: None, place: None }
    }

    /// The formulas that stand in a model's file, of that name.
    pub fn of_model(model: &Model, path: &str) -> Vec<Question> {
        let logic = |linear| if linear { Logic::Linear } else { Logic::Branching };
        // Other formats pass on the formulas of models that were read from elsewhere, and their lines.
        let own = of_file(path).is_some_and(|format| format.name == "smv");
        let place = |line: u64| Some((path.to_string(), usize::try_from(line).ok()?, 1));
        model
            .specifications
            .iter()
            .map(|written| Question {
                place: place(written.line).filter(|_| own),
                ..Question::new(logic(written.linear), written.text.clone())
            })
            .collect()
    }

    /// The formula, read.
    pub(crate) fn specification(&self) -> Result<Specification, Error> {
        let branching = self.logic == Logic::Branching;
        match &self.place {
            Some((file, line, column)) => {
                Specification::from_line(file, (*line, *column), &self.text, branching)
            }
            None if branching => Specification::from_branching(&self.text),
            None => Specification::from_formula(&self.text),
        }
    }
}

/// The formulas of a file, one a line. Lines that begin with `//`, `--` or `#` are comments; those right above a
/// formula say what it asks. A formula may say its logic (`CTLSPEC`, `LTLSPEC`, `ctl:`, `ltl:`); otherwise it is of
/// branching time if it has a path quantifier, and of linear time if it has other temporal operators alone.
pub fn questions_in(path: &str) -> Result<Vec<Question>, Error> {
    let text = Specification::text_of(path)?;
    let mut questions = Vec::new();
    let mut comments: Vec<&str> = Vec::new();
    for (number, full) in text.lines().enumerate() {
        let line = full.trim();
        if let Some(comment) = ["//", "--", "#"].iter().find_map(|mark| line.strip_prefix(mark)) {
            comments.push(comment.trim());
            continue;
        }
        if line.is_empty() {
            comments.clear();
            continue;
        }
        let marked = MARKS.iter().find_map(|&(mark, logic)| Some((logic, line.strip_prefix(mark)?.trim())));
        let formula = marked.map_or(line, |(_, formula)| formula);
        let before = &full[..full.trim_end().len() - formula.len()];
        let column = before.chars().count() + 1;
        let formula = formula.strip_suffix(';').unwrap_or(formula).trim_end();
        let words = std::mem::take(&mut comments).join(" ");
        let mut question = Question {
            logic: marked.map_or(Logic::Branching, |(logic, _)| logic),
            text: formula.to_string(),
            title: Some(words).filter(|words| !words.is_empty()),
            place: Some((path.to_string(), number + 1, column)),
        };
        if marked.is_none() {
            question.logic = logic_of(&question)?;
        }
        questions.push(question);
    }
    if questions.is_empty() {
        return Err(Error::refused(format!(
            "`{path}` holds no formula: write one a line, such as `AG EF ready`"
        )));
    }
    Ok(questions)
}

/// The logic that a formula is written in, which was read as one of branching time.
fn logic_of(question: &Question) -> Result<Logic, Error> {
    let spec = question.specification()?;
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
        let places: Vec<(usize, usize)> = questions
            .iter()
            .filter_map(|question| question.place.as_ref().map(|&(_, line, column)| (line, column)))
            .collect();
        assert_eq!(places, [(5, 1), (6, 1), (7, 6), (8, 6), (10, 3)]);
    }

    fn first_place(error: &Error) -> (String, usize) {
        let Error::Specification { diagnostics, sources } = error else { panic!("{error:?}") };
        let (span, _) = diagnostics[0].labels[0];
        let source = sources.get(span.source);
        let before = &source.text[..span.start as usize];
        (source.name.clone(), before.matches('\n').count() + 1)
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        let path = std::env::temp_dir().join(format!("questions-wrong-{}.ctl", std::process::id()));
        let name = path.to_str().unwrap();
        let mut found = Vec::new();
        for text in ["AF done\n\n# Oh\nAG (\n", "AF done\nSPEC AG (\n"] {
            std::fs::write(&path, text).unwrap();
            let questions = questions_in(name);
            found.push(match questions {
                Err(error) => first_place(&error),
                // What says its logic is read when it is asked.
                Ok(questions) => first_place(&questions[1].specification().unwrap_err()),
            });
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(found, [(name.to_string(), 4), (name.to_string(), 2)]);
    }

    #[test]
    fn formulas_of_a_model_are_placed_in_its_file() {
        let written = tw_model::Written { linear: false, text: "AG (".into(), line: 7 };
        let model = Model { specifications: vec![written], ..Model::default() };
        let wrong = |path: &str| Question::of_model(&model, path)[0].specification().unwrap_err();
        assert_eq!(first_place(&wrong("a.smv")), ("a.smv".into(), 7));
        assert_eq!(first_place(&wrong("a.json")), ("<formula>".into(), 1));
    }
}
