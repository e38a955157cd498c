//! The contract between an engine and a monitor that is loaded from a file: the [`Monitor`](crate::Monitor) contract
//! in C.
//!
//! This module is its single source; `include/intermezzo.h` is generated from it. Only types of C cross the boundary:
//! integers, pointers, and structs of these. The rules:
//!
//! - **Versions.** The [`VERSION`] is part of the name of the [entry](Entry), and of both tables. Any change of a
//!   struct, a number or a meaning is another version. Each struct begins with its size, so that a plugin compiled in
//!   another way is noticed as well. An engine loads plugins of its own version, and of those older ones that
//!   [`ENTRIES`] lists. Such a plugin receives the host's table of its own version, and fills the monitor's table of that
//!   version. A plugin refuses an engine of another version.
//! - **Ownership.** The side that allocated something frees it. The arguments of a function belong to the caller and are
//!   valid until the function returns; a function that keeps them makes a copy.
//! - **Text** is UTF-8 with its length, and need not end with a zero byte.
//! - **Calls are sequential.** An engine calls one monitor's functions one after the other, perhaps from different
//!   threads in turn. Several monitors made by one entry may be called at the same time.
//! - **The functions of the [`HostTable`] are called only in a callback**, on its thread and with its [`Call`]. After the
//!   callback has returned, they return empty results.
//! - **Nothing unwinds across the boundary**, neither a panic nor a C++ exception. A plugin made by
//!   [`export_monitor!`](crate::export_monitor) catches its panics, reports them and stays silent from then on.

mod call;
mod data;
mod export;
mod foreign;
mod guest;
mod instance;
mod panics;
mod rehearsal;
mod table;

pub use data::{
    Allocated, Attribute, DataAccess, ExecutionInfo, Finding, FindingDeed, Point, PrescribedChoice, Released,
    Said, SyncAccess, Text,
};
pub use export::enter;
pub use foreign::{Foreign, Refusal};
pub use rehearsal::rehearsal;
pub use table::{
    ARGUMENTS_BYTES_MAX, Call, Entry, FAILED, HostTable, Interest, MESSAGE_BYTES, MonitorTable,
    NAME_BYTES_MAX, NONE, OK, TABLE_BYTES, VERSION,
};

/// The C header of the contract.
///
/// ```
/// assert!(intermezzo_sdk::abi::HEADER.contains("intermezzo_monitor_7"));
/// ```
pub const HEADER: &str = include_str!("../../include/intermezzo.h");

/// The name under which a plugin exports its [`Entry`]. It holds the [`VERSION`].
pub const ENTRY: &str = "intermezzo_monitor_7";

/// The versions of plugins that an engine of this version loads, the newest first, and the names of their entries.
///
/// Versions 5 and 6 have nothing after `on_shutdown` in the [`MonitorTable`]: their monitors do not follow stale reads.
/// Version 5 has no functions after `clock` in the [`HostTable`]. Everything else is the same.
pub const ENTRIES: [(u32, &str); 3] = [
    (VERSION, ENTRY),
    (6, "intermezzo_monitor_6"),
    (5, "intermezzo_monitor_5"),
];

/// The prefix of the names of entries, whatever their version.
pub const ENTRY_PREFIX: &str = "intermezzo_monitor_";
