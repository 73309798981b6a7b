//! From a program to its states: those that the initial ones lead to.

use super::evaluate::fault;
use super::program::{Cases, Define, Program, Val, hash};
use super::search::Search;
use super::syntax::Error;
use crate::{Cells, Codes, Domain, Graph, Model, State, Variable, Written};
use rustc_hash::FxHashMap;
use tw_core::Value;

/// How much a model may ask for. By default so much that a model that never ends is given up within seconds.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// States.
    pub states: usize,
    /// Transitions.
    pub edges: usize,
    /// Steps of evaluation and search.
    pub work: u64,
    /// Bytes of states and transitions.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 20_000_000, edges: 200_000_000, work: 2_000_000_000, bytes: 2 << 30 }
    }
}

impl Limits {
    /// So much that a search through many states is given up before anybody waits for it.
    pub(super) fn few(&self) -> Self {
        Self {
            states: self.states.min(1 << 20),
            edges: self.edges.min(1 << 23),
            work: self.work.min(200_000_000),
            ..*self
        }
    }
}

/// Why a program has no model.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something in the text cannot be.
    At(Error),
    /// Too much of something.
    TooMuch(String),
    /// Nothing at all.
    Unfit(String),
}

impl Stop {
    pub fn work() -> Self {
        Stop::TooMuch(
            "its states are not found within the limit on work; constrain variables by `next(x) := …`".into(),
        )
    }
}

/// Valuations with numbers.
struct States {
    width: usize,
    codes: Vec<u32>,
    count: usize,
    /// Open addressing: numbers, or `u32::MAX`.
    table: Vec<u32>,
    most: usize,
    /// Bytes that states may take.
    bytes: usize,
}

/// That states and transitions take more than they may.
fn too_many_bytes(limit: usize) -> Stop {
    Stop::TooMuch(format!(
        "its states and transitions take more than {} MiB, the limit; constrain variables by `next(x) := …`, or leave out \
         those that nothing depends on",
        limit >> 20
    ))
}

impl States {
    fn new(width: usize, most: usize, bytes: usize) -> Self {
        Self {
            bytes,
            width,
            codes: Vec::new(),
            count: 0,
            table: vec![u32::MAX; 64],
            most: most.min(u32::MAX as usize - 1),
        }
    }

    fn heap_bytes(&self) -> usize {
        (self.codes.len() + self.table.len()) * size_of::<u32>()
    }

    fn get(&self, state: usize) -> &[u32] {
        &self.codes[state * self.width..(state + 1) * self.width]
    }

    fn number(&mut self, codes: &[u32]) -> Result<State, Stop> {
        if self.count * 2 >= self.table.len() {
            let mut table = vec![u32::MAX; self.table.len() * 2];
            for state in 0..self.count {
                let mut at = hash(self.get(state).iter().copied()) as usize & (table.len() - 1);
                while table[at] != u32::MAX {
                    at = (at + 1) & (table.len() - 1);
                }
                table[at] = state as u32;
            }
            self.table = table;
        }
        let mask = self.table.len() - 1;
        let mut at = hash(codes.iter().copied()) as usize & mask;
        loop {
            match self.table[at] {
                u32::MAX => break,
                state if self.get(state as usize) == codes => return Ok(state),
                _ => at = (at + 1) & mask,
            }
        }
        if self.count >= self.most {
            return Err(Stop::TooMuch(format!("it has more than {} states, the limit", self.most)));
        }
        if self.heap_bytes() > self.bytes {
            return Err(too_many_bytes(self.bytes));
        }
        self.table[at] = self.count as u32;
        self.codes.extend_from_slice(codes);
        self.count += 1;
        Ok(self.count as u32 - 1)
    }
}

/// Finds the states and transitions of a program.
pub(super) fn explore(program: &Program, limits: &Limits) -> Result<Model, Stop> {
    let width = program.variables.len();
    let mut search = Search::new(program, limits.work);
    let mut states = States::new(width, limits.states, limits.bytes);
    search.solve(&program.init, &mut |codes| states.number(codes).map(drop))?;
    if states.count == 0 {
        return Err(Stop::Unfit("no state satisfies INIT".to_owned()));
    }
    let initial: Vec<State> = (0..states.count as State).collect();
    let (mut offsets, mut targets) = (vec![0], Vec::new());
    let mut row = Vec::new();
    let mut state = 0;
    while state < states.count {
        search.slots[..width].copy_from_slice(states.get(state));
        row.clear();
        search.solve(&program.trans, &mut |codes| {
            row.push(states.number(codes)?);
            Ok(())
        })?;
        row.sort_unstable();
        row.dedup();
        targets.extend_from_slice(&row);
        if targets.len() > limits.edges.min(u32::MAX as usize) {
            return Err(Stop::TooMuch(format!("it has more than {} transitions, the limit", limits.edges)));
        }
        if targets.len() * size_of::<u32>() + states.heap_bytes() > limits.bytes {
            return Err(too_many_bytes(limits.bytes));
        }
        offsets.push(targets.len() as u32);
        state += 1;
    }
    let mut variables: Vec<Variable> = program
        .variables
        .iter()
        .enumerate()
        .map(|(at, slot)| Variable {
            name: slot.name.clone(),
            domain: slot.domain.clone(),
            cells: Cells::Own((0..states.count).map(|state| states.codes[state * width + at]).collect()),
        })
        .collect();
    for define in program.defines.iter().filter(|define| !define.next) {
        variables.extend(defined(define, &states, &mut search)?);
    }
    Ok(Model { variables, initial, graph: Graph::from_rows(offsets, targets), ..formulas(program) })
}

/// A model of nothing but the formulas that stand in the file.
pub(super) fn formulas(program: &Program) -> Model {
    let specifications = program.specs.iter().map(|spec| Written {
        linear: spec.linear,
        text: spec.text.clone(),
        line: program.lines.partition_point(|&line| line < spec.at) as u64 + 1,
    });
    Model {
        specifications: specifications.collect(),
        fairness: program.fairness.iter().map(|fair| fair.text.clone()).collect(),
        ..Model::default()
    }
}

/// Most values of a variable for which a definition over it is told value by value.
const MOST_CASES: u32 = 1 << 24;

/// A definition as a variable; `None` if it is a set.
fn defined(define: &Define, states: &States, search: &mut Search<'_>) -> Result<Option<Variable>, Stop> {
    let program = search.machine.program;
    let Some(expr) = define.exprs[0] else { return Ok(None) };
    let slots = &program.exprs[expr as usize].slots;
    let single = match (&define.table, slots.as_slice()) {
        (Some((variable, _)), _) | (None, [variable]) => Some(*variable as usize),
        _ => None,
    };
    let single = single.filter(|&variable| program.variables[variable].size <= MOST_CASES);
    if let (Some((variable, cases)), Some(_)) = (&define.table, single)
        && let Some((domain, codes)) = few(cases, program.variables[*variable as usize].size, program)
    {
        let cells = Cells::Of(*variable as usize, codes);
        return Ok(Some(Variable { name: define.name.clone(), domain, cells }));
    }
    let width = program.variables.len();
    let mut values: Vec<Option<Val>> = Vec::new();
    search.slots.fill(super::evaluate::UNSET);
    if let Some(variable) = single {
        let mut met = vec![false; program.variables[variable].size as usize];
        (0..states.count).for_each(|state| met[states.codes[state * width + variable] as usize] = true);
        for (code, met) in met.into_iter().enumerate() {
            search.slots[variable] = code as u32;
            values.push(match &define.table {
                Some((_, table)) if table.get(code as u32).is_some() || !met => table.get(code as u32),
                _ if met => Some(search.machine.value(expr, &search.slots)?),
                _ => None,
            });
        }
    } else {
        for state in 0..states.count {
            search.slots[..width].copy_from_slice(states.get(state));
            values.push(Some(search.machine.value(expr, &search.slots)?));
        }
    }
    if values.iter().flatten().any(|value| matches!(value, Val::Set(..) | Val::Span(..))) {
        return Ok(None);
    }
    if values.contains(&Some(Val::Unknown)) {
        return Err(fault(program.places[program.exprs[expr as usize].start as usize], "found no value"));
    }
    let (domain, codes) = typed(&values, program);
    let cells = match single {
        Some(variable) => Cells::Of(variable, Codes::packed(codes)),
        None => Cells::Own(codes),
    };
    Ok(Some(Variable { name: define.name.clone(), domain, cells }))
}

/// Cases that name few of a variable's values, without a look at the others: of twenty thousand definitions over as many
/// values each names one. `None` if they are not few.
fn few(cases: &Cases, size: u32, program: &Program) -> Option<(Domain, Codes)> {
    let rest = cases.rest?;
    let mut named: Vec<(u32, Val)> = cases.of.iter().map(|(&code, &value)| (code, value)).collect();
    let constant = |value: Val| matches!(value, Val::Bool(_) | Val::Int(_) | Val::Symbol(_));
    if !Codes::is_few(size as usize, named.len()) || !constant(rest) {
        return None;
    }
    named.sort_unstable_by_key(|&(code, _)| code);
    if !named.iter().all(|&(_, value)| constant(value)) {
        return None;
    }
    // As they are met in order of the codes: the rest is met first where the first gap is.
    let gap = named.iter().zip(0..).take_while(|&(&(code, _), place)| code == place).count();
    let mut values: Vec<Option<Val>> = named.iter().map(|&(_, value)| Some(value)).collect();
    values.insert(gap, Some(rest));
    let (domain, mut codes) = typed(&values, program);
    let rest = codes.remove(gap);
    let others = named.iter().zip(codes).map(|(&(place, _), code)| (place, code));
    Some((domain, Codes::few(size as usize, rest, others.filter(|&(_, code)| code != rest).collect())))
}

/// The type of some values, and their numbers in it.
pub(super) fn typed(values: &[Option<Val>], program: &Program) -> (Domain, Vec<u32>) {
    if values.iter().flatten().all(|value| matches!(value, Val::Bool(_))) {
        let codes = values.iter().map(|value| u32::from(*value == Some(Val::Bool(true)))).collect();
        return (Domain::Boolean, codes);
    }
    let mut met: FxHashMap<Val, u32> = FxHashMap::default();
    let mut domain = Vec::new();
    let codes = values.iter().map(|value| {
        let Some(value) = *value else { return 0 };
        *met.entry(value).or_insert_with(|| {
            domain.push(match value {
                Val::Bool(truth) => Value::Bool(truth),
                Val::Int(number) => Value::Int(number),
                Val::Symbol(symbol) => program.symbols[symbol as usize].clone(),
                _ => Value::Null,
            });
            domain.len() as u32 - 1
        })
    });
    let codes = codes.collect();
    (Domain::Values(domain), codes)
}
