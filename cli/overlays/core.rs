//! `core`, with intermezzo's look-alikes of its items laid over it.

#![no_std]

pub use ::core::*;
pub use intermezzo_overlay_std::{arch, hint};

// For what `#[global_allocator]` becomes.
#[doc(hidden)]
pub use intermezzo_overlay_std::{__intermezzo, __std};

/// `core::sync`
pub mod sync {
    pub use ::core::sync::*;
    pub use intermezzo_overlay_std::sync::atomic;
}
