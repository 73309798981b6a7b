//! Runs a schedule: passes one after another, each over one or several stretches of the trace at once.
//!
//! Several threads cut the trace into stretches and all start as if nothing had come before theirs. What each
//! stretch hands on is then compared with what the next one assumed; where they differ, the next one walks again
//! until its carries are what they were, which is usually within the first block.

use crate::graph::Direction;
use crate::grid::{Edges, Grid};
use crate::kernels::Kernels;
use crate::schedule::{Code, Pass, Place, Schedule, Step};
use crate::worker::{Job, Piece, State, Stored, Worker};
use std::ops::Range;
use tw_core::{Bits, Position};
use tw_monitor::{EvaluateOptions, Trace, Unsupported};

/// What was found out about one sink.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// One bit per segment.
    pub(crate) holds: Bits,
    pub(crate) violations: Vec<Position>,
    pub(crate) violation_count: usize,
    /// The output column, if one was asked for.
    pub(crate) column: Option<Bits>,
}

/// Registers of all steps together should stay in the second-level cache.
const REGISTER_BYTES: usize = 256 << 10;
/// Below this many words times steps another thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 19;
/// Blocks larger than this only lose the caches; it also keeps counts within a block small.
const LARGEST_BLOCK: usize = 1 << 20;

/// Words per block if the caller has no wish.
fn default_block(schedule: &Schedule) -> usize {
    let registers = schedule.passes.iter().map(|pass| pass.registers).max().unwrap_or(0) + 1;
    (REGISTER_BYTES / 8 / registers).clamp(64, 512) & !7
}

/// Answers every sink of the schedule.
pub(crate) fn evaluate(
    schedule: &Schedule,
    trace: &Trace,
    options: &EvaluateOptions,
    limit: usize,
    kernels: &'static Kernels,
) -> Result<Vec<Found>, Unsupported> {
    let block = options.block.map_or_else(|| default_block(schedule), |positions| positions.div_ceil(64));
    let grid = Grid::new(trace.len, block.min(LARGEST_BLOCK));
    let threads_of = |pass: &Pass| match options.block {
        // A caller that chooses blocks wants to see them used.
        Some(_) => options.threads.clamp(1, grid.blocks.max(1)),
        None => {
            let worth = grid.words.saturating_mul(pass.steps.len()) / WORTH_A_THREAD;
            options.threads.min(grid.blocks / 4).min(worth).max(1)
        }
    };
    let threads = schedule.passes.iter().map(threads_of).max().unwrap_or(1);
    check_budget(schedule, trace, grid, threads, options.memory_budget)?;
    let edges = Edges::new(grid, trace)?;
    for atom in &trace.atoms {
        if atom.len() != trace.len {
            return Err(Unsupported {
                node: None,
                what: format!("an atom with {} positions in a trace of {}", atom.len(), trace.len),
                help: None,
                exhausted: false,
            });
        }
    }
    let mut found: Vec<Found> = schedule.outputs.iter().map(|_| Found::default()).collect();
    if grid.blocks == 0 {
        return Ok(found);
    }

    let atoms: Vec<&[u64]> = trace.atoms.iter().map(Bits::words).collect();
    let zeros = vec![0u64; grid.block];
    let registers = schedule.passes.iter().map(|pass| pass.registers).max().unwrap_or(0) + 1;
    let mut memory = vec![0u64; threads * registers * grid.block];
    let mut columns: Vec<Stored> = Vec::new();
    columns.resize_with(schedule.columns, Stored::default);
    for pass in &schedule.passes {
        let mut defined: Vec<Stored> = Vec::with_capacity(pass.defines.len());
        for &column in &pass.defines {
            let mut stored = std::mem::take(&mut columns[column as usize]);
            if stored.words.is_empty() {
                stored = Stored { words: vec![0; grid.words], states: vec![State::Zero; grid.blocks] };
            }
            defined.push(stored);
        }
        let job = Job {
            pass,
            grid,
            edges: &edges,
            atoms: &atoms,
            columns: &columns,
            kernels,
            zeros: &zeros,
            limit,
        };
        run_pass(&job, &mut defined, &mut memory, threads_of(pass), &mut found);
        for (&column, stored) in pass.defines.iter().zip(defined) {
            columns[column as usize] = stored;
        }
    }
    for (found, output) in found.iter_mut().zip(&schedule.outputs) {
        if let Some(column) = *output {
            let Stored { mut words, states } = std::mem::take(&mut columns[column as usize]);
            for (block, state) in states.into_iter().enumerate() {
                match state {
                    State::Zero => words[grid.range(block)].fill(0),
                    State::One => words[grid.range(block)].fill(u64::MAX),
                    State::Mixed => {}
                }
            }
            found.column = Some(Bits::from_words(words, trace.len));
        }
    }
    Ok(found)
}

/// Cuts `blocks` into `parts` stretches of nearly equal size.
fn stretches(blocks: usize, parts: usize) -> impl Iterator<Item = Range<usize>> {
    (0..parts).map(move |part| blocks * part / parts..blocks * (part + 1) / parts)
}

/// How many blocks have to be looked at: a forward walk that is asked for first positions alone can stop early.
fn needed_blocks(job: &Job<'_>) -> usize {
    let starts = |step: &Step| match step.code {
        Code::Violations { .. } | Code::ViolationsAnd { .. } | Code::Nowhere { .. } => false,
        _ => !matches!(step.to, Place::Define(_)),
    };
    if job.pass.direction == Direction::Forward && job.pass.steps.iter().all(starts) {
        job.edges.first.blocks()
    } else {
        job.grid.blocks
    }
}

fn run_pass(job: &Job<'_>, defined: &mut [Stored], memory: &mut [u64], threads: usize, found: &mut [Found]) {
    let pass: &Pass = job.pass;
    let grid = job.grid;
    let blocks = needed_blocks(job);
    let threads = threads.min(blocks).max(1);
    // Carries of every block are remembered for repairs; with nothing to carry there is nothing to repair.
    let speculative = threads > 1 && pass.carries > 0;
    let mut rest: Vec<(&mut [u64], &mut [State])> =
        defined.iter_mut().map(|stored| (&mut stored.words[..], &mut stored.states[..])).collect();
    let each = memory.len() / threads;
    let mut memory = memory.chunks_exact_mut(each);
    let mut workers: Vec<Worker<'_>> = Vec::with_capacity(threads);
    for blocks in stretches(blocks, threads) {
        let words = (blocks.end * grid.block).min(grid.words) - blocks.start * grid.block;
        let mut pieces = Vec::with_capacity(rest.len());
        for (left_words, left_states) in &mut rest {
            let (piece, after) = std::mem::take(left_words).split_at_mut(words);
            let (states, states_after) = std::mem::take(left_states).split_at_mut(blocks.len());
            (*left_words, *left_states) = (after, states_after);
            pieces.push(Piece { words: piece, states });
        }
        workers.push(Worker::new(job, blocks, memory.next().unwrap_or_default(), pieces, speculative));
    }
    if let [worker] = &mut workers[..] {
        worker.run();
    } else {
        let backward = pass.direction == Direction::Backward;
        if backward {
            workers.reverse();
        }
        std::thread::scope(|scope| {
            for worker in &mut workers {
                scope.spawn(|| worker.run());
            }
        });
        repair(&mut workers, pass.carries);
        if backward {
            workers.reverse();
        }
    }

    let backward = pass.direction == Direction::Backward;
    if backward {
        workers.iter_mut().for_each(Worker::list_late);
    }
    for (local, &sink) in pass.sinks.iter().enumerate() {
        let found = &mut found[sink as usize];
        for worker in &mut workers {
            let segments = worker.segments(local);
            let finding = &mut worker.findings[local];
            found.violation_count += finding.counts.iter().map(|&count| count as usize).sum::<usize>();
            if backward {
                finding.list.reverse();
            }
            let room = job.limit - found.violations.len().min(job.limit);
            found.violations.extend(finding.list.iter().take(room));
            for (index, &word) in finding.holds.iter().enumerate().take(segments.div_ceil(64)) {
                found.holds.push_word(word, (segments - index * 64).min(64));
            }
        }
    }
}

/// Repeats stretches, in the order of the walk, until each began with what the one before it handed on.
fn repair(workers: &mut [Worker<'_>], carries: usize) {
    let mut assumed: Vec<Vec<bool>> = workers.iter().map(|_| vec![false; carries]).collect();
    loop {
        let mut wrong: Vec<(usize, Vec<bool>)> = Vec::new();
        for index in 1..workers.len() {
            let right = &workers[index - 1].carries;
            if *right != assumed[index] {
                wrong.push((index, right.clone()));
            }
        }
        if wrong.is_empty() {
            return;
        }
        std::thread::scope(|scope| {
            let mut wrong = wrong.iter().peekable();
            for (index, worker) in workers.iter_mut().enumerate() {
                if let Some((_, carries)) = wrong.next_if(|(at, _)| *at == index) {
                    scope.spawn(|| worker.repair(carries));
                }
            }
        });
        for (index, right) in wrong {
            assumed[index] = right;
        }
    }
}

/// Refuses what would not fit, with numbers.
fn check_budget(
    schedule: &Schedule,
    trace: &Trace,
    grid: Grid,
    threads: usize,
    budget: usize,
) -> Result<(), Unsupported> {
    let registers = schedule.passes.iter().map(|pass| pass.registers).max().unwrap_or(0) + 1;
    let marks = if trace.segments.is_some() { 2 } else { 0 };
    let words = (schedule.columns + marks).saturating_mul(grid.words);
    let words = words.saturating_add(threads.saturating_mul(registers).saturating_mul(grid.block));
    let per_block = schedule.passes.iter().map(|pass| pass.sinks.len() * 5 + pass.carries).max().unwrap_or(0);
    let bytes = words.saturating_mul(8).saturating_add(per_block.saturating_mul(grid.blocks));
    if bytes <= budget {
        return Ok(());
    }
    Err(Unsupported {
        node: None,
        what: format!(
            "{} positions within its memory budget: {} columns and {registers} blocks need {}, the budget is {}",
            trace.len,
            schedule.columns + marks,
            mebibytes(bytes),
            mebibytes(budget)
        ),
        help: Some("allow more memory, or check fewer properties at a time".into()),
        exhausted: true,
    })
}

fn mebibytes(bytes: usize) -> String {
    format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64)
}
