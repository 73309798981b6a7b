//! The native half of the Python package `tracewise`: a shell over the facade, as the command line is. It reads what Python
//! hands over (paths, Arrow streams, rows), runs a verb with the GIL released, and hands back objects over the findings.

mod arrow_data;
mod columns;
mod data;
mod error;
mod html;
mod interrupt;
mod listed;
mod model;
mod monitor;
mod others;
mod pictures;
mod programs;
mod report;
mod settings;
mod slices;
mod spec;
mod streams;
mod table;
mod tools;
mod values;
mod verbs;

use pyo3::prelude::*;

/// What the package `tracewise` stands on.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<spec::Spec>()?;
    module.add_class::<report::Report>()?;
    module.add_class::<report::Property>()?;
    module.add_class::<report::Violation>()?;
    module.add_class::<verbs::QueryReport>()?;
    module.add_class::<verbs::Query>()?;
    module.add_class::<verbs::RobustReport>()?;
    module.add_class::<verbs::Robustness>()?;
    module.add_class::<verbs::EvalReport>()?;
    module.add_class::<slices::Slices>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<monitor::Monitor>()?;
    module.add_class::<monitor::Verdict>()?;
    module.add_class::<monitor::Pending>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<model::Answer>()?;
    module.add_function(wrap_pyfunction!(spec::check, module)?)?;
    module.add_function(wrap_pyfunction!(spec::query, module)?)?;
    module.add_function(wrap_pyfunction!(spec::eval, module)?)?;
    module.add_function(wrap_pyfunction!(spec::robust, module)?)?;
    module.add_function(wrap_pyfunction!(model::merge, module)?)?;
    module.add_function(wrap_pyfunction!(others::inspect, module)?)?;
    module.add_function(wrap_pyfunction!(others::templates, module)?)?;
    module.add_function(wrap_pyfunction!(others::slice, module)?)?;
    module.add_function(wrap_pyfunction!(others::classify, module)?)?;
    module.add_function(wrap_pyfunction!(tools::automata, module)?)?;
    module.add_function(wrap_pyfunction!(tools::convert, module)?)?;
    module.add_function(wrap_pyfunction!(tools::draft, module)?)?;
    module.add_function(wrap_pyfunction!(tools::import_spec, module)?)?;
    module.add_function(wrap_pyfunction!(tools::test, module)?)?;
    module.add_function(wrap_pyfunction!(others::races, module)?)?;
    module.add_function(wrap_pyfunction!(tools::fmt, module)?)?;
    module.add_function(wrap_pyfunction!(tools::lint, module)?)?;
    module.add_function(wrap_pyfunction!(tools::code, module)?)?;
    module.add_function(wrap_pyfunction!(tools::split, module)?)?;
    module.add_function(wrap_pyfunction!(tools::residuals, module)?)?;
    module.add_function(wrap_pyfunction!(programs::simulate, module)?)?;
    #[cfg(target_os = "linux")]
    module.add_function(wrap_pyfunction!(programs::record, module)?)?;
    module.add_function(wrap_pyfunction!(streams::streams, module)?)?;
    module.add_function(wrap_pyfunction!(streams::stream_analyse, module)?)?;
    module.add_function(wrap_pyfunction!(streams::stream_ask, module)?)?;
    module.add_function(wrap_pyfunction!(streams::stream_accepts, module)?)?;
    module.add_function(wrap_pyfunction!(streams::stream_make, module)?)?;
    module.add_function(wrap_pyfunction!(streams::stream_automaton, module)?)?;
    module.add_function(wrap_pyfunction!(streams::stream_from_automaton, module)?)?;
    Ok(())
}
