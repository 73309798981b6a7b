//! The library names settings by what they are; here they are flags.

use tracewise::diag::Diagnostic;
use tracewise::error::{Setting, spelled};
use tracewise::findings::{Report, Warning};

/// The flag of a setting.
fn flag(setting: Setting) -> String {
    match setting {
        Setting::Branching => "--ctl".into(),
        Setting::Ends => "--end-loops".into(),
        Setting::Memory => "--memory".into(),
        Setting::StateColumns => "--state".into(),
        Setting::StateSpecification => "--states".into(),
        Setting::Statistic => "--stat".into(),
        Setting::TimeUnit => "--time-unit".into(),
        other => format!("--{}", other.name().replace('_', "-")),
    }
}

/// A message of the library as users of the command read it.
pub fn flagged(text: &str) -> String {
    spelled(text, |setting, value| match value {
        Some(value) => format!("{} {value}", flag(setting)),
        None => flag(setting),
    })
}

/// The same of a finding.
pub fn in_diagnostic(mut found: Diagnostic) -> Diagnostic {
    found.message = flagged(&found.message);
    found.help = found.help.as_deref().map(flagged);
    found
}

/// The same of the warnings of a report.
pub fn in_warnings(report: &mut Report) {
    let items = report.items.iter_mut().flat_map(|item| &mut item.warnings);
    for warning in report.warnings.iter_mut().chain(items) {
        *warning = Warning::new(in_diagnostic(warning.diagnostic.clone()), &warning.sources);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::program;

    #[test]
    fn every_setting_is_a_flag_of_some_command() {
        let commands = program();
        let all: Vec<&clap::Command> = commands.get_subcommands().collect();
        let known = |flag: &str| {
            let long = flag.trim_start_matches("--");
            all.iter().any(|command| command.get_arguments().any(|arg| arg.get_long() == Some(long)))
        };
        for &setting in Setting::ALL {
            assert!(known(&flag(setting)), "{} of {setting}", flag(setting));
        }
        assert_eq!(flagged("leave out ⟨by⟩: use `⟨clock: stamps⟩`"), "leave out --by: use `--clock stamps`");
    }
}
