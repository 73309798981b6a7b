//! Against the reference: random queries on random traces, at every block size and number of threads.

use tw_query_columnar::Columnar;

tw_testkit::query_conformance!(Columnar, 30_000);
