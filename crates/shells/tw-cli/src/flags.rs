//! The library names settings by what they are; here they are flags.

use tracewise::error::{Setting, spelled};

/// The flag of a setting.
pub fn flag(setting: Setting) -> String {
    match setting {
        Setting::Branching => "--ctl".into(),
        Setting::Ends => "--end-loops".into(),
        Setting::Memory => "--memory".into(),
        Setting::StateBudget | Setting::StateSpecification => "--states".into(),
        Setting::StateColumns => "--state".into(),
        Setting::Statistic => "--stat".into(),
        Setting::TimeUnit => "--time-unit".into(),
        other => format!("--{}", other.name().replace('_', "-")),
    }
}

/// A message of the library as users of the command read it.
pub fn flagged(text: &str) -> String {
    spelled(text, |setting, value| match value {
        Some(value) => format!("{} {}", flag(setting), pasted(value)),
        None => flag(setting),
    })
}

/// A value as it is pasted into a command: one word, whatever blanks are in it.
fn pasted(value: &str) -> String {
    match value.contains(' ') && !value.starts_with('\'') {
        true => format!("'{value}'"),
        false => value.to_string(),
    }
}
