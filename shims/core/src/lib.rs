//! `core`, with intermezzo's look-alikes where there are any: the part of `intermezzo-std` that core has.

pub use ::core::*;
pub use intermezzo_std::{cell, hint};

/// `core::sync`, controlled.
pub mod sync {
    pub use intermezzo_std::sync::atomic;
}
