//! The engine of intermezzo: it runs one execution of a test, one visible operation at a time, and records it.
//!
//! The crates above use it; a test never does. Its interface may change with each version.
//!
//! - [`runtime`]: the tasks, the decision about the next one, and the permission for each step.
//! - [`record`], [`trace`]: the events of an execution, and their happens-before order.
//! - [`schedule`]: the decisions of an execution, as a value that can be saved and read again.
//! - [`memory_model`]: the interface of a memory model, which says what a load may read.
//! - [`call_stack`]: the functions of the program that are active at a step.
//! - [`strategy`]: the interface of a search, which makes the decisions.
//! - [`store`]: files that are written as a whole, with a version and a checksum.
#![cfg_attr(
    not(feature = "files"),
    allow(dead_code, reason = "used only by serde's attributes, or only in files")
)]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "it is read by those who work on the crates: `cargo doc --document-private-items`"
)]

pub mod call_stack;
pub mod described;
pub mod environment;
pub mod foreign;
pub mod memory_model;
pub mod monitors;
pub mod record;
pub mod runtime;
pub mod schedule;
pub mod scope;
pub mod serial;
pub mod site;
pub mod sites;
pub mod source;
pub mod store;
pub mod strategy;
pub mod suggest;
pub mod trace;
pub mod words;
