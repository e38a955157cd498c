//! Exports of reports for other tools, with a file for each format.

pub(super) mod annotations;
pub(super) mod dot;
pub(super) mod junit;
pub(super) mod perfetto;
pub(super) mod sarif;
pub(super) mod shiviz;
mod words;
