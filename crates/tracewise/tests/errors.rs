//! Errors are told apart by whose fault they are, and say what a program can act on.

use tracewise::check::{CheckOptions, Statistic};
use tracewise::error::{ErrorKind, Setting};
use tracewise::{Clock, Error, Evaluating, Session, Specification};

/// The error of a check of `formula` on a trace of ten positions.
fn check(formula: &str, evaluating: Evaluating, options: &CheckOptions) -> Error {
    let name = format!("tracewise-errors-{}-{:?}.props", std::process::id(), std::thread::current().id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, "a\nb\n".repeat(5)).unwrap();
    let spec = Specification::from_formula(formula).unwrap();
    let session = Session::new().evaluating(evaluating);
    let error = session.check(&spec, &[file.display().to_string()], options).unwrap_err();
    std::fs::remove_file(file).unwrap();
    error
}

#[test]
fn a_refusal_says_which_settings_and_what_instead() {
    let options = CheckOptions { statistic: Some(Statistic::Rejecting), ..CheckOptions::default() };
    let error = check("G a", Evaluating { clock: Clock::Dense, ..Evaluating::default() }, &options);
    assert_eq!(error.kind(), ErrorKind::Refused);
    let Error::Refused(refusal) = error else { panic!("{error}") };
    assert_eq!(refusal.what, [Setting::Statistic, Setting::Clock]);
    assert_eq!(refusal.why, "⟨statistic⟩ counts positions");
    assert_eq!(refusal.instead.as_deref(), Some("use ⟨clock: stamps⟩"));
}

#[test]
fn budgets_say_which_and_how_much() {
    let small = Evaluating { memory_budget: 1, ..Evaluating::default() };
    let error = check("G (a | b)", small, &CheckOptions::default());
    assert_eq!(error.kind(), ErrorKind::Budget);
    let Error::Budget(budget) = &error else { panic!("{error}") };
    assert_eq!((budget.setting, budget.allowed), (Setting::Memory, 1));
    assert!(budget.needed.is_some_and(|needed| needed > 1));
    assert_eq!(error.to_json()[0]["code"], "trace-limit");
    assert_eq!(error.to_json()[0]["trace"], budget.trace);
}

#[test]
fn others_are_told_apart() {
    let nowhere = Specification::from_file("nowhere.tw").unwrap_err();
    assert_eq!(nowhere.kind(), ErrorKind::Io);
    let Error::Io { error, .. } = &nowhere else { panic!("{nowhere}") };
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);

    let spec = Specification::from_formula("G a").unwrap();
    let gone = Session::new().check(&spec, &["gone.csv".to_string()], &CheckOptions::default());
    assert_eq!(gone.unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(Specification::from_formula("G (").unwrap_err().kind(), ErrorKind::Specification);
    assert_eq!(check("G x > 3", Evaluating::default(), &CheckOptions::default()).kind(), ErrorKind::Trace);

    let engine = |engine: &str| Evaluating { engine: engine.into(), ..Evaluating::default() };
    assert_eq!(check("G a", engine("steam"), &CheckOptions::default()).kind(), ErrorKind::Refused);
    let bug = Error::Internal("two and two".into());
    assert_eq!((bug.kind(), bug.to_string().contains("report it")), (ErrorKind::Internal, true));
}

#[test]
fn a_reading_can_be_stopped() {
    let progress = std::sync::Arc::new(tracewise::trace::Progress::default());
    progress.stop();
    let session = Session::new().progress(progress).text("t.props", b"a\nb\n".to_vec());
    let spec = Specification::from_formula("G a").unwrap();
    let error = session.check(&spec, &["t.props".to_string()], &CheckOptions::default()).unwrap_err();
    assert!(error.to_string().contains("interrupted"), "{error}");
}

#[test]
fn any_violation_is_explained() {
    let text = b"user,x\nann,1\nbob,7\nann,8\nbob,9\n".to_vec();
    let session = Session::new().text("t.csv", text);
    let explained = |formula: &str, by: Option<&str>, nth: usize| {
        let spec = Specification::from_formula(formula).unwrap();
        let options = CheckOptions { explained: nth, by: by.map(Into::into), ..CheckOptions::default() };
        let report = session.check(&spec, &["t.csv".to_string()], &options).unwrap();
        let step = report.properties[0].explanation.clone().unwrap();
        (step.from, step.formula)
    };
    let own = |at: usize, formula: &str| (at, formula.to_string());
    assert_eq!(explained("G x < 5", None, 0), own(0, "G x < 5"));
    assert_eq!(explained("G x < 5", None, 2), own(3, "x < 5"));
    assert_eq!(explained("G x < 5", Some("user"), 1), own(2, "x < 5"));
    // There are three: what is beyond them is the first.
    assert_eq!(explained("G x < 5", None, 3), own(0, "G x < 5"));
    assert_eq!(explained("F x > 8", Some("user"), 0), own(0, "F x > 8"));
}
