//! Monitors from files, in C and in Rust: loaded plugins, and files that are refused.

mod build;
mod mutated;
mod named;
mod refused;
mod work;
