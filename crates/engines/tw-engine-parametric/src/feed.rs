//! From batches of slots to events, in the order of positions.

use crate::shape::Shape;
use crate::state::{Out, State};
use crate::values::Handle;
use crate::{Found, Monitors, Over, Plan};
use tw_core::{Batch, Column, Value};
use tw_ir::monitor::{Condition, Source};
use tw_ir::{Node, NodeId, Program};
use tw_monitor::Ground;
use tw_slicing::by_values;

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
    shard: Option<usize>,
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
            let act = Act {
                number,
                columns: wanted.iter().filter_map(|&own| Some((own, place(own)?))).collect(),
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

/// A position at which something happens in a slot, and the tuples there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Happening {
    pub position: u32,
    pub slot: u32,
    first: u32,
    last: u32,
}

impl Happening {
    /// The numbers of the tuples.
    pub fn tuples(&self) -> std::ops::Range<usize> {
        self.first as usize..self.last as usize
    }
}

/// What happens in a batch, by position.
pub(crate) fn happenings(plan: &Plan, batch: &Batch) -> Vec<Happening> {
    let used = || plan.routes.iter().enumerate().filter(|(_, route)| !route.users.is_empty());
    let mut all: Vec<Happening> = Vec::new();
    let mut slots = 0;
    for (slot, _) in used() {
        let before = all.len();
        match &batch.slots[slot] {
            Column::Tuples(relation) => {
                let starts = relation.starts();
                for (position, pair) in starts.windows(2).enumerate().filter(|(_, pair)| pair[0] < pair[1]) {
                    let (position, slot) = (position as u32, slot as u32);
                    all.push(Happening { position, slot, first: pair[0], last: pair[1] });
                }
            }
            truth => {
                for position in (0..batch.len).filter(|&at| truth.value(at) == Value::Bool(true)) {
                    let at = position as u32;
                    all.push(Happening { position: at, slot: slot as u32, first: 0, last: 1 });
                }
            }
        }
        slots += usize::from(all.len() > before);
    }
    if slots > 1 {
        // Few positions have two events, and each slot's are in order already.
        let mut counts = vec![0u32; batch.len + 1];
        all.iter().for_each(|own| counts[own.position as usize + 1] += 1);
        for at in 1..counts.len() {
            counts[at] += counts[at - 1];
        }
        let mut sorted = all.clone();
        for own in all {
            let place = &mut counts[own.position as usize];
            sorted[*place as usize] = own;
            *place += 1;
        }
        return sorted;
    }
    all
}

/// The part of the work that one thread does.
struct Job<'a> {
    /// Of each monitor its state, where it is this job's.
    states: Vec<Option<&'a mut State>>,
    /// Of each monitor which shard, of how many.
    shards: Vec<(u32, u32)>,
    found: Vec<Found>,
}

/// What all jobs read.
struct Shared<'a> {
    plan: &'a Plan,
    batch: &'a Batch,
    columns: &'a [Vec<Vec<Handle>>],
    values: &'a [crate::values::Values],
    happenings: &'a [Happening],
    before: u64,
}

impl Shared<'_> {
    fn run(&self, job: &mut Job<'_>) {
        let mut from = 0;
        while from < self.happenings.len() {
            let position = self.happenings[from].position;
            let group = &self.happenings[from..];
            let len = group.iter().take_while(|own| own.position == position).count();
            let group = &group[..len];
            from += len;
            match group {
                [one] => {
                    for user in &self.plan.routes[one.slot as usize].users {
                        for act in &user.acts {
                            self.act(job, user.monitor, act, one);
                        }
                    }
                }
                several => {
                    // Monitor by monitor, in the order of its events.
                    let mut acts: Vec<(usize, usize, usize, usize)> = Vec::new();
                    for (nth, own) in several.iter().enumerate() {
                        for (user, known) in self.plan.routes[own.slot as usize].users.iter().enumerate() {
                            let numbers = known.acts.iter().enumerate();
                            acts.extend(
                                numbers.map(|(act, own)| (known.monitor, own.number, nth, user << 16 | act)),
                            );
                        }
                    }
                    acts.sort_unstable();
                    for (monitor, _, nth, place) in acts {
                        let own = &several[nth];
                        let act =
                            &self.plan.routes[own.slot as usize].users[place >> 16].acts[place & 0xffff];
                        self.act(job, monitor, act, own);
                    }
                }
            }
        }
    }

    #[inline]
    fn act(&self, job: &mut Job<'_>, monitor: usize, act: &Act, own: &Happening) {
        let Some(state) = &mut job.states[monitor] else { return };
        let (shard, shards) = job.shards[monitor];
        let columns = &self.columns[own.slot as usize];
        let shape = &self.plan.shapes[monitor];
        for tuple in own.tuples() {
            if shards > 1 && act.shard.is_some_and(|column| columns[column][tuple] % shards != shard) {
                continue;
            }
            if act.equal.iter().any(|&(a, b)| columns[a][tuple] != columns[b][tuple]) {
                continue;
            }
            if let Some(when) = &act.when
                && !when.holds(
                    &self.plan.program,
                    self.batch,
                    own.position as usize,
                    own.slot as usize,
                    tuple,
                )
            {
                continue;
            }
            let mut out = Out {
                found: &mut job.found,
                monitor,
                position: Some(self.before + u64::from(own.position)),
                order: if act.end {
                    u32::MAX
                } else {
                    (act.number as u32) << 20 | (tuple - own.first as usize) as u32
                },
                values: self.values,
                classes: &self.plan.classes[monitor],
                program: &self.plan.program,
            };
            if act.end {
                let from = out.found.len();
                for &(parameter, column) in &act.columns {
                    state.end(shape, parameter, columns[column][tuple], &mut out);
                }
                // Ends of one position are one moment.
                let same = |one: &Found| {
                    one.monitor == monitor && one.position == out.position && one.order == u32::MAX
                };
                let start = out.found[..from].iter().rposition(|one| !same(one)).map_or(0, |last| last + 1);
                if out.found.len() > from {
                    out.found[start..].sort_by(|a, b| by_values(&a.bindings, &b.bindings));
                }
                continue;
            }
            let mut row = [0; 32];
            act.columns.iter().enumerate().for_each(|(nth, &(_, column))| row[nth] = columns[column][tuple]);
            state.event(shape, act.number, &row[..act.columns.len()], &mut out);
        }
    }
}

impl Monitors {
    /// Further positions: `batch` has the columns of the program's slots. What is reported is appended, monitor by monitor in
    /// the order of positions, events and values.
    pub fn feed(&mut self, batch: &Batch, found: &mut Vec<Found>) -> Result<(), Over> {
        let plan = self.plan.clone();
        for (slot, route) in plan.routes.iter().enumerate() {
            if let Column::Tuples(relation) = &batch.slots[slot] {
                for ((column, &class), out) in
                    relation.columns().iter().zip(&route.classes).zip(&mut self.columns[slot])
                {
                    self.values[class].column(column, out);
                }
            }
        }
        let happenings = happenings(&plan, batch);
        let shared = Shared {
            plan: &plan,
            batch,
            columns: &self.columns,
            values: &self.values,
            happenings: &happenings,
            before: self.positions,
        };
        let shards = self.states.iter().map(Vec::len).max().unwrap_or(1);
        let counts: Vec<u32> = self.states.iter().map(|own| own.len() as u32).collect();
        let mut jobs: Vec<Job<'_>> = (0..shards as u32)
            .map(|shard| Job {
                states: counts.iter().map(|_| None).collect(),
                shards: counts.iter().map(|&count| (shard, count)).collect(),
                found: Vec::new(),
            })
            .collect();
        for (monitor, states) in self.states.iter_mut().enumerate() {
            // Those that are not divided go around.
            let alone = states.len() == 1;
            for (shard, state) in states.iter_mut().enumerate() {
                let job = if alone { monitor % shards } else { shard };
                jobs[job].states[monitor] = Some(state);
            }
        }
        match &mut jobs[..] {
            [one] => shared.run(one),
            several => std::thread::scope(|scope| {
                for job in several {
                    scope.spawn(|| shared.run(job));
                }
            }),
        }
        let divided = jobs.len() > 1;
        let from = found.len();
        jobs.into_iter().for_each(|job| found.extend(job.found));
        if divided {
            found[from..].sort_by(|a, b| {
                let place = |found: &Found| (found.position, found.monitor, found.order);
                place(a).cmp(&place(b)).then_with(|| by_values(&a.bindings, &b.bindings))
            });
        }
        self.positions += batch.len as u64;
        self.tidy()
    }

    /// Drops what no report will need. It is done by itself when there is much of it.
    pub fn sweep(&mut self) {
        for (states, shape) in self.states.iter_mut().zip(&self.plan.shapes) {
            states.iter_mut().for_each(|state| state.sweep(shape));
        }
        self.sweep_values();
    }

    /// Frees the numbers of values that nobody names.
    fn sweep_values(&mut self) {
        let mut used: Vec<Vec<bool>> = self.values.iter().map(|values| vec![false; values.len()]).collect();
        for ((states, shape), classes) in self.states.iter().zip(&self.plan.shapes).zip(&self.plan.classes) {
            states.iter().for_each(|state| state.mark(shape, classes, &mut used));
        }
        self.values.iter_mut().zip(&used).for_each(|(values, used)| values.sweep(used));
    }

    /// Frees numbers where there are many, and looks at the budget.
    fn tidy(&mut self) -> Result<(), Over> {
        if self.values.iter().any(crate::values::Values::grown) {
            self.sweep_values();
        }
        let bytes = self.heap_bytes();
        if bytes <= self.budget {
            return Ok(());
        }
        let monitor = (0..self.states.len()).max_by_key(|&monitor| self.held(monitor).bytes).unwrap_or(0);
        Err(Over { monitor, bindings: self.held(monitor).bindings, bytes, position: self.positions })
    }

    /// The trace is over: what `ltl` says of it, by monitor. The state stays as it is.
    pub fn finish(&self, found: &mut Vec<Found>) {
        for (monitor, (states, shape)) in self.states.iter().zip(&self.plan.shapes).enumerate() {
            let from = found.len();
            for state in states {
                let mut out = Out {
                    found,
                    monitor,
                    position: None,
                    order: 0,
                    values: &self.values,
                    classes: &self.plan.classes[monitor],
                    program: &self.plan.program,
                };
                state.finish(shape, &mut out);
            }
            found[from..].sort_by(|a, b| by_values(&a.bindings, &b.bindings));
        }
    }
}
