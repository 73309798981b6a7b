//! Slices that are evaluated elsewhere: a plan that travels, partial answers that are put together. The parts and slices that it
//! names are written by whoever holds the log.

use tracewise::check::CheckOptions;
use tracewise::slicing::{Partial, Plan, Slicing};
use tracewise::{Session, Specification};

fn main() -> Result<(), tracewise::Error> {
    let spec = Specification::from_formula("G forall c, s. login(c, s) -> F[0,25h) logout(c, s)")?;
    let session = Session::new(); // as the log is read: format, columns, `.table(name, …)`, `.batches(name, …)`, `.text(name, …)`
    let options = CheckOptions { violations: 100, ..CheckOptions::default() };

    // Once.
    let plan = session.plan_slices(&spec, &Slicing { slices: 64, ..Slicing::default() })?;
    let json = plan.to_json();

    // Of each part of the log, wherever it lies: which slices (0 to 63) need which of its positions.
    let plan = Plan::from_json(&json)?;
    let pairs: Vec<(u64, u32)> = session.slices_of(&spec, &plan, &["part-0007.jsonl".into()])?;
    for (position, slice) in pairs {
        println!("slice {slice} needs position {position} of this part");
    }

    // Of each slice, once its positions are together and in order: `positions` says where each is in the log.
    let (files, positions) = (["slice-12.jsonl".to_string()], [4, 19, 20_000_000_000]);
    let bytes: Vec<u8> = session.check_slice(&spec, &plan, 12, (&files, &positions), &options)?.save();

    // At the end, in any order; a slice that was evaluated twice counts once, one that needs no position need not be there.
    let partials = vec![Partial::load(&bytes)?];
    let report = session.check_together(&spec, partials, ("the log", 30_000_000_000), &options)?;
    println!("{}", report.properties[0].violation_count);
    Ok(())
}
