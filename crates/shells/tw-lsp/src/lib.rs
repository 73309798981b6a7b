//! The language server: what an editor asks about a specification while it is written, over the Language Server Protocol.
//!
//! [`serve`] reads messages and writes answers until the client leaves. The way through: `framing` cuts bytes into messages,
//! `server` keeps the documents and answers in order, one file per question (`hover`, `complete`, `rename`, …) asks
//! [`tracewise::language`], and `document` turns places in the text into the client's and back.
//!
//! A document is read anew after every change: a specification of a thousand lines takes a few milliseconds.

mod complete;
mod diagnostics;
mod document;
mod format;
mod framing;
mod hover;
mod names;
mod sample;
mod server;
mod sources;

pub use server::{Left, serve};
