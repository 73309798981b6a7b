//! One module per format, and what several of them share.

pub mod combined;
pub mod csrv_block;
pub mod csrv_csv;
pub mod csrv_xml;
pub mod csv;
pub mod events;
pub mod json;
pub mod jsonl;
pub mod lines;
pub mod logfmt;
pub mod monpoly;
pub mod otlp_json;
pub mod props;
pub mod strace;
pub mod syslog;

mod csrv;
mod fields;
mod found;
mod json_record;
mod json_value;
mod json_write;
mod line;
mod masks;
#[cfg(test)]
mod testing;
mod text;
mod wanted;
mod writing;

pub use csv::push_csv_cell;
pub(crate) use json_record::duplicate_key;
pub use json_value::is_number;
pub(crate) use json_write::{write_row, write_text};
