//! What can be judged on a part of the events: those whose field has some of its values.
//!
//! Servers that share a stream each see the events of some values of a field, all of them and in their order. A property can be judged there
//! if what it says of a value is said by the events with that value alone.

use super::plan::refuse_derived;
use crate::{Session, Specification};
use tw_ir::{ArgumentKey, Bound, Clock, Node, NodeId, PatternArgument, Program, RootKind};
use tw_log_slices::Analysis;
use tw_monitor::EvaluateOptions;

impl Session {
    /// Which properties, queries, requirements and monitors of a specification can be judged where only the events of some values of a field
    /// are seen, and why the others cannot: what they find together is what is found where all events are seen.
    pub fn divisible_by(&self, spec: &Specification, field: &str) -> Vec<(String, Result<(), String>)> {
        let by = spec.settings.by.as_deref();
        let program = &spec.program;
        let mut all = Vec::new();
        for root in &program.roots {
            let verdict = match (by, root.kind) {
                (Some(own), _) => traces(own, field),
                (None, RootKind::Query) => Err("its value is one over all events".to_string()),
                (None, RootKind::Property) => self.divisible(&spec.with_roots(vec![root.clone()]), field),
            };
            all.push((root.name.clone(), verdict));
        }
        let required =
            program.requirements.iter().map(|own| (&own.root.name, "it is a requirement, over all events"));
        let monitors = program.monitors.iter().map(|own| (&own.name, "its events are seen together"));
        for (name, why) in required.chain(monitors) {
            all.push((name.clone(), by.map_or(Err(why.to_string()), |own| traces(own, field))));
        }
        all
    }

    fn divisible(&self, alone: &Specification, field: &str) -> Result<(), String> {
        let program = &alone.program;
        let Some(root) = program.roots.first() else { return Ok(()) };
        refuse_derived(alone).map_err(|error| error.to_string())?;
        let (outer, body) = program
            .invariant(root.node)
            .ok_or("only `G φ`, also under outer `forall`s, is violated at positions that can be divided")?;
        let nodes = program.reachable(&[body]);
        let node = |id: &NodeId| program.dag.node(*id);
        // What is said of one position alone is the same wherever that is.
        let present = |node: Node| {
            node.temporal().is_none() && !matches!(node, Node::First | Node::Last | Node::Chart(..))
        };
        if nodes.iter().all(|id| present(node(id))) {
            return Ok(());
        }
        let intervals = nodes.iter().filter_map(|id| node(id).temporal()?.interval);
        let of_time = |bound: &Bound| bound.unit.is_some() || bound.billionths == 0;
        if !intervals.clone().all(|own| of_time(&own.low) && own.high.as_ref().is_none_or(of_time)) {
            return Err("its intervals may count positions: write their units".into());
        }
        let options = EvaluateOptions { clock: Clock::Stamps, ..self.evaluate_options() };
        let analysis =
            Analysis::new(program, root.node, &options).ok_or("charts are judged on all events")?;
        if !analysis.filterable {
            return Err("it can tell positions at which nothing happens, as those of others would be".into());
        }
        let atoms = program.atoms();
        if let Some(atom) = nodes.iter().find(|id| atoms.binary_search(id).is_ok()) {
            return Err(format!("`{}` is about all events, whatever their `{field}`", alone.words(*atom)));
        }
        let mut whys = Vec::new();
        for own in outer.iter().copied() {
            let name = &program.dag.variables[own as usize];
            let elsewhere = nodes.iter().find(|id| !binds(program, node(id), own, field));
            let guarded =
                analysis.variables.iter().any(|known| known.variable == own && known.guard.is_some());
            match (elsewhere, guarded) {
                (None, true) => return Ok(()),
                (None, false) => whys.push(format!("nothing binds `{name}` where it is violated")),
                (Some(pattern), _) => {
                    whys.push(format!("`{}` does not have `{name}` as its `{field}`", alone.words(*pattern)))
                }
            }
        }
        Err(if whys.is_empty() { "it has no outer variable".into() } else { whys.join("; ") })
    }
}

/// Of a specification with a key, each trace is wholly where the events of its value are.
fn traces(by: &str, field: &str) -> Result<(), String> {
    match by == field {
        true => Ok(()),
        false => Err(format!("its traces are those of `{by}`")),
    }
}

/// Whether a pattern has a variable as this field; what is no pattern does not matter.
fn binds(program: &Program, node: Node, variable: u32, field: &str) -> bool {
    let Node::Pattern(pattern) = node else { return true };
    let named = |key: &ArgumentKey| match key {
        ArgumentKey::Name(name) | ArgumentKey::Declared { name, .. } => name == field,
        ArgumentKey::Index(_) => false,
    };
    let arguments = &program.dag.patterns[pattern as usize].arguments;
    arguments.iter().any(|(key, own)| *own == PatternArgument::Variable(variable) && named(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_value_is_said_by_its_events() {
        let text = "event req(user: string, order: string); event ack(user: string, order: string); event tick(n: int);
            property known : G forall u. ack(user: u) -> O req(user: u);
            property soon : G forall u. req(user: u) -> F[0,5s] ack(user: u);
            property counted : G forall u. req(user: u) -> F[0,5] ack(user: u);
            property orders : G forall o. ack(order: o) -> O req(order: o);
            property both : G forall u. forall o. ack(user: u, order: o) -> O req(user: u, order: o);
            property small : G (tick -> n < 5);
            property after : G forall u. req(user: u) -> X ack(user: u);
            property ticks : G forall u. req(user: u) -> O tick;
            property other : G forall u. ack(user: u) -> O req(order: u);
            property open : G (req -> F ack);
            query count : count[req];";
        let spec = Specification::from_text("x.tw", text).unwrap();
        let of = |field: &str| {
            let all = Session::new().divisible_by(&spec, field);
            let whole: Vec<(String, String)> =
                all.into_iter().filter_map(|(name, why)| Some((name, why.err()?))).collect();
            whole
        };
        let names = |field: &str| of(field).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!(names("user"), ["counted", "orders", "after", "ticks", "other", "open", "count"]);
        assert_eq!(names("order"), ["known", "soon", "counted", "after", "ticks", "other", "open", "count"]);
        let whys: Vec<String> = of("user").into_iter().map(|(_, why)| why).collect();
        assert!(whys[0].contains("write their units"), "{whys:?}");
        assert!(whys[1].contains("does not have `o` as its `user`"), "{whys:?}");
        assert!(whys[2].contains("can tell positions"), "{whys:?}");
        assert!(whys[3].contains("about all events"), "{whys:?}");
        let keyed = Specification::from_text("x.tw", &format!("trace {{ by: user; }}\n{text}")).unwrap();
        let all = Session::new().divisible_by(&keyed, "user");
        assert!(all.iter().all(|(_, why)| why.is_ok()), "{all:?}");
        assert!(Session::new().divisible_by(&keyed, "order").iter().all(|(_, why)| why.is_err()));
    }
}
