//! Monitors from files: in C and in Rust, at work, and refused.

mod build;
mod mutated;
mod refused;
mod work;
