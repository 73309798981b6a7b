//! Whether and how a property is sliced.

use super::{Filter, Slicing};
use crate::Specification;
use crate::error::Setting;
use tw_core::{Position, TimeUnit};
use tw_ir::{Bound, Clock, Interval, IntervalError};
use tw_log_slices::{Analysis, Apart, Candidate, Division, periods, stretches};
use tw_monitor::{EvaluateOptions, Trace};

/// How a property is sliced.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// The variables, each with so many buckets.
    pub divisions: Vec<Division>,
    /// The time slices' own positions; one is the whole log.
    pub ranges: Vec<(Position, Position)>,
    /// Whether empty positions are left out.
    pub filter: bool,
    /// Whether positions with equal timestamps are evaluated as one.
    pub collapse: bool,
    /// Whether a slice finds nothing but what it may report.
    pub exact: bool,
    /// Whether it looks so far only that time slices are possible.
    pub bounded: bool,
}

/// How the only property of a specification is sliced, or why not.
pub(crate) fn decide(
    alone: &Specification,
    trace: Option<&Trace>,
    options: &EvaluateOptions,
    slicing: &Slicing,
) -> Result<Way, String> {
    let program = &alone.program;
    let Some(root) = program.roots.first() else { return Err("there is no property".into()) };
    let analysis = Analysis::new(program, root.node, options).ok_or_else(|| {
        "only `G φ`, also under outer `forall`s, is violated at positions that can be divided".to_string()
    })?;
    let chosen: Vec<&Candidate> = match slicing.on.as_slice() {
        [] => analysis.choose(program, trace).into_iter().collect(),
        names => names.iter().map(|name| named(alone, &analysis, name)).collect::<Result<_, _>>()?,
    };
    let bounded = analysis.unbounded.is_none();
    let far = || analysis.unbounded.map_or(String::new(), |node| alone.words(node));
    let len = trace.map_or(0, |trace| trace.len);
    let whole = vec![(0, len)];
    let ranges = match (&slicing.period, trace) {
        (Some(_), _) if !bounded => {
            return Err(format!("`{}` looks at all of the log, so it has no slices in time", far()));
        }
        (Some(text), Some(trace)) => periods(trace, options.clock, length(text, options)?),
        (Some(text), None) => {
            length(text, options)?;
            whole
        }
        (None, _) if !chosen.is_empty() => whole,
        (None, _) if bounded => stretches(len, slicing.slices),
        (None, _) => return Err(nothing(alone, &analysis, &far())),
    };
    let by_data = !chosen.is_empty() && (slicing.slices > 1 || !slicing.on.is_empty());
    let of = if by_data { factors(slicing.slices, chosen.len()) } else { Vec::new() };
    let divisions: Vec<Division> =
        chosen.iter().zip(&of).map(|(own, &of)| Division { variable: own.variable, salt: 0, of }).collect();
    let filter = match slicing.filter {
        Filter::Off => false,
        Filter::Auto => analysis.filterable && by_data,
        Filter::On if analysis.filterable => true,
        Filter::On => {
            return Err(format!(
                "it can tell positions at which nothing happens, so they cannot be left out ({})",
                Setting::FilterEmpty.to("on")
            ));
        }
    };
    if let (true, Err(apart)) = (slicing.collapse, analysis.collapsible) {
        return Err(together(alone, apart));
    }
    let exact = ranges.len() <= 1 && (!by_data || chosen.iter().all(|own| own.exact));
    Ok(Way { divisions, ranges, filter, collapse: slicing.collapse, exact, bounded })
}

/// The variable of a name.
fn named<'a>(alone: &Specification, analysis: &'a Analysis, name: &str) -> Result<&'a Candidate, String> {
    let of = |candidate: &&Candidate| alone.program.dag.variables[candidate.variable as usize] == name;
    match analysis.variables.iter().find(of) {
        Some(own) if own.guard.is_some() => Ok(own),
        Some(_) => Err(format!(
            "nothing binds `{name}` where it is violated: infinitely many values may violate it, which are in no slice"
        )),
        None => {
            let quoted =
                |own: &Candidate| format!("`{}`", alone.program.dag.variables[own.variable as usize]);
            let known: Vec<String> = analysis.variables.iter().map(quoted).collect();
            Err(match known.as_slice() {
                [] => format!("it has no outer variable `{name}`, and no other"),
                some => format!("it has no outer variable `{name}`; it has {}", some.join(", ")),
            })
        }
    }
}

/// Why positions with equal timestamps are not one.
fn together(alone: &Specification, apart: Apart) -> String {
    let why = match apart {
        Apart::Counted => "there are no timestamps, or they are not what intervals measure".to_string(),
        Apart::Repeated => "which position is last, and taken to be repeated, would change".to_string(),
        Apart::Part(node) => format!(
            "`{}` can tell them apart (`O[0,0] F[0,0] φ` and `F[0,0] O[0,0] φ` look at all of a moment)",
            alone.words(node)
        ),
    };
    format!("its positions with equal timestamps cannot be evaluated as one: {why}")
}

/// Why there is nothing to slice by.
fn nothing(alone: &Specification, analysis: &Analysis, far: &str) -> String {
    let names: Vec<String> = analysis
        .variables
        .iter()
        .map(|own| format!("`{}`", alone.program.dag.variables[own.variable as usize]))
        .collect();
    let variables = match names.as_slice() {
        [] => "it has no outer variables".to_string(),
        names => format!("nothing binds {} where it is violated", names.join(", ")),
    };
    format!("{variables}, and `{far}` looks at all of the log")
}

/// So many slices as a product of so many factors, near to one another.
fn factors(slices: usize, count: usize) -> Vec<u32> {
    let (mut rest, mut found) = (slices.clamp(1, u32::MAX as usize), Vec::new());
    for left in (1..=count).rev() {
        let wanted = (rest as f64).powf(1.0 / left as f64).round() as usize;
        let own = if left == 1 {
            rest
        } else {
            (1..=wanted).rev().find(|own| rest.is_multiple_of(*own)).unwrap_or(1)
        };
        found.push(own as u32);
        rest /= own;
    }
    found
}

/// A period in ticks of the clock.
fn length(text: &str, options: &EvaluateOptions) -> Result<i64, String> {
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let unit = match suffix {
        "" => None,
        name => Some(TimeUnit::parse(name).ok_or_else(|| format!("`{name}` is no unit (ns us ms s m h d)"))?),
    };
    let billionths = TimeUnit::Seconds.parse_number(number.trim()).map_err(|error| {
        format!("{}: {error}; write 7d, 12h, or a number in the trace's unit", Setting::Period.to(text))
    })?;
    let bound = Bound { billionths: i128::from(billionths), unit, open: false };
    let ticks = Interval { low: bound, high: Some(bound) }.ticks(options.clock, options.unit);
    match ticks {
        Ok(ticks) if ticks.low > 0 => Ok(ticks.low),
        Err(IntervalError::UnitWithoutTime) if options.clock == Clock::Index => {
            Err(format!("{}: there are no timestamps, so periods count positions", Setting::Period.to(text)))
        }
        Err(error) => Err(format!("{}: {error}", Setting::Period.to(text))),
        Ok(_) => Err(format!("{}: a period is longer than nothing", Setting::Period.to(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_a_product() {
        assert_eq!(factors(12, 2), [3, 4]);
        assert_eq!(factors(16, 2), [4, 4]);
        assert_eq!(factors(7, 2), [1, 7]);
        assert_eq!(factors(24, 3), [3, 2, 4]);
        assert_eq!((factors(5, 1), factors(5, 0)), (vec![5], vec![]));
    }

    #[test]
    fn periods_have_units() {
        let options = EvaluateOptions::default();
        assert_eq!(length("7d", &options), Ok(7 * 86_400_000_000_000));
        assert_eq!(length("0.5", &options), Ok(500_000_000));
        for bad in ["", "d", "0s", "-1s", "3 weeks"] {
            assert!(length(bad, &options).is_err(), "{bad}");
        }
        let counted = EvaluateOptions { clock: Clock::Index, ..options };
        assert_eq!(length("100", &counted), Ok(100));
        assert!(length("7d", &counted).is_err());
    }
}
