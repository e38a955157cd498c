//! A sequence lock: its readers try again if a writer came in between.

use super::scaffold::{in_tasks, wait_until, zeros};
use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use intermezzo::sync::atomic::fence;

/// One writer, one reader.
pub(super) const SEQLOCK: Program = Program {
    name: "seqlock-atomic",
    about: "a writer changes two values between two increments of a sequence number, under a mutex; a reader \
            tries until it has seen both at one even number",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Pass,
    body: |_| {
        let ([sequence, x, y], writers) = (zeros(), Mutex::new(()));
        in_tasks([
            &|| {
                let _writing = writers.lock().unwrap();
                let before = sequence.load(Relaxed);
                sequence.store(before + 1, Relaxed);
                fence(Release);
                x.store(1, Relaxed);
                y.store(1, Relaxed);
                sequence.store(before + 2, Release);
            },
            &|| loop {
                let mut before = 0;
                wait_until(|| {
                    before = sequence.load(Acquire);
                    before % 2 == 0
                });
                let seen = (x.load(Relaxed), y.load(Relaxed));
                fence(Acquire);
                if sequence.load(Relaxed) == before {
                    assert_eq!(seen.0, seen.1);
                    break;
                }
            },
        ]);
    },
};
