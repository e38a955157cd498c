//! Scenarios performed: one task at a time, or all at once, with their histories written down.

pub(crate) mod body;
pub(crate) mod record;
