//! The detector finds exactly the iRoots of the definitions, in each of thousands of random executions.

use super::super::access::Places;
use super::super::exposed::Detector;
use super::program::Program;
use super::{Recorded, accesses, naive, record};
use std::collections::BTreeSet;

/// Returns the iRoots that the detector finds.
fn detected(recorded: &Recorded, window: u32) -> BTreeSet<String> {
    let (mut detector, mut places) = (Detector::default(), Places::default());
    for event in &recorded.events {
        for access in accesses(event, &mut places) {
            detector.add(access, window);
        }
    }
    detector.found().map(|iroot| iroot.name(&places)).collect()
}

#[test]
fn executions_expose_what_the_definitions_say() {
    let mut counts = [0; 7];
    let mut executions = 0;
    for number in 0..1500 {
        let program = Program::random(number, number % 3 == 0, 7);
        for recorded in record(&program, number, 3) {
            let window = [2, 5, 20][number as usize % 3];
            let expected = naive::exposed(&recorded, window);
            let found = detected(&recorded, window);
            assert_eq!(found, expected, "{program:?} {recorded:?}");
            for name in &found {
                counts[usize::from(name.as_bytes()[0] - b'0')] += 1;
            }
            executions += 1;
        }
    }
    assert_eq!(executions, 4500);
    // Each idiom occurs often enough for the comparison to be meaningful.
    assert!(counts[1..].iter().all(|&count| count > 500), "{counts:?}");
}
