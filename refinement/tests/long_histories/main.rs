//! The checks of long histories, against all orders of short ones and against the general checker.
//!
//! `CHECKED_HISTORIES` sets how many histories of each object are compared, `CHECKED_SEED` the first seed.

#![allow(clippy::print_stdout, reason = "figures for manual runs of the tests")]

mod agreement;
mod long;
mod orders;
mod told;

mod fetch_add;
mod priority_queue;
mod queue;
mod register;
mod set;
mod stack;
