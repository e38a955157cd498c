//! `history`: recorded histories of concurrent objects.

pub(crate) mod check;
mod intervals;
