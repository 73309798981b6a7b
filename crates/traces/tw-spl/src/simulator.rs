//! Runs a program: at each position one step of a randomly chosen process.

use crate::evaluate::{Done, Fault, Memory, fault};
use crate::machine::{Action, Column, Location, Program, Target, Transition};
use crate::random::Random;
use std::collections::VecDeque;
use tw_core::Value;
use tw_diag::{Diagnostic, Span};

/// Messages that may wait in channels, all together.
const MAX_MESSAGES: usize = 1 << 22;

/// A run of a program.
///
/// At each position: the state is there to be read ([`Simulator::state`]); then [`Simulator::step`] draws a process,
/// and passes on to the next one in cyclic order while the process it is at is disabled. If none is enabled nobody moves.
#[derive(Clone, Debug)]
pub struct Simulator<'p> {
    program: &'p Program,
    memory: Memory,
    channels: Vec<VecDeque<i64>>,
    messages: usize,
    /// Where each process stands, and since which position.
    locations: Vec<u32>,
    arrived: Vec<u64>,
    /// For every process, since when each transition is enabled, its `after` apart; kept at watched locations only.
    enabled: Vec<Vec<Option<u64>>>,
    watching: bool,
    random: Random,
    loss: u32,
    position: u64,
    stuck: Option<u64>,
    scratch: Vec<i64>,
    choices: Vec<u32>,
}

/// A state of a run.
#[derive(Clone, Copy, Debug)]
pub struct State<'s> {
    pub(crate) program: &'s Program,
    pub(crate) slots: &'s [i64],
    pub(crate) locations: &'s [u32],
}

impl State<'_> {
    /// The value in a column.
    pub fn get(&self, column: usize) -> Option<Value> {
        let of = self.program.columns.get(column)?;
        Some(match (self.slots.get(column), of.kind) {
            (Some(value), crate::Kind::Integer) => Value::Int(*value),
            (Some(value), crate::Kind::Boolean) => Value::Bool(*value != 0),
            (None, _) => Value::Bool(self.at(column - self.slots.len())),
        })
    }

    fn at(&self, label: usize) -> bool {
        let process = self.program.labels[label].process as usize;
        let location = self.locations[process] as usize;
        self.program.processes[process].locations[location].labels.contains(&(label as u32))
    }

    /// The values of all columns in order.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        (0..self.program.columns.len()).filter_map(|column| self.get(column))
    }
}

/// Why nothing moves any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// From this position on the state repeats.
    pub position: u64,
    /// Whether every process has come to its end; otherwise some wait for ever.
    pub ended: bool,
    /// The processes that wait, and the statements they wait at.
    pub waiting: Vec<(String, Span)>,
}

impl<'p> Simulator<'p> {
    /// Prepares a run: `loss` is the percentage of messages that channels lose.
    pub fn new(program: &'p Program, seed: u64, loss: u8) -> Result<Self, Box<Diagnostic>> {
        if program.broken {
            return Err(Box::new(Diagnostic::error("broken-program", "a program with errors cannot be run")));
        }
        let memory = Memory::new(program).map_err(|fault| diagnostic(&fault, "the initial state"))?;
        let processes = &program.processes;
        Ok(Self {
            program,
            memory,
            channels: vec![VecDeque::new(); program.channels.len()],
            messages: 0,
            locations: vec![0; processes.len()],
            arrived: vec![0; processes.len()],
            enabled: vec![Vec::new(); processes.len()],
            watching: processes
                .iter()
                .flat_map(|process| &process.locations)
                .any(|location| location.watched),
            random: Random::new(seed),
            loss: u32::from(loss.min(100)),
            position: 0,
            stuck: None,
            scratch: Vec::new(),
            choices: Vec::new(),
        })
    }

    /// The columns of the trace.
    pub fn columns(&self) -> &'p [Column] {
        &self.program.columns
    }

    /// The position the run is at.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The state at this position.
    pub fn state(&self) -> State<'_> {
        State { program: self.program, slots: &self.memory.slots, locations: &self.locations }
    }

    /// Whether, since when and why nothing moves any more.
    pub fn stuck(&self) -> Option<Stuck> {
        let position = self.stuck?;
        let waits = |(process, location): (&crate::machine::Process, &u32)| {
            let transition = process.locations[*location as usize].transitions.first()?;
            Some((process.name.clone(), transition.span))
        };
        let waiting: Vec<_> = self.program.processes.iter().zip(&self.locations).filter_map(waits).collect();
        Some(Stuck { position, ended: waiting.is_empty(), waiting })
    }

    /// Goes to the next position; whether a process moved. An error is the program's: its statement cannot be done.
    #[inline]
    pub fn step(&mut self) -> Result<bool, Box<Diagnostic>> {
        if self.stuck.is_some() {
            self.position += 1;
            return Ok(false);
        }
        self.advance().map_err(|fault| diagnostic(&fault, &format!("position {}", self.position)))
    }

    fn advance(&mut self) -> Done<bool> {
        if self.watching {
            self.watch()?;
        }
        let count = self.locations.len();
        let mut process = self.random.next(count as u32) as usize;
        let mut moved = false;
        for _ in 0..count {
            if self.attempt(process)? {
                moved = true;
                break;
            }
            process = if process + 1 == count { 0 } else { process + 1 };
        }
        if !moved && !self.pending()? {
            self.stuck = Some(self.position);
        }
        self.position += 1;
        Ok(moved)
    }

    fn location(&self, process: usize) -> &'p Location {
        let program = self.program;
        &program.processes[process].locations[self.locations[process] as usize]
    }

    /// Looks at the clocks of `after` statements that may have become enabled or disabled.
    fn watch(&mut self) -> Done<()> {
        for process in 0..self.locations.len() {
            let location = self.location(process);
            if !location.watched {
                continue;
            }
            let mut since = std::mem::take(&mut self.enabled[process]);
            since.resize(location.transitions.len(), None);
            for (transition, since) in location.transitions.iter().zip(&mut since) {
                if transition.after.is_some() {
                    *since = if self.open(transition)? { since.or(Some(self.position)) } else { None };
                }
            }
            self.enabled[process] = since;
        }
        Ok(())
    }

    /// Whether some `after` will be over although nobody moves.
    fn pending(&mut self) -> Done<bool> {
        for process in 0..self.locations.len() {
            for transition in &self.location(process).transitions {
                if transition.after.is_some() && self.open(transition)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a transition is enabled, its `after` apart.
    #[inline]
    fn open(&mut self, transition: &Transition) -> Done<bool> {
        for &guard in &transition.guards {
            if self.memory.evaluate(self.program, guard)? == 0 {
                return Ok(false);
            }
        }
        Ok(match &transition.action {
            Action::Request(target) => self.read(target)? > 0,
            Action::Receive { channel, .. } => !self.channels[*channel as usize].is_empty(),
            Action::Send { channel, .. } => {
                let channel = &self.program.channels[*channel as usize];
                channel.capacity.is_none_or(|capacity| self.memory.slots[channel.slot as usize] < capacity)
            }
            _ => true,
        })
    }

    /// Whether a transition's `after` is over.
    fn due(&self, process: usize, location: &Location, number: usize, after: u64) -> bool {
        let since = match location.watched {
            true => self.enabled[process].get(number).copied().flatten(),
            false => Some(self.arrived[process]),
        };
        since.is_some_and(|since| self.position - since >= after)
    }

    /// Moves the process if it is enabled. Of several enabled alternatives one is drawn; those with `after` stand back.
    fn attempt(&mut self, process: usize) -> Done<bool> {
        let location = self.location(process);
        if let [only] = location.transitions.as_slice() {
            let due = only.after.is_none_or(|after| self.due(process, location, 0, after));
            return if due && self.open(only)? { self.take(process, only).map(|()| true) } else { Ok(false) };
        }
        let mut choices = std::mem::take(&mut self.choices);
        choices.clear();
        for timed in [false, true] {
            for (number, transition) in location.transitions.iter().enumerate() {
                let fits = match transition.after {
                    None => !timed,
                    Some(after) => timed && self.due(process, location, number, after),
                };
                if fits && self.open(transition)? {
                    choices.push(number as u32);
                }
            }
            if !choices.is_empty() {
                break;
            }
        }
        let chosen = match choices.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => Some(several[self.random.next(several.len() as u32) as usize]),
        };
        self.choices = choices;
        match chosen {
            Some(number) => self.take(process, &location.transitions[number as usize]).map(|()| true),
            None => Ok(false),
        }
    }

    /// Takes a transition.
    fn take(&mut self, process: usize, transition: &'p Transition) -> Done<()> {
        let program = self.program;
        let mut next = transition.next;
        match &transition.action {
            Action::Go => {}
            Action::Test { test, otherwise } => {
                if self.memory.evaluate(program, *test)? == 0 {
                    next = *otherwise;
                }
            }
            Action::Assign(list) => match list.as_slice() {
                [(target, value)] => {
                    let value = self.memory.evaluate(program, *value)?;
                    let index = self.index(target)?;
                    self.write(target, index, value)?;
                }
                list => {
                    self.scratch.clear();
                    for (_, value) in list {
                        let value = self.memory.evaluate(program, *value)?;
                        self.scratch.push(value);
                    }
                    self.assign(list.iter().map(|(target, _)| target))?;
                }
            },
            Action::Request(target) | Action::Release(target) => {
                let by = if matches!(transition.action, Action::Request(_)) { -1 } else { 1 };
                let Some(value) = self.read(target)?.checked_add(by) else {
                    return fault("overflow", transition.span, "the semaphore overflows");
                };
                let index = self.index(target)?;
                self.write(target, index, value)?;
            }
            Action::Send { channel, values } => self.send(*channel, values, transition.span)?,
            Action::Receive { channel, targets } => {
                let of = &program.channels[*channel as usize];
                self.scratch.clear();
                self.scratch.extend(self.channels[*channel as usize].drain(..of.arity));
                self.memory.slots[of.slot as usize] -= 1;
                self.messages -= 1;
                self.assign(targets.iter())?;
            }
        }
        self.locations[process] = next;
        self.arrived[process] = self.position + 1;
        self.enabled[process].clear();
        Ok(())
    }

    fn send(&mut self, number: u32, values: &[crate::machine::Code], span: Span) -> Done<()> {
        let program = self.program;
        let channel = &program.channels[number as usize];
        self.scratch.clear();
        for &value in values {
            let value = self.memory.evaluate(program, value)?;
            self.scratch.push(value);
        }
        // Drawn also where nothing is ever lost: the same seed means the same choices at every rate of loss.
        if !channel.reliable && self.random.next(100) < self.loss {
            return Ok(());
        }
        if self.messages >= MAX_MESSAGES {
            let message = format!(
                "`{}` cannot take another message: {MAX_MESSAGES} wait in channels already",
                channel.name
            );
            return fault("program-limit", span, message);
        }
        self.messages += 1;
        self.memory.slots[channel.slot as usize] += 1;
        self.channels[number as usize].extend(&self.scratch);
        Ok(())
    }

    /// Gives the values in `scratch` to targets, all at once: indices are those before.
    fn assign(&mut self, targets: impl Iterator<Item = &'p Target> + Clone) -> Done<()> {
        let count = self.scratch.len();
        for target in targets.clone() {
            let index = self.index(target)?;
            self.scratch.push(index);
        }
        for (number, target) in targets.enumerate() {
            self.write(target, self.scratch[count + number], self.scratch[number])?;
        }
        Ok(())
    }

    fn index(&mut self, target: &Target) -> Done<i64> {
        match target {
            Target::Slot(_) => Ok(0),
            Target::Element { index, .. } => self.memory.evaluate(self.program, *index),
        }
    }

    fn read(&mut self, target: &Target) -> Done<i64> {
        match target {
            Target::Slot(slot) => Ok(self.memory.slots[*slot as usize]),
            Target::Element { array, span, .. } => {
                let index = self.index(target)?;
                self.memory.element(self.program, *array, index, *span)
            }
        }
    }

    fn write(&mut self, target: &Target, index: i64, value: i64) -> Done<()> {
        match target {
            Target::Slot(slot) => {
                self.memory.slots[*slot as usize] = value;
                Ok(())
            }
            Target::Element { array, span, .. } => {
                self.memory.set_element(self.program, *array, index, value, *span)
            }
        }
    }
}

fn diagnostic(fault: &Fault, whence: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(fault.code, fault.message.clone()).at(fault.span, format!("at {whence}")))
}
