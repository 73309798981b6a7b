//! One root as a program of its own, the same whatever stands beside it.
//!
//! Nodes, constants, sets, regular expressions, patterns, variables and slots are numbered in the order in which they are
//! first needed. Two roots with the same meaning, in whatever files and places, become the same program: what an engine saves
//! of one can be restored into the other.

use crate::{Dag, Node, NodeId, Pattern, PatternArgument, Program, Slot, SlotId, What};
use rustc_hash::FxHashMap;

/// One root's program.
#[derive(Clone, Debug)]
pub struct Alone {
    /// With this root alone.
    pub program: Program,
    /// Of each of its nodes, the node of the whole program that it was.
    pub nodes: Vec<NodeId>,
    /// Of each of its slots, the slot of the whole program that it was.
    pub slots: Vec<SlotId>,
}

/// Numbers in the order of first use.
#[derive(Default)]
struct Renamed {
    new: FxHashMap<u32, u32>,
    old: Vec<u32>,
}

impl Renamed {
    fn number(&mut self, old: u32) -> u32 {
        *self.new.entry(old).or_insert_with(|| {
            self.old.push(old);
            self.old.len() as u32 - 1
        })
    }
}

/// The root with this number alone.
pub fn alone(program: &Program, root: usize) -> Alone {
    let (old, root) = (&program.dag, &program.roots[root]);
    let (mut slots, mut variables) = (Renamed::default(), Renamed::default());
    let (mut sets, mut regexes, mut patterns) = (Renamed::default(), Renamed::default(), Renamed::default());
    let mut dag = Dag::default();
    let mut nodes: Vec<NodeId> = Vec::new();
    let mut places: FxHashMap<NodeId, NodeId> = FxHashMap::default();
    // Operands stand before the nodes above them, the left ones first.
    let mut todo = vec![(root.node, false)];
    while let Some((id, ready)) = todo.pop() {
        if places.contains_key(&id) {
            continue;
        }
        let node = old.node(id);
        if !ready {
            todo.push((id, true));
            let children: Vec<NodeId> = node.children().collect();
            todo.extend(children.into_iter().rev().map(|child| (child, false)));
            continue;
        }
        let node = match node.with_children(|child| places[&child]) {
            Node::Constant(constant) => {
                let place = dag.constant(old.constants[constant as usize].clone());
                if place.index() == nodes.len() {
                    nodes.push(id);
                }
                places.insert(id, place);
                continue;
            }
            Node::Slot(slot) => Node::Slot(slots.number(slot)),
            Node::Truth(slot) => Node::Truth(slots.number(slot)),
            Node::In(term, set) => Node::In(term, sets.number(set)),
            Node::Matches(term, regex) => Node::Matches(term, regexes.number(regex)),
            Node::Variable(variable) => Node::Variable(variables.number(variable)),
            Node::Forall(variable, body) => Node::Forall(variables.number(variable), body),
            Node::Exists(variable, body) => Node::Exists(variables.number(variable), body),
            Node::Tally(tally, bound, value, formula) => {
                let own = old.bound[bound as usize].iter().map(|&variable| variables.number(variable));
                Node::Tally(tally, dag.bind(own.collect()), value, formula)
            }
            Node::NextMap { body, result, parameter } => {
                Node::NextMap { body, result, parameter: variables.number(parameter) }
            }
            Node::UntilMap { pair, result, parameter } => {
                Node::UntilMap { pair, result, parameter: variables.number(parameter) }
            }
            Node::Pattern(pattern) => {
                let known = patterns.old.len();
                let number = patterns.number(pattern);
                if patterns.old.len() > known {
                    let renamed = rename(&old.patterns[pattern as usize], &mut slots, &mut variables);
                    dag.patterns.push(renamed);
                }
                Node::Pattern(number)
            }
            Node::Chart(chart, events) => {
                dag.charts.push(old.charts[chart as usize].clone());
                Node::Chart(dag.charts.len() as u32 - 1, events)
            }
            other => other,
        };
        let place = dag.add(node);
        // Nodes that differ in numbers of equal parts alone are one here.
        if place.index() == nodes.len() {
            nodes.push(id);
        }
        places.insert(id, place);
    }
    dag.sets = sets.old.iter().map(|&set| old.sets[set as usize].clone()).collect();
    dag.regexes = regexes.old.iter().map(|&regex| old.regexes[regex as usize].clone()).collect();
    let name = |&variable: &u32| old.variables.get(variable as usize).cloned().unwrap_or_default();
    dag.variables = variables.old.iter().map(name).collect();
    dag.variable_whole = variables.old.iter().map(|&variable| old.is_whole(variable)).collect();
    let mut root = root.clone();
    root.node = places[&root.node];
    let spans = nodes.iter().map(|id| program.spans.get(id.index()).copied().flatten()).collect();
    let mut kept: Vec<Slot> = slots.old.iter().map(|&slot| program.slots[slot as usize].clone()).collect();
    for slot in &mut kept {
        if let What::Window(window) = &mut slot.what {
            // Its text says what it aggregates.
            (window.body, window.guard) = (NodeId(0), None);
        }
    }
    let mut templates = program.templates.clone();
    templates.retain(|template| kept.iter().any(|slot| template.serves(&slot.what)));
    let argument = |&place: &u32| program.arguments.binary_search(&slots.old[place as usize]).is_ok();
    let arguments = (0..slots.old.len() as u32).filter(argument).collect();
    // Columns that equations define are computed for the whole program, before its roots part.
    let (roots, slots_then) = (vec![root], slots.old);
    let program = Program { dag, roots, slots: kept, arguments, templates, spans, ..Program::default() };
    Alone { program, nodes, slots: slots_then }
}

fn rename(pattern: &Pattern, slots: &mut Renamed, variables: &mut Renamed) -> Pattern {
    let mut pattern = pattern.clone();
    pattern.slot = slots.number(pattern.slot);
    for (_, argument) in &mut pattern.arguments {
        if let PatternArgument::Variable(variable) = argument {
            *variable = variables.number(*variable);
        }
    }
    pattern
}
