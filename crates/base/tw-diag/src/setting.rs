//! Settings as messages name them: by what they are, so that each shell spells them as its users write them. Messages of
//! crates that do not know this one hold the same marks as text; a test of `tw-testkit` compares them with this table.

use std::fmt;

macro_rules! settings {
    ($($variant:ident $name:literal $doc:literal),* $(,)?) => {
        /// What a caller may set. In messages a setting stands in angle brackets, `⟨clock⟩` or `⟨clock: dense⟩`; a shell
        /// with options of its own puts those in its place ([`spelled`]), one without them writes it [`plain`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Setting {
            $(#[doc = $doc] $variant,)*
        }

        impl Setting {
            /// Every setting.
            pub const ALL: &'static [Setting] = &[$(Setting::$variant),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Setting::$variant => $name,)*
                }
            }
        }
    };
}

settings! {
    Automaton "automaton" "Which automaton is drawn.",
    Branching "branching" "Questions of branching time.",
    By "by" "The column that divides a trace.",
    Checkpoint "checkpoint" "Where a watch keeps its state.",
    Clock "clock" "What intervals measure.",
    Concat "concat" "Several files as one trace.",
    Connections "connections" "How many connections a socket serves at once.",
    Continuation "continuation" "What lines without a timestamp are, where others have one.",
    CsvGuard "csv_guard" "An apostrophe before texts that spreadsheets read as formulas.",
    Cycles "cycles" "Cycles of locks that a search looks at.",
    Delimiter "delimiter" "What stands between the cells of a table.",
    EachPosition "each_position" "Verdicts about every position.",
    Ends "ends" "What paths do where traces end.",
    Engine "engine" "The engine.",
    Event "event" "The column of event names.",
    First "first" "The first violation alone.",
    Format "format" "The format of traces.",
    From "from" "The language of another monitor's specification.",
    Heartbeat "heartbeat" "When time goes on with the wall clock.",
    FilterEmpty "filter_empty" "Whether positions at which nothing happens are left out of slices.",
    FromEnd "from_end" "A file that grows is read from its present end on.",
    Help "help" "What a caller who asks for it is told of the others.",
    Idle "idle" "When a value of which nothing comes has ended.",
    Interpolate "interpolate" "What signals do between samples.",
    Keep "keep" "What two moments share to be one state.",
    LastLine "last_line" "A line that its connection leaves open is read.",
    Live "live" "A trace read as a stream.",
    Memory "memory_budget" "Bytes that columns and engine may take.",
    Null "null" "The text that stands for nothing.",
    Observers "observers" "What can be said at once about every position.",
    Map "map" "The columns that the events of charts are read from.",
    Only "only" "The properties and queries that are asked.",
    Period "period" "The time between two samples.",
    Semantics "semantics" "How the end of the trace is read.",
    SkipBadLines "skip_bad_lines" "Lines that cannot be read are left out.",
    SliceOn "slice_on" "The variables whose values divide a log into slices.",
    Slices "slices" "How many slices a log is cut into.",
    Sort "sort" "How far out of order timestamps may be.",
    StateBudget "state_budget" "States that an engine may take.",
    StateColumns "state_columns" "The columns that states are made of.",
    StateSpecification "state_specification" "The file that says what states are.",
    Statistic "statistic" "What is computed beside each verdict.",
    Time "time" "The column of timestamps.",
    TimeFormat "time_format" "How timestamps are written.",
    TimeUnit "unit" "The unit of timestamps.",
    Timed "timed" "Whether events end in a timestamp.",
    To "to" "The format to write.",
    Until "until" "What ends the trace of a value.",
    ValuesEvery "values_every" "How often values are told.",
    Watermark "watermark" "Lines that say how far time has come.",
    Workers "workers" "Processes that evaluate slices.",
    Year "year" "The year of the first timestamp that is written without one.",
}

impl Setting {
    /// With this value, in a message.
    pub fn to(self, value: impl fmt::Display) -> String {
        format!("⟨{}: {value}⟩", self.name())
    }

    /// The settings that a message names, each once.
    pub fn named_in(text: &str) -> Vec<Setting> {
        let mut found = Vec::new();
        spelled(text, |setting, _| {
            if !found.contains(&setting) {
                found.push(setting);
            }
            String::new()
        });
        found
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "⟨{}⟩", self.name())
    }
}

/// A message with every setting in it as `spell` writes it, given the value it is named with.
pub fn spelled(text: &str, mut spell: impl FnMut(Setting, Option<&str>) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('⟨') {
        let inside = &rest[open + '⟨'.len_utf8()..];
        let named = inside.find('⟩').and_then(|close| {
            let (name, value) = match inside[..close].split_once(": ") {
                Some((name, value)) => (name, Some(value)),
                None => (&inside[..close], None),
            };
            let setting = Setting::ALL.iter().find(|setting| setting.name() == name)?;
            Some((spell(*setting, value), close + '⟩'.len_utf8()))
        });
        // Brackets around anything else are the user's own.
        let (text, taken) = named.unwrap_or_else(|| ("⟨".to_string(), 0));
        out.push_str(&rest[..open]);
        out.push_str(&text);
        rest = &inside[taken..];
    }
    out.push_str(rest);
    out
}

/// A message for readers who set nothing by name: `clock = dense`, `by`.
pub fn plain(text: &str) -> String {
    spelled(text, |setting, value| match value {
        Some(value) => format!("{} = {value}", setting.name()),
        None => setting.name().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_spelled_and_nothing_else_is() {
        let text = format!("leave out {}, or use `{}`", Setting::By, Setting::Clock.to("stamps"));
        assert_eq!(text, "leave out ⟨by⟩, or use `⟨clock: stamps⟩`");
        let flags = spelled(&text, |setting, value| {
            format!("/{}{}", setting.name(), value.map_or(String::new(), |value| format!(" {value}")))
        });
        assert_eq!(flags, "leave out /by, or use `/clock stamps`");
        assert_eq!(plain(&text), "leave out by, or use `clock = stamps`");
        assert_eq!(Setting::named_in(&text), [Setting::By, Setting::Clock]);
        for own in ["⟨", "⟩⟨", "⟨bye⟩", "⟨clock : x⟩ and ⟨by", "a ⟨⟩ b"] {
            assert_eq!(spelled(own, |_, _| "!".into()), own);
        }
        assert_eq!(spelled("⟨⟨by⟩⟩", |_, _| "!".into()), "⟨!⟩");
    }
}
