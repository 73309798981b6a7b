//! `tracewise model-check`: does a model satisfy a formula, and which path shows it.

mod text;

use super::Runnable;
use crate::context::{Context, Failure, Outcome};
use crate::exit::Exit;
use crate::options::{FILES, limit};
use crate::progress::Progress;
use crate::report::{self, FormArgs, Reporter};
use clap::Args;
use std::time::Instant;
use tracewise::Session;
use tracewise::diag::Diagnostic;
use tracewise::findings::{Report, Warning};
use tracewise::model::{
    Logic, Model, ModelOptions, Question, questions_in, read_model, read_model_for, write_model,
};

/// Check formulas on a model: CTL, LTL, how likely they are
///
/// A formula holds when every initial state satisfies it (LTL: every path from one). Names are variables of the model
/// or values of them: `state = s1`, `s1`, `time < 100`. The path that shows the answer is printed with the trace and line of
/// every step, and with whether one trace went all along it. Models come from `tracewise merge`, or are `.smv` files.
#[derive(Args, Debug)]
#[command(
    name = "model-check",
    after_help = "Exit codes: 0 all formulas hold, 1 one does not, 2 bad usage or input."
)]
pub struct ModelCheck {
    /// The model (.json, .smv)
    #[arg(value_name = "MODEL", value_hint = FILES)]
    model: String,

    #[command(flatten)]
    formulas: FormulaArgs,

    /// Write the model in another format: .json, .smv, .dot, .svg, .pml, .prism or .aut (may be repeated); without
    /// formulas, that is all
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = FILES)]
    out: Vec<String>,

    #[command(flatten)]
    form: FormArgs,
}

/// What is asked of a model.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Formulas")]
pub struct FormulaArgs {
    /// A formula of branching time: AX EX AF EF AG EG, A[φ U ψ], E[φ U ψ], and CTL* (may be repeated)
    #[arg(long, value_name = "FORMULA")]
    pub ctl: Vec<String>,

    /// A formula of linear time, past included: G (request -> F reply) (may be repeated)
    #[arg(long, value_name = "FORMULA")]
    pub ltl: Vec<String>,

    /// A file of formulas, one a line; comments above a formula say what it asks
    #[arg(long, value_name = "FILE", value_hint = FILES)]
    pub spec: Vec<String>,

    /// Only paths count on which this holds again and again (may be repeated)
    #[arg(long, value_name = "FORMULA")]
    pub fair: Vec<String>,

    /// Leave out transitions seen less often than this
    #[arg(long, value_name = "N", default_value = "1")]
    pub min_count: u64,

    /// Also how likely each formula is, going by how often each transition was seen
    #[arg(long)]
    pub probability: bool,

    /// Steps of a path to list: a number, or all
    #[arg(long, value_name = "N", default_value = "20", value_parser = limit)]
    pub steps: usize,
}

impl FormulaArgs {
    /// Whether anything is asked.
    pub fn any(&self) -> bool {
        !(self.ctl.is_empty() && self.ltl.is_empty() && self.spec.is_empty())
    }

    /// The texts that name all that formulas are about. A file that cannot be read is told of when it is asked.
    fn texts(&self) -> Vec<String> {
        let mut texts = [self.ctl.as_slice(), &self.ltl, &self.fair].concat();
        texts.extend(self.spec.iter().filter_map(|file| std::fs::read_to_string(file).ok()));
        texts
    }

    /// The formulas: those given or, if none is, the model's own.
    fn questions(&self, model: &Model, name: &str) -> Result<Vec<Question>, Failure> {
        let of = |logic| move |text: &String| Question::new(logic, text.clone());
        let mut questions: Vec<Question> = self.ctl.iter().map(of(Logic::Branching)).collect();
        questions.extend(self.ltl.iter().map(of(Logic::Linear)));
        for file in &self.spec {
            questions.extend(questions_in(file)?);
        }
        if questions.is_empty() {
            questions = Question::of_model(model, name);
        }
        if questions.is_empty() {
            return Err(crate::context::usage(
                "there is no formula: give one with --ctl 'AG EF p' or --ltl 'G F p', or many with --spec FILE",
            ));
        }
        Ok(questions)
    }

    /// Asks a model, and tells the answers, and what `also` is to be said about the run.
    pub fn ask(
        &self,
        session: &Session,
        name: &str,
        model: &Model,
        also: &[Warning],
        reporter: &mut dyn Reporter,
        context: &mut Context,
    ) -> Outcome {
        let questions = self.questions(model, name)?;
        let options = ModelOptions {
            fairness: self.fair.clone(),
            min_count: self.min_count,
            probability: self.probability,
            origins: !context.quiet,
        };
        let started = Instant::now();
        let report = {
            let _progress = Progress::start(context.quiet, format!("checking {name}"), None);
            session.model_check(model, &questions, &options)?
        };
        let mut report = Report::of_model(report, model, name, &questions, started.elapsed());
        let new = also.iter().filter(|warning| !report.warnings.contains(warning));
        let new: Vec<Warning> = new.cloned().collect();
        report.warnings.splice(0..0, new);
        context.report_warnings(&report);
        if !context.quiet {
            reporter.report(&report, &mut context.out)?;
        }
        Ok(if report.violated().next().is_none() { Exit::Holds } else { Exit::Violated })
    }

    /// The writer of text for the answers.
    pub fn text(&self, context: &Context) -> text::Text {
        text::Text { steps: self.steps, style: context.style }
    }
}

impl Runnable for ModelCheck {
    fn run(self, context: &mut Context) -> Outcome {
        let text = self.formulas.text(context);
        report::with(&self.form.output, text, context, |reporter, context| self.check(reporter, context))
    }
}

impl ModelCheck {
    fn check(&self, reporter: &mut dyn Reporter, context: &mut Context) -> Outcome {
        let (model, left_out) = {
            let _progress = Progress::start(context.quiet, format!("reading {}", self.model), None);
            match self.out.as_slice() {
                [] => read_model_for(&self.model, &self.formulas.texts())?,
                // What is written is all of it.
                _ => (read_model(&self.model)?, Vec::new()),
            }
        };
        for path in &self.out {
            let rare = self.formulas.min_count > 1;
            let few = rare.then(|| model.without_rare(self.formulas.min_count));
            write_model(few.as_ref().unwrap_or(&model), path)?;
        }
        if !self.out.is_empty() && !self.formulas.any() {
            return Ok(Exit::Holds);
        }
        let also: Vec<Warning> = left_out_warning(&left_out).into_iter().collect();
        self.formulas.ask(&Session::new(), &self.model, &model, &also, reporter, context)
    }
}

/// That variables were left out.
fn left_out_warning(left_out: &[String]) -> Option<Warning> {
    let (first, last) = (left_out.first()?, left_out.last()?);
    let message = format!(
        "{} variables are left out, from `{first}` to `{last}`: nothing in the model or in the formulas names them",
        left_out.len()
    );
    let found = Diagnostic::warning("free-variables", message);
    Some(Warning::new(found, &std::sync::Arc::default()))
}
