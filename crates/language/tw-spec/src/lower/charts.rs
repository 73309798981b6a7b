//! `chart` and `after`: the order of their events, and what each of them is in a trace.

use super::declarations::{Declarations, Declared};
use super::findings::Findings;
use super::{ChartEvents, LowerOptions};
use crate::ast::chart::{Body, Chart, Part, PartName};
use crate::ast::{DeclarationKind, Tree};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tw_core::{Value, suggest};
use tw_diag::{Diagnostic, Span};
use tw_ir::chart::{Check, Condition, Direction, Event, MOST_EVENTS, Matching, Reading};
use tw_ir::{
    ArgumentKey, CompareOp, Division, Expect, Node, NodeId, Path, Program, Root, RootKind, Slot, SlotId,
    Temporal, What,
};

/// A basic chart in an order that it allows.
struct Basic {
    events: Vec<Event>,
    /// Of each event those that directly precede it.
    before: Vec<u64>,
}

/// Adds the charts of the tree to the program: a root for each condition, and one for each pair of an `after`.
pub(super) fn charts(
    tree: &Tree,
    declarations: &Declarations<'_>,
    options: &LowerOptions,
    program: &mut Program,
    findings: &mut Findings,
) {
    let mut lowering = Lowering { declarations, options, program, findings, reads: FxHashMap::default() };
    let mut known: Vec<(&Chart, [Option<Basic>; 2])> = Vec::new();
    for declaration in &tree.declarations {
        if let DeclarationKind::Chart(chart) = &declaration.kind {
            let basics = chart.bodies().map(|(part, body)| lowering.basic(chart, part, body));
            lowering.universal(chart, &basics);
            known.push((chart, basics));
        }
    }
    for declaration in &tree.declarations {
        let DeclarationKind::After(after) = &declaration.kind else { continue };
        let first = lowering.named(&known, &after.first);
        for part in &after.then {
            let then = lowering.named(&known, part);
            if let (Some(first), Some(then)) = (first, then) {
                lowering.after(&after.first, first, part, then);
            }
        }
    }
}

struct Lowering<'a, 't> {
    declarations: &'a Declarations<'t>,
    options: &'a LowerOptions,
    program: &'a mut Program,
    findings: &'a mut Findings,
    /// The formulas of events that were met.
    reads: FxHashMap<(Direction, Arc<str>), NodeId>,
}

impl Lowering<'_, '_> {
    /// The events of a basic chart and their order; `None` if it is none.
    fn basic(&mut self, chart: &Chart, part: Part, body: &Body) -> Option<Basic> {
        let messages = body.messages();
        let whole = format!("`{}.{}`", chart.name.name, part.word());
        let mut events: Vec<Event> = Vec::new();
        let mut groups: Vec<Option<usize>> = Vec::new();
        let mut sound = true;
        for (message, group) in &messages {
            for (direction, lifeline) in message.events() {
                let event = Event {
                    direction,
                    message: message.name.name.as_str().into(),
                    lifeline: lifeline.name.as_str().into(),
                    other: match direction {
                        Direction::Send => message.to.name.as_str().into(),
                        Direction::Recv => message.from.name.as_str().into(),
                    },
                    span: message.name.span,
                };
                let before = events
                    .iter()
                    .find(|own| (own.direction, &own.message) == (event.direction, &event.message));
                if let Some(before) = before {
                    let message =
                        format!("the {} of `{}` occurs twice in {whole}", noun(direction), event.message);
                    let found = Diagnostic::error("chart-event-twice", message).at(event.span, "again here");
                    let found = found.at(before.span, "first here");
                    self.findings.add(found.help(
                        "an event is in a chart at most once: number the messages, or use `[send only]` and `[recv only]`",
                    ));
                    sound = false;
                    continue;
                }
                events.push(event);
                groups.push(*group);
            }
        }
        if events.is_empty() && sound {
            let found = Diagnostic::error("chart-empty", format!("{whole} has no events"));
            let what = if part == Part::Pre { "prechart" } else { "main chart" };
            let found = found.at(body.span, format!("an empty {what} says nothing"));
            self.findings
                .add(found.help("write its messages: `pre { A -> B : request; } main { B -> A : reply; }`"));
            return None;
        }
        if events.len() > MOST_EVENTS {
            let message = format!("{whole} has {} events", events.len());
            let found = Diagnostic::error("chart-too-large", message).at(body.span, "");
            self.findings.add(found.help(format!(
                "a basic chart has at most {MOST_EVENTS}: divide it, and join the parts with `after`"
            )));
            return None;
        }
        if !sound {
            return None;
        }
        let before = order(&events, &groups);
        match sorted(&before) {
            Ok(places) => Some(renumbered(&events, &before, &places)),
            Err(cycle) => {
                let names: Vec<String> = cycle.iter().map(|&at| name(&events[at])).collect();
                let message =
                    format!("the events of {whole} wait for each other: {}", names.join(" before "));
                let mut found = Diagnostic::error("chart-cycle", message);
                for &at in cycle.iter().skip(1) {
                    found = found.at(events[at].span, format!("{} here", name(&events[at])));
                }
                self.findings.add(
                    found.help("a message is sent before it is received: let the lines follow that order"),
                );
                None
            }
        }
    }

    /// The properties of a chart.
    fn universal(&mut self, chart: &Chart, [pre, main]: &[Option<Basic>; 2]) {
        let (Some(pre), Some(main)) = (pre, main) else { return };
        let names = [&chart.name.name, &chart.name.name].map(|name| Arc::from(name.as_str()));
        let [first, second] = names;
        let parts = [(first, "pre"), (second, "main")];
        if !self.disjoint([(pre, &parts[0]), (main, &parts[1])], chart.name.span) {
            return;
        }
        for &condition in chart.kind.conditions() {
            let name = format!("{}.{}", chart.name.name, condition.word());
            // Roots are told apart by their places.
            let second = condition == Condition::Sufficient && chart.kind.conditions().len() > 1;
            let span = if second { chart.main.span } else { chart.name.span };
            let check = Check {
                condition,
                reading: Reading::Segment,
                iterate: chart.iterate.map(|_| Matching::Paper),
                open_end: false,
                events: pre.events.iter().chain(&main.events).cloned().collect(),
                pre: pre.events.len(),
                before: pre.before.iter().chain(&main.before).copied().collect(),
                parts: parts.clone(),
            };
            self.root(name, chart.title.clone(), span, check);
        }
    }

    /// One pair of an `after`.
    fn after(&mut self, first: &PartName, pre: &Basic, then: &PartName, main: &Basic) {
        let part = |own: &PartName| (Arc::from(own.chart.name.as_str()), own.part.word());
        let parts = [part(first), part(then)];
        if !self.disjoint([(pre, &parts[0]), (main, &parts[1])], then.span) {
            return;
        }
        let dotted = |own: &PartName| format!("{}.{}", own.chart.name, own.part.word());
        let check = Check {
            condition: Condition::Sufficient,
            reading: Reading::Precedes,
            iterate: None,
            open_end: false,
            events: pre.events.iter().chain(&main.events).cloned().collect(),
            pre: pre.events.len(),
            before: pre.before.iter().chain(&main.before).copied().collect(),
            parts,
        };
        self.root(format!("{} -> {}", dotted(first), dotted(then)), None, then.span, check);
    }

    /// The basic chart that an `after` names; `None` too where it has errors of its own.
    fn named<'b>(&mut self, known: &'b [(&Chart, [Option<Basic>; 2])], part: &PartName) -> Option<&'b Basic> {
        let name = part.chart.name.as_str();
        let Some((_, basics)) = known.iter().find(|(chart, _)| chart.name.name == name) else {
            let names = || known.iter().map(|(chart, _)| chart.name.name.as_str());
            let found = Diagnostic::error("unknown-chart", format!("there is no chart `{name}`"));
            self.findings.add(found.at(part.chart.span, "").help(match suggest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "the specification has no charts".to_owned(),
                None => format!(
                    "charts are {}",
                    names().map(|own| format!("`{own}`")).collect::<Vec<_>>().join(", ")
                ),
            }));
            return None;
        };
        basics[usize::from(part.part == Part::Main)].as_ref()
    }

    /// Reports an event that is in both: then it is not known which of the two it belongs to.
    fn disjoint(&mut self, both: [(&Basic, &(Arc<str>, &str)); 2], _place: Span) -> bool {
        let [(pre, first), (main, second)] = both;
        let same = |a: &Event, b: &Event| (a.direction, &a.message) == (b.direction, &b.message);
        let shared =
            main.events.iter().find_map(|own| Some((own, pre.events.iter().find(|pre| same(pre, own))?)));
        let Some((own, other)) = shared else { return true };
        let message = format!(
            "the {} of `{}` is both in `{}.{}` and in `{}.{}`",
            noun(own.direction),
            own.message,
            first.0,
            first.1,
            second.0,
            second.1
        );
        let found = Diagnostic::error("chart-event-shared", message).at(own.span, "here it is in the second");
        let found = if other.span == own.span { found } else { found.at(other.span, "here in the first") };
        self.findings.add(found.help("give the two messages different names"));
        false
    }

    fn root(&mut self, name: String, title: Option<String>, span: Span, check: Check) {
        let nodes: Vec<NodeId> = check.events.iter().map(|event| self.read(event)).collect();
        let dag = &mut self.program.dag;
        let chain = nodes.into_iter().reduce(|chain, event| dag.add(Node::Or(chain, event)));
        let Some(chain) = chain else { return };
        dag.charts.push(check);
        let chart = dag.add(Node::Chart(dag.charts.len() as u32 - 1, chain));
        let node = dag.add(Node::Unary(Temporal::Globally, None, chart));
        let division = Division::default();
        self.program.roots.push(Root { name, title, division, kind: RootKind::Property, node, span });
        self.program.spans.resize(self.program.dag.len(), None);
        self.program.spans[chart.index()] = Some(span);
    }

    /// What an event is in a trace: `send("m")`, or `dir == "send" & msg == "m"`.
    fn read(&mut self, event: &Event) -> NodeId {
        let key = (event.direction, event.message.clone());
        if let Some(&known) = self.reads.get(&key) {
            return known;
        }
        let events = self.options.chart_events.clone();
        let happens = match events {
            ChartEvents::Columns(_) => None,
            _ => Some(self.happens(event)),
        };
        let columns = match events {
            ChartEvents::Events => None,
            // A column that was named is to be there.
            ChartEvents::Columns(paths) => Some(self.columns(event, &paths, false)),
            ChartEvents::Any => Some(self.columns(event, &["dir", "msg"].map(Path::field), true)),
        };
        let both = |(happens, columns)| self.program.dag.add(Node::Or(happens, columns));
        let Some(node) = happens.zip(columns).map(both).or(happens).or(columns) else { return NodeId(0) };
        self.reads.insert(key, node);
        node
    }

    /// `send("m")`.
    fn happens(&mut self, event: &Event) -> NodeId {
        let name = event.direction.word();
        let arguments = vec![(self.argument(name), Value::text(&event.message))];
        let what = What::Event { name: name.to_owned(), arguments, arity: None };
        let slot = self.slot(what, true, event.span);
        self.program.dag.add(Node::Truth(slot))
    }

    /// `dir == "send" & msg == "m"`.
    fn columns(&mut self, event: &Event, paths: &[Path; 2], declared: bool) -> NodeId {
        let values = [event.direction.word(), &event.message];
        let [dir, msg] = [0, 1].map(|at: usize| {
            let slot = self.slot(What::Variable(paths[at].clone(), Expect::Text), declared, event.span);
            let column = self.program.dag.add(Node::Slot(slot));
            let value = self.program.dag.constant(Value::text(values[at]));
            self.program.dag.add(Node::Compare(CompareOp::Eq, column, value))
        });
        self.program.dag.add(Node::And(dir, msg))
    }

    /// The argument of `send` and `recv` that is the message: as declared, else the only one.
    fn argument(&self, event: &str) -> ArgumentKey {
        if let Some((Declared::Event(index), _)) = self.declarations.names.get(event) {
            let declared = &self.declarations.events[*index];
            let named = declared.parameters.iter().position(|(name, _)| name.name == "msg");
            if !declared.parameters.is_empty() {
                return declared.key(named.unwrap_or(0));
            }
        }
        ArgumentKey::Declared { index: 0, name: "msg".into(), of: 1 }
    }

    fn slot(&mut self, what: What, declared: bool, span: Span) -> SlotId {
        let slots = &mut self.program.slots;
        let known = slots.iter().position(|slot| slot.what == what);
        known.unwrap_or_else(|| {
            slots.push(Slot { what, declared, span });
            slots.len() - 1
        }) as SlotId
    }
}

fn noun(direction: Direction) -> &'static str {
    match direction {
        Direction::Send => "sending",
        Direction::Recv => "receipt",
    }
}

fn name(event: &Event) -> String {
    format!("{} {}", event.direction.word(), event.message)
}

/// Of each event those that directly precede it: the ones above it on its lifeline, up to the next group, and its own sending.
fn order(events: &[Event], groups: &[Option<usize>]) -> Vec<u64> {
    let mut before = vec![0u64; events.len()];
    for (at, event) in events.iter().enumerate() {
        let own = |other: &usize| events[*other].lifeline == event.lifeline;
        let apart = |other: &usize| groups[at].is_none() || groups[*other] != groups[at];
        if let Some(last) = (0..at).rev().filter(own).find(apart) {
            let together =
                |other: &usize| groups[last].is_some() && groups[*other] == groups[last] || *other == last;
            for other in (0..=last).filter(own).filter(together) {
                before[at] |= 1 << other;
            }
        }
        let sent = |other: &usize| {
            let other = &events[*other];
            other.direction == Direction::Send && other.message == event.message
        };
        if event.direction == Direction::Recv
            && let Some(sent) = (0..events.len()).find(sent)
        {
            before[at] |= 1 << sent;
        }
    }
    before
}

/// The events in an order that `before` allows, as near to the text as may be; a cycle if there is none: its first event is
/// also its last.
fn sorted(before: &[u64]) -> Result<Vec<usize>, Vec<usize>> {
    let (mut done, mut places) = (0u64, Vec::with_capacity(before.len()));
    while places.len() < before.len() {
        let ready = |at: &usize| done >> at & 1 == 0 && before[*at] & !done == 0;
        let Some(next) = (0..before.len()).find(ready) else { break };
        done |= 1 << next;
        places.push(next);
    }
    if places.len() == before.len() {
        return Ok(places);
    }
    // Each that is left waits for one that is left.
    let waits = |at: usize| (before[at] & !done).trailing_zeros() as usize;
    let (mut path, mut at) = (Vec::new(), (0..before.len()).find(|at| done >> at & 1 == 0).unwrap_or(0));
    loop {
        if let Some(first) = path.iter().position(|own| *own == at) {
            let mut cycle = path.split_off(first);
            cycle.push(at);
            cycle.reverse();
            return Err(cycle);
        }
        path.push(at);
        at = waits(at);
    }
}

fn renumbered(events: &[Event], before: &[u64], places: &[usize]) -> Basic {
    let mut numbers = vec![0usize; places.len()];
    places.iter().enumerate().for_each(|(number, &place)| numbers[place] = number);
    let moved = |mask: u64| {
        (0..events.len()).filter(|at| mask >> at & 1 == 1).fold(0, |new, at| new | 1 << numbers[at])
    };
    Basic {
        events: places.iter().map(|&place| events[place].clone()).collect(),
        before: places.iter().map(|&place| moved(before[place])).collect(),
    }
}
