//! Queries over whole columns, block by block.
