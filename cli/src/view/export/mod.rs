//! Exports of reports for other tools, a format a file.

pub(super) mod annotations;
pub(super) mod dot;
pub(super) mod junit;
pub(super) mod perfetto;
pub(super) mod sarif;
pub(super) mod shiviz;
mod words;
