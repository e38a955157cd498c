//! `shuttle::hint`.

pub use intermezzo::hint::spin_loop;
