//! One module per format.

pub mod csrv_block;
pub mod csrv_csv;
pub mod csrv_xml;
pub mod csv;
pub mod events;
pub mod json;
mod json_record;
mod json_value;
mod json_write;
pub mod jsonl;
pub mod monpoly;
pub mod props;

pub(crate) use json_record::duplicate_key;
