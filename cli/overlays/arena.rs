//! `test`, and the global allocator that gives each execution memory of its own. Test binaries with another global
//! allocator get `test` alone.

pub use intermezzo_overlay_test::*;

#[global_allocator]
static ARENA: intermezzo::unmodified::Arena = intermezzo::unmodified::Arena;
