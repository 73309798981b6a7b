//! Which monitors the events of a slot concern, and what they are to them.

use crate::shape::Shape;
use tw_core::{Batch, Column, Value};
use tw_ir::monitor::{Condition, Source};
use tw_ir::{Node, NodeId, Program};
use tw_monitor::Ground;

/// Who is concerned by the events of a slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Route {
    /// The class of each column.
    pub classes: Vec<usize>,
    /// Monitors, each with the events and ends that stand on this slot, in order.
    users: Vec<User>,
}

impl Route {
    /// What a monitor does with the events of the slot.
    pub fn acts(&self, monitor: usize) -> impl Iterator<Item = &Act> {
        self.users.iter().filter(move |user| user.monitor == monitor).flat_map(|user| &user.acts)
    }

    /// Whether some monitor reads it.
    pub fn is_used(&self) -> bool {
        !self.users.is_empty()
    }

    /// The slots that conditions on its events read.
    pub fn conditions(&self) -> impl Iterator<Item = u32> {
        let acts = self.users.iter().flat_map(|user| &user.acts);
        acts.filter_map(|act| act.when.as_ref()).flat_map(|when| when.slots.iter().map(|&(_, slot)| slot))
    }
}

#[derive(Clone, Debug)]
struct User {
    monitor: usize,
    acts: Vec<Act>,
}

/// An event or an end of a monitor.
#[derive(Clone, Debug)]
pub(crate) struct Act {
    /// Events are numbered first, ends behind them.
    pub number: usize,
    /// The columns of the parameters, ascending by parameter.
    pub columns: Vec<(u32, usize)>,
    /// Pairs of columns that have to be equal.
    pub equal: Vec<(usize, usize)>,
    pub end: bool,
    pub when: Option<When>,
    /// The column by which bindings are divided among threads.
    pub shard: Option<usize>,
    /// Whether the parameters are the columns as they stand, and nothing else is asked of them.
    pub plain: bool,
}

/// A condition, its nodes found once.
#[derive(Clone, Debug)]
pub(crate) struct When {
    order: Vec<NodeId>,
    /// Nodes that are slots, and those that are columns of the tuple.
    slots: Vec<(NodeId, u32)>,
    columns: Vec<(NodeId, usize)>,
}

impl When {
    fn new(program: &Program, condition: &Condition, source: &Source) -> Self {
        let order = program.reachable(&[condition.node]);
        let (mut slots, mut columns) = (Vec::new(), Vec::new());
        for &id in &order {
            match program.dag.node(id) {
                Node::Slot(slot) | Node::Truth(slot) => slots.push((id, slot)),
                Node::Variable(variable) => {
                    let own = condition.variables.iter().find(|(own, _)| *own == variable);
                    let column =
                        own.and_then(|(_, own)| source.columns.iter().position(|column| column == own));
                    columns.extend(column.map(|column| (id, column)));
                }
                _ => {}
            }
        }
        Self { order, slots, columns }
    }

    /// What cannot be computed does not hold.
    pub fn holds(&self, program: &Program, batch: &Batch, at: usize, slot: usize, tuple: usize) -> bool {
        let mut given: Vec<(NodeId, Value)> =
            self.slots.iter().map(|&(id, slot)| (id, batch.slots[slot as usize].value(at))).collect();
        if let Column::Tuples(relation) = &batch.slots[slot] {
            given.extend(
                self.columns.iter().map(|&(id, column)| (id, relation.columns()[column].value(tuple))),
            );
        }
        Ground { program, order: &self.order, given: &given }.truth() == Ok(true)
    }
}

/// Of each monitor the classes of its parameters, how many classes there are, and who reads which slot.
pub(crate) fn routes(program: &Program, shapes: &[Shape]) -> (Vec<Vec<usize>>, usize, Vec<Route>) {
    // Parameters and columns are numbered; those that belong together are united.
    let mut parent: Vec<usize> = Vec::new();
    let fresh = |parent: &mut Vec<usize>| {
        parent.push(parent.len());
        parent.len() - 1
    };
    fn root(parent: &[usize], mut at: usize) -> usize {
        while parent[at] != at {
            at = parent[at];
        }
        at
    }
    let unite = |parent: &mut Vec<usize>, a: usize, b: usize| {
        let (a, b) = (root(parent, a), root(parent, b));
        parent[a.max(b)] = a.min(b);
    };
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); program.slots.len()];
    let mut parameters: Vec<Vec<usize>> = Vec::new();
    let sources = |shape: &Shape| {
        let events = shape.monitor.events.iter().map(|event| event.source.clone());
        events.chain(shape.monitor.ends.iter().map(|end| end.source.clone())).collect::<Vec<Source>>()
    };
    for shape in shapes {
        let own: Vec<usize> = shape.monitor.parameters.iter().map(|_| fresh(&mut parent)).collect();
        if shape.injective {
            own.windows(2).for_each(|pair| unite(&mut parent, pair[0], pair[1]));
        }
        for source in sources(shape) {
            let slot = &mut columns[source.slot as usize];
            for (nth, &parameter) in source.columns.iter().enumerate() {
                if slot.len() <= nth {
                    slot.push(fresh(&mut parent));
                }
                unite(&mut parent, slot[nth], own[parameter as usize]);
            }
        }
        parameters.push(own);
    }
    let mut classes: Vec<usize> = (0..parent.len()).map(|at| root(&parent, at)).collect();
    classes.sort_unstable();
    classes.dedup();
    let class = |at: usize| classes.binary_search(&root(&parent, at)).unwrap_or(0);
    let mut routes: Vec<Route> = columns
        .iter()
        .map(|own| Route { classes: own.iter().map(|&at| class(at)).collect(), users: Vec::new() })
        .collect();
    for (monitor, shape) in shapes.iter().enumerate() {
        let events = shape.monitor.events.len();
        for (number, source) in sources(shape).into_iter().enumerate() {
            let place = |own: u32| source.columns.iter().position(|&column| column == own);
            let wanted = match number.checked_sub(events) {
                None => source.parameters(),
                Some(end) => shape.monitor.ends[end].parameters.clone(),
            };
            let equal = source.columns.iter().enumerate().filter_map(|(nth, &own)| {
                let first = place(own)?;
                (first < nth).then_some((first, nth))
            });
            let columns: Vec<(u32, usize)> =
                wanted.iter().filter_map(|&own| Some((own, place(own)?))).collect();
            let in_order = columns.iter().map(|&(_, column)| column).eq(0..source.columns.len());
            let act = Act {
                number,
                plain: in_order && number < events && source.when.is_none(),
                columns,
                equal: equal.collect(),
                end: number >= events,
                when: source.when.as_ref().map(|when| When::new(program, when, &source)),
                shard: shape.shard.and_then(place),
            };
            let users = &mut routes[source.slot as usize].users;
            match users.iter_mut().find(|user| user.monitor == monitor) {
                Some(user) => user.acts.push(act),
                None => users.push(User { monitor, acts: vec![act] }),
            }
        }
    }
    let classed = parameters.iter().map(|own| own.iter().map(|&at| class(at)).collect()).collect();
    (classed, classes.len(), routes)
}
