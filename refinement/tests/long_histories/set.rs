//! Sets, of few keys.

use crate::agreement::{Object, compare};
use intermezzo_refinement::specs::set::{Call, Set};
use rand::RngExt;

#[test]
fn agree() {
    compare(&Object {
        name: "set",
        specification: Set::new(),
        initial: [false; 2],
        perform: |state, call| {
            let there = &mut state[*call.key()];
            match call {
                Call::Insert(_) => !std::mem::replace(there, true),
                Call::Remove(_) => std::mem::replace(there, false),
                Call::Contains(_) => *there,
            }
        },
        call: |random, at| {
            let key = random.random_range(0..2);
            match random.random_range(0..7) {
                // Mostly one insertion of a key.
                0..2 if at < 3 => Call::Insert(at as usize % 2),
                2..4 => Call::Remove(key),
                _ => Call::Contains(key),
            }
        },
    });
}
