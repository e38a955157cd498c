//! Counters that are added to and read.

use crate::agreement::{Object, compare};
use intermezzo_refinement::specs::counter::{Call, Counter};
use rand::RngExt;

fn perform(state: &mut u64, call: &Call) -> u64 {
    let before = *state;
    if let Call::FetchAdd(amount) = call {
        *state += amount;
    }
    before
}

#[test]
fn agree() {
    compare(&Object {
        name: "counter, by one",
        specification: Counter(7),
        initial: 7,
        perform,
        call: |random, _| match random.random_range(0..5) {
            0..4 => Call::FetchAdd(1),
            _ => Call::Get,
        },
    });
}

#[test]
fn agree_with_other_amounts() {
    compare(&Object {
        name: "counter, by zero to three",
        specification: Counter(0),
        initial: 0,
        perform,
        call: |random, _| match random.random_range(0..5) {
            0..4 => Call::FetchAdd(random.random_range(0..4)),
            _ => Call::Get,
        },
    });
}
