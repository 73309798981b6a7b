//! Verbs on Arrow record batches in memory. They become a table of a session ([`Session::table`]), and from there on are
//! read as a file of the format `arrow` is: one row is one position, its number (from 1) is its line, and its text is the
//! row as JSON.

use crate::check::{CheckOptions, CheckReport};
use crate::eval::EvalReport;
use crate::query::{QueryOptions, QueryReport};
use crate::robust::{RobustOptions, RobustReport};
use crate::{Error, Session, Specification};
use std::sync::Arc;
use tw_arrow::Records;
use tw_arrow::arrow::array::RecordBatch;
use tw_arrow::arrow::datatypes::SchemaRef;

impl Session {
    /// A session that knows a trace of record batches by a name, which every verb takes where it takes files. The batches are
    /// not copied.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use tracewise::trace::arrow::array::{BooleanArray, RecordBatch};
    /// use tracewise::check::CheckOptions;
    /// use tracewise::{Session, Specification, Verdict};
    /// # fn main() -> Result<(), tracewise::Error> {
    /// let open = Arc::new(BooleanArray::from(vec![true, false])) as _;
    /// let batch = RecordBatch::try_from_iter([("open", open)]).unwrap();
    /// let session = Session::new().batches("doors", batch.schema(), vec![batch])?;
    /// let report = session.check(&Specification::from_formula("G open")?, &["doors".to_string()], &CheckOptions::default())?;
    /// assert_eq!(report.properties[0].verdict, Verdict::Violated);
    /// # Ok(())
    /// # }
    /// ```
    pub fn batches(
        self,
        name: impl Into<String>,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Self, Error> {
        let name = name.into();
        let records = Records::new(schema, batches).map_err(|error| error.in_file(&name))?;
        Ok(self.table(name, Arc::new(records)))
    }

    /// [`Session::check`] of record batches, which reports call `name`.
    pub fn check_batches(
        &self,
        spec: &Specification,
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        options: &CheckOptions,
    ) -> Result<CheckReport, Error> {
        self.clone().batches(name, schema, batches)?.check(spec, &[name.to_string()], options)
    }

    /// [`Session::query`] of record batches.
    pub fn query_batches(
        &self,
        spec: &Specification,
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        options: &QueryOptions,
    ) -> Result<QueryReport, Error> {
        self.clone().batches(name, schema, batches)?.query(spec, &[name.to_string()], options)
    }

    /// [`Session::eval`] of record batches.
    pub fn eval_batches(
        &self,
        spec: &Specification,
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<EvalReport, Error> {
        self.clone().batches(name, schema, batches)?.eval(spec, &[name.to_string()])
    }

    /// [`Session::robust`] of record batches.
    pub fn robust_batches(
        &self,
        spec: &Specification,
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
        options: &RobustOptions,
    ) -> Result<RobustReport, Error> {
        self.clone().batches(name, schema, batches)?.robust(spec, &[name.to_string()], options)
    }
}
