//! How a log is cut, as a thing of its own: for runners that hold the log elsewhere, in other processes or on other machines.
//!
//! A [`Plan`] is made of a specification alone and travels as JSON. Who holds a part of the log asks which slices need which of its
//! positions ([`Session::slices_of`]), brings those of a slice together in the order of the log and evaluates them
//! ([`Session::check_slice`]); what the slices say ([`Partial`], bytes) is put together ([`Session::check_together`]).

use super::partial::{self, Partial};
use super::{Slicing, decide, refuse};
use crate::check::{CheckOptions, CheckReport};
use crate::error::Setting;
use crate::plan::restrict;
use crate::run::columns::{self, Need};
use crate::{Error, Session, Specification};
use serde_json::{Value as Json, json};
use std::borrow::Cow;
use tw_ir::{Clock, Measure, Node, NodeId, Program, Root, RootKind, What};
use tw_log_slices::{Division, Shard, buckets_of, needed_by};
use tw_monitor::Wanted;

/// What a plan begins with.
const KIND: &str = "plan";

/// How a log is cut into slices, by the values of variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many slices there are; their numbers begin at 0.
    pub slices: u32,
    /// What intervals measure: it decides which positions may be left out.
    clock: Clock,
    properties: Vec<Planned>,
}

/// How the slices of a property are made.
#[derive(Clone, Debug, PartialEq)]
struct Planned {
    name: String,
    /// The variables, by their names.
    on: Vec<(String, Division)>,
    filter: bool,
    collapse: bool,
}

impl Plan {
    /// The variables that a property is sliced on.
    pub fn variables(&self, property: &str) -> Vec<&str> {
        let own = self.properties.iter().find(|own| own.name == property);
        own.iter().flat_map(|own| own.on.iter().map(|(name, _)| name.as_str())).collect()
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        let division = |(name, own): &(String, Division)| {
            let Division { salt, of, .. } = own;
            json!({"variable": name, "salt": salt, "of": of})
        };
        let property = |own: &Planned| {
            let on: Vec<Json> = own.on.iter().map(division).collect();
            json!({"property": own.name, "on": on, "without_empty": own.filter, "as_one": own.collapse})
        };
        let clock = Clock::ALL.iter().find(|(_, clock)| *clock == self.clock).map(|(name, _)| *name);
        let properties: Vec<Json> = self.properties.iter().map(property).collect();
        json!({"tracewise": KIND, "version": 1, "slices": self.slices, "clock": clock, "properties": properties})
            .to_string()
    }

    /// Reads back what [`Plan::to_json`] wrote.
    pub fn from_json(text: &str) -> Result<Plan, Error> {
        let bad = |what: &str| Error::refused(format!("this is no plan of slices: {what}"));
        let json: Json = serde_json::from_str(text).map_err(|error| bad(&error.to_string()))?;
        if json["tracewise"] != KIND || json["version"] != 1 {
            return Err(bad("it does not begin as one"));
        }
        let number = |json: &Json| json.as_u64().and_then(|number| u32::try_from(number).ok());
        let division = |json: &Json| {
            let (salt, of) = (number(&json["salt"])?, number(&json["of"]).filter(|of| *of > 0)?);
            Some((json["variable"].as_str()?.to_string(), Division { variable: 0, salt, of }))
        };
        let property = |json: &Json| {
            let on = json["on"].as_array()?.iter().map(division).collect::<Option<_>>()?;
            let (filter, collapse) = (json["without_empty"].as_bool()?, json["as_one"].as_bool()?);
            Some(Planned { name: json["property"].as_str()?.into(), on, filter, collapse })
        };
        let read = || {
            let properties: Vec<_> =
                json["properties"].as_array()?.iter().map(property).collect::<Option<_>>()?;
            let clock =
                Clock::ALL.iter().find(|(name, _)| json["clock"] == *name).map(|(_, clock)| *clock)?;
            let slices = number(&json["slices"]).filter(|slices| *slices > 0)?;
            let product = |own: &Planned| own.on.iter().map(|(_, own)| u64::from(own.of)).product::<u64>();
            let fits = properties.iter().all(|own| product(own) == u64::from(slices));
            fits.then_some(Plan { slices, clock, properties })
        };
        read().ok_or_else(|| bad("something is missing, or does not fit the number of slices"))
    }

    /// The divisions of a property, with the numbers that its variables have.
    fn divisions(&self, program: &Program, root: &Root) -> Result<(Vec<Division>, &Planned), Error> {
        let other = || Error::refused(format!("the plan is not made for `{}`", root.name));
        let own = self.properties.iter().find(|own| own.name == root.name).ok_or_else(other)?;
        let (outer, _) = program.invariant(root.node).ok_or_else(other)?;
        let one = |(name, division): &(String, Division)| {
            let variable = outer.iter().find(|own| program.dag.variables[**own as usize] == *name)?;
            Some(Division { variable: *variable, ..*division })
        };
        let found = own.on.iter().map(one).collect::<Option<_>>().ok_or_else(other)?;
        Ok((found, own))
    }
}

/// A part that says of a position what rows before and after it say, if there is one.
pub(crate) fn derived(spec: &Specification) -> Option<NodeId> {
    let program = &spec.program;
    let roots: Vec<_> = program.roots.iter().map(|root| root.node).collect();
    let derived = |node: Node| match node {
        Node::Slot(slot) | Node::Truth(slot) => match &program.slots[slot as usize].what {
            What::Stream { .. } | What::Shift(_) | What::Window(_) => true,
            What::Timing(timing) => timing.measure == Measure::Elapsed,
            _ => false,
        },
        _ => false,
    };
    program.reachable(&roots).into_iter().find(|id| derived(program.dag.node(*id)))
}

/// What is derived is lost where the other rows are elsewhere.
pub(super) fn refuse_derived(spec: &Specification) -> Result<(), Error> {
    match derived(spec) {
        Some(node) => Err(Error::refused(format!(
            "`{}` is computed from other positions, some of which slices lack: slice the log where it is read, as a whole",
            spec.words(node)
        ))),
        None => Ok(()),
    }
}

/// Properties that are judged slice by slice: monitors and requirements are refused, for left out in silence they would seem to hold.
pub(super) fn properties(spec: &Specification) -> Result<Cow<'_, Specification>, Error> {
    let roots = spec.program.roots.iter().filter(|root| root.kind == RootKind::Property);
    let names: Vec<String> = roots.map(|root| Setting::Only.to(&root.name)).collect();
    let (monitors, requirement) = match names.is_empty() {
        true => ("they are not sliced; `G φ` is".to_string(), "check it on the whole log".to_string()),
        false => {
            let others = format!("name the properties: {}", names.join(" "));
            (format!("they are not sliced; {others}"), others)
        }
    };
    crate::monitors::refuse(spec, &monitors)?;
    if let Some(own) = spec.program.requirements.first() {
        let why = format!("`{}` is a requirement, which is not sliced", own.root.name);
        return Err(Error::refused_instead(why, requirement));
    }
    let spec = spec.properties()?;
    refuse_derived(&spec)?;
    Ok(spec)
}

impl Session {
    /// How a log would be cut into slices for a specification, before it is read: by values of outer variables. Time slices need the
    /// log; a specification with a property that has no variable to slice on is refused.
    pub fn plan_slices(&self, spec: &Specification, slicing: &Slicing) -> Result<Plan, Error> {
        let counted = spec.counted_in(self.read.unit);
        let spec = properties(&counted)?;
        let options = self.evaluate_options();
        refuse(&options, slicing)?;
        if slicing.period.is_some() {
            return Err(Error::refused_instead(
                "time slices are made of a log that is at hand",
                format!("leave out {}", Setting::Period),
            ));
        }
        let mut planned = Vec::new();
        for root in &spec.program.roots {
            let alone = spec.with_roots(vec![root.clone()]);
            let way = decide(&alone, None, &options, slicing)
                .map_err(|reason| Error::refused(format!("`{}` is not sliced: {reason}", root.name)))?;
            let name = |own: &Division| (spec.program.dag.variables[own.variable as usize].clone(), *own);
            let on: Vec<_> = way
                .divisions
                .iter()
                .map(name)
                .map(|(name, own)| (name, Division { variable: 0, ..own }))
                .collect();
            if on.is_empty() && slicing.slices > 1 {
                return Err(Error::refused(format!(
                    "`{}` is not sliced: it has no outer variable that something binds, and time slices are made of a log that is at hand",
                    root.name
                )));
            }
            let (name, filter, collapse) = (root.name.clone(), way.filter, way.collapse);
            planned.push(Planned { name, on, filter, collapse });
        }
        let slices = u32::try_from(slicing.slices).map_err(|_| {
            Error::refused(format!("{}: these are too many", Setting::Slices.to(slicing.slices)))
        })?;
        Ok(Plan { slices, clock: options.clock, properties: planned })
    }

    /// The slices that need the positions of a part of a log: pairs of a position of the part and a slice, ascending.
    pub fn slices_of(
        &self,
        spec: &Specification,
        plan: &Plan,
        files: &[String],
    ) -> Result<Vec<(u64, u32)>, Error> {
        let counted = spec.counted_in(self.read.unit);
        let spec = properties(&counted)?;
        // What happens at a position decides, and not when: parts may come in any order.
        let session = self.clone().clock(Clock::Index);
        let program = &spec.program;
        let leaves = program.atoms().into_iter().chain(program.patterns());
        let bare = spec.with_roots(leaves.map(|node| spec.unnamed(node, RootKind::Property)).collect());
        let wanted = Wanted { relations: true, ..Wanted::ATOMS };
        let loaded = columns::read(&session, &bare, files, Need { wanted, ..Need::default() }, None, None)?;
        let mut found: Vec<(u64, u32)> = Vec::new();
        for root in &program.roots {
            let (divisions, planned) = plan.divisions(program, root)?;
            let alone = spec.with_roots(vec![root.clone()]);
            let trace = restrict(&loaded.trace, &bare.program, &alone.program);
            let orders = needed_by(&alone.program, &trace, &divisions, planned.filter);
            let one = |(slice, order): (usize, Vec<u32>)| {
                order.into_iter().map(move |at| (u64::from(at), slice as u32))
            };
            found.extend(orders.into_iter().enumerate().flat_map(one));
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Evaluates one slice: `files` are its positions in the order of the log, `positions` where each is in the log. At most as many
    /// violations are kept as the options list.
    pub fn check_slice(
        &self,
        spec: &Specification,
        plan: &Plan,
        slice: u32,
        (files, positions): (&[String], &[u64]),
        options: &CheckOptions,
    ) -> Result<Partial, Error> {
        let counted = spec.counted_in(self.read.unit);
        let spec = properties(&counted)?;
        if options.by.is_some() {
            return Err(Error::refused(format!(
                "slices are made of the values of variables: leave out {}",
                Setting::By
            )));
        }
        if slice >= plan.slices {
            return Err(Error::refused(format!("there is no slice {slice}: the plan has {}", plan.slices)));
        }
        let own = |root: &Root| {
            let (divisions, planned) = plan.divisions(&spec.program, root)?;
            let shard = Shard { buckets: buckets_of(slice, &divisions), positions: None };
            Ok(Some((shard, planned.collapse)))
        };
        // Without intervals the clock measures nothing.
        let timed = crate::run::clock::needs_times(self, &spec);
        let clock = timed.then_some(plan.clock);
        partial::evaluate(self, &spec, (slice, files), (positions, clock), &own, options)
    }

    /// The report of a log of so many positions from what its slices say; of one that needs no position nothing need be said.
    pub fn check_together(
        &self,
        spec: &Specification,
        partials: Vec<Partial>,
        (trace, positions): (&str, u64),
        options: &CheckOptions,
    ) -> Result<CheckReport, Error> {
        let counted = spec.counted_in(self.read.unit);
        let spec = properties(&counted)?;
        partial::together(self, &spec, partials, (trace.to_string(), positions), options)
    }
}
