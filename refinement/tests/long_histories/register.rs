//! Registers that are read and written.

use crate::agreement::{Object, compare};
use intermezzo_refinement::specs::register::{Call, Register, Return};
use rand::RngExt;

#[test]
fn agree() {
    compare(&Object {
        name: "register",
        specification: Register(99),
        initial: 99,
        perform: |state, call| match call {
            Call::Write(value) => {
                *state = *value;
                Return::Done
            }
            Call::Read => Return::Value(*state),
            Call::CompareAndSet(..) => unreachable!("no values are compared"),
        },
        call: |random, at| match random.random_range(0..5) {
            0..2 => Call::Write(at),
            _ => Call::Read,
        },
    });
}
