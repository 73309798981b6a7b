//! Checks Arrow record batches that are in memory: `cargo run --example batches --features parquet`.

use std::sync::Arc;
use tracewise::check::CheckOptions;
use tracewise::trace::arrow::array::{BooleanArray, RecordBatch};
use tracewise::{Error, Session, Specification};

fn main() -> Result<(), Error> {
    let column = |values: [bool; 3]| Arc::new(BooleanArray::from(values.to_vec())) as _;
    let columns = [("paid", column([false, true, true])), ("shipped", column([false, false, true]))];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let (schema, batches) = (batch.schema(), vec![batch]);
    let spec = Specification::from_formula("G (shipped -> O paid)")?;
    let session = Session::new();
    let report = session.check_batches(&spec, "orders", schema, batches, &CheckOptions::default())?;
    println!("{}", report.properties[0].verdict.as_str());
    Ok(())
}
