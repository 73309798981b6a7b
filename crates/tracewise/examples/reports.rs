//! Events with arguments, and a property that says of which values it is violated.

use tracewise::embed::RowMonitor;
use tracewise::{Error, Specification, Value};

fn main() -> Result<(), Error> {
    let spec = Specification::from_text(
        "reports.tw",
        r#"property approved "no report is published without approval" :
             G forall r. publish(report: r) -> O approve(report: r);"#,
    )?;
    let mut monitor = RowMonitor::new(&spec)?;
    for (name, report) in [("approve", 160), ("publish", 160), ("publish", 163), ("publish", 171)] {
        for settled in monitor.event(name, &[("report", Value::Int(report))])?.to_vec() {
            println!("{}", monitor.describe(&settled));
            assert_eq!(monitor.bindings(&settled), [("r".to_string(), Value::Int(report))]);
        }
    }
    Ok(())
}
