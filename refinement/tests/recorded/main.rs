//! Histories in files: those of others with known verdicts, every format, and files that are damaged.

mod damaged;
mod formats;
mod published;
