//! Stacks, with looks at the top.

use crate::agreement::{Object, compare};
use intermezzo_refinement::specs::stack::{Call, Return, Stack};
use rand::RngExt;

fn perform(state: &mut Vec<u64>, call: &Call<u64>) -> Return<u64> {
    match call {
        Call::Push(value) => {
            state.push(*value);
            Return::Done
        }
        Call::Pop => Return::Top(state.pop()),
        Call::Top => Return::Top(state.last().copied()),
    }
}

#[test]
fn agree() {
    compare(&Object {
        name: "stack",
        specification: Stack::new(),
        initial: Vec::new(),
        perform,
        call: |random, at| match random.random_range(0..2) {
            0 => Call::Push(at),
            _ => Call::Pop,
        },
    });
}

#[test]
fn agree_with_tops() {
    compare(&Object {
        name: "stack with tops",
        specification: Stack::new(),
        initial: Vec::new(),
        perform,
        call: |random, at| match random.random_range(0..8) {
            0..3 => Call::Push(at),
            3..5 => Call::Pop,
            _ => Call::Top,
        },
    });
}
