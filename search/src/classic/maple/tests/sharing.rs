//! The accesses that do not matter to iRoots: without them, an execution exposes and predicts the same ones.

use super::super::access::{Access, Accesses, Effect, Places, word};
use super::super::exposed::Detector;
use super::super::iroot::IRoot;
use super::super::predict::Predictor;
use super::super::profile::Profiler;
use super::super::sharing::Sharing;
use super::program::Program;
use super::{Recorded, record};
use hashbrown::HashSet;
use std::collections::BTreeSet;

const WINDOW: u32 = 20;

/// Returns the accesses of each event, and the ones among them that matter.
fn accesses(recorded: &Recorded, places: &mut Places) -> Vec<(Vec<Access>, Vec<Access>)> {
    let mut sharing = Sharing::default();
    let mut all = Vec::new();
    for (event, site) in &recorded.events {
        let effect = word(event.op).map(|word| {
            let place = places.number(format!("{site} {word}"));
            Effect::of(event.op, place).expect("an access")
        });
        if let Some(effect) = effect {
            sharing.note(event.event, event.var, effect);
        }
        all.push(effect.map(|effect| Accesses::of(event, effect)));
    }
    let both = |accesses: Option<Accesses>| match accesses {
        Some(accesses) => (accesses.to_vec(), sharing.that_matter(&accesses).to_vec()),
        None => (Vec::new(), Vec::new()),
    };
    all.into_iter().map(both).collect()
}

/// An observer of one execution after the other.
#[derive(Default)]
struct Observed {
    detector: Detector,
    profiler: Profiler,
    predictor: Predictor,
}

impl Observed {
    /// Returns the iRoots that an execution with these accesses exposes and predicts.
    fn iroots<'a>(
        &mut self,
        recorded: &Recorded,
        accesses: impl Iterator<Item = &'a Vec<Access>>,
    ) -> [BTreeSet<IRoot>; 2] {
        self.detector.clear();
        self.profiler.clear();
        for ((event, _), accesses) in recorded.events.iter().zip(accesses) {
            accesses
                .iter()
                .for_each(|access| self.detector.add(*access, WINDOW));
            self.profiler.add(event, accesses, WINDOW);
        }
        self.profiler.finish();
        let (predicted, whole) =
            self.predictor
                .predict(&self.profiler, WINDOW, &mut HashSet::new(), usize::MAX);
        assert!(whole);
        [
            self.detector.found().copied().collect(),
            predicted.into_iter().collect(),
        ]
    }
}

/// An observer that has observed other executions before has the same results as a new one.
#[test]
fn accesses_that_do_not_matter_change_nothing() {
    let (mut left_out, mut exposed, mut predicted) = (0, 0, 0);
    let mut observed = Observed::default();
    for number in 0..400 {
        let mut places = Places::default();
        for recorded in record(&Program::random(number, number % 2 == 0, 6), number, 3) {
            let accesses = accesses(&recorded, &mut places);
            let all = Observed::default().iroots(&recorded, accesses.iter().map(|(all, _)| all));
            let some = observed.iroots(&recorded, accesses.iter().map(|(_, some)| some));
            assert_eq!(some, all, "{recorded:?}");
            left_out += accesses
                .iter()
                .map(|(all, some)| all.len() - some.len())
                .sum::<usize>();
            exposed += all[0].len();
            predicted += all[1].len();
        }
    }
    let often = [left_out, exposed, predicted].iter().all(|&count| count > 1000);
    assert!(often, "{left_out} {exposed} {predicted}");
}
