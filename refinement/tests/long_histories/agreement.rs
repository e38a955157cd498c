//! Random short histories, true ones and mutated ones, and the verdicts of the checkers and the oracle.

use crate::orders;
use intermezzo_refinement::check::long::{CheckLong, Long};
use intermezzo_refinement::check::{Same, check};
use intermezzo_refinement::history::{History, Operation};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Debug;

pub(crate) type Random = Xoshiro256PlusPlus;

/// The number of histories of each kind.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) linearizable: u64,
    pub(crate) violations: u64,
    pub(crate) not_applicable: u64,
}

/// The functions that make and judge histories.
pub(crate) struct Object<'a, S: CheckLong, State> {
    pub(crate) name: &'a str,
    pub(crate) specification: S,
    pub(crate) initial: State,
    /// Performs a call on the oracle's own state.
    pub(crate) perform: fn(&mut State, &S::Call) -> S::Return,
    /// Returns a random call; the number is that of the calls before.
    pub(crate) call: fn(&mut Random, u64) -> S::Call,
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Returns operations with the results of some order, each with a time around its moment.
fn true_history<S: CheckLong, State: Clone>(
    object: &Object<'_, S, State>,
    random: &mut Random,
) -> Vec<Operation<S::Call, S::Return>> {
    let count = random.random_range(1..=10);
    let wide = [2, 8, 15, 40][random.random_range(0..4)];
    let pending = [0.0, 0.0, 0.1, 0.3][random.random_range(0..4)];
    let mut state = object.initial.clone();
    let mut operations = Vec::new();
    for at in 0..count {
        let call = (object.call)(random, at);
        let returned = (object.perform)(&mut state, &call);
        let moment = 50 + 10 * at;
        // Now and then one takes much longer than the others.
        let wide = if random.random_bool(0.2) { 45 } else { wide };
        operations.push(Operation {
            process: at as u32,
            call,
            returned: Some(returned),
            called_at: moment - random.random_range(0..wide),
            returned_at: moment + 1 + random.random_range(0..wide),
        });
    }
    for operation in &mut operations {
        if random.random_bool(pending) {
            operation.returned = None;
            operation.returned_at = Operation::<S::Call, S::Return>::NEVER;
        }
    }
    operations
}

/// Swaps results, and shifts times.
fn mutate<C, R>(operations: &mut [Operation<C, R>], random: &mut Random) {
    for _ in 0..random.random_range(0..7) {
        let one = random.random_range(0..operations.len());
        let other = random.random_range(0..operations.len());
        if random.random_bool(0.4) {
            swap_results(operations, one, other);
            continue;
        }
        let operation = &mut operations[one];
        operation.called_at = operation
            .called_at
            .saturating_add_signed(random.random_range(-40..40));
        if operation.returned.is_some() {
            operation.returned_at = operation
                .returned_at
                .saturating_add_signed(random.random_range(-40..40))
                .max(operation.called_at + 1);
        }
    }
}

/// Swaps the results of two operations of one kind.
fn swap_results<C, R>(operations: &mut [Operation<C, R>], one: usize, other: usize) {
    let kind = |at: usize| std::mem::discriminant(&operations[at].call);
    let both = operations[one].returned.is_some() && operations[other].returned.is_some();
    if one != other && both && kind(one) == kind(other) {
        let value = operations[one].returned.take();
        let value = std::mem::replace(&mut operations[other].returned, value);
        operations[one].returned = value;
    }
}

/// The number of histories of each object that are compared by default.
const HISTORIES: u64 = 20_000;

/// Compares the checkers on random histories of an object.
pub(crate) fn compare<S: CheckLong, State: Clone>(object: &Object<'_, S, State>) -> Counts
where
    S::Call: Clone + Debug,
    S::Return: Clone + Debug + PartialEq,
    S::State: Debug,
{
    let seed = number("CHECKED_SEED", 20_261_121);
    let histories = number("CHECKED_HISTORIES", HISTORIES);
    let mut random = Random::seed_from_u64(seed);
    let mut counts = Counts::default();
    for case in 0..histories {
        let mut operations = true_history(object, &mut random);
        mutate(&mut operations, &mut random);
        let history = History::new(operations).expect("a history");
        let expected = orders::exists(history.operations(), object.initial.clone(), &object.perform);
        let found = object.specification.check_long(&history);
        let context = || {
            format!(
                "{}, seed {seed}, case {case}: {:#?}\n{found:#?}, and an order exists: {expected}",
                object.name,
                history.operations()
            )
        };
        match &found {
            Long::Linearizable => assert!(expected, "{}", context()),
            Long::Violation(violation) => {
                assert!(!expected, "{}", context());
                let concerned: Vec<_> = violation
                    .operations
                    .iter()
                    .map(|&at| history.operations()[at].clone())
                    .collect();
                assert!(
                    !orders::exists(&concerned, object.initial.clone(), &object.perform),
                    "the operations named are not to blame: {}",
                    context()
                );
            }
            Long::NotApplicable(_) => {}
        }
        let general = check(&object.specification, &history, Same::Linearizable);
        assert_eq!(general.is_allowed(), expected, "{general:#?} {}", context());
        *match found {
            Long::Linearizable => &mut counts.linearizable,
            Long::Violation(_) => &mut counts.violations,
            Long::NotApplicable(_) => &mut counts.not_applicable,
        } += 1;
    }
    println!("{}: {counts:?}", object.name);
    assert!(
        counts.linearizable > histories / 10 && counts.violations > histories / 20,
        "{}: both kinds come up: {counts:?}",
        object.name
    );
    assert!(
        counts.not_applicable < histories / 4,
        "{}: {counts:?}",
        object.name
    );
    counts
}
