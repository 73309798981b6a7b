//! A monitor fed from code: `cargo run -p tracewise --example lift`.

use tracewise::embed::RowMonitor;
use tracewise::{Error, Specification};

/// Feeds a few positions by hand and prints what they settle.
fn main() -> Result<(), Error> {
    let spec = Specification::from_text(
        "lift.tw",
        r#"property doors "the doors are closed while the lift moves" : G (moving -> !open);
           property arrives "every call is answered" : G (call -> F arrive);"#,
    )?;
    let mut monitor = RowMonitor::new(&spec)?;
    let [moving, open, call] = ["moving", "open", "call"].map(|name| monitor.slot(name));
    let (moving, open, call) = (moving?, open?, call?);

    let mut row = monitor.row();
    row.set(call, true);
    monitor.push(&row)?;
    row.clear();
    row.set(moving, true);
    row.set(open, true);
    for settled in monitor.push(&row)?.to_vec() {
        println!("{}", monitor.describe(&settled));
    }
    for owed in monitor.pending() {
        println!("still owed since position {}: {}", owed.since, owed.residual);
    }
    println!("if it ends here: {:?}", monitor.finish());
    Ok(())
}
