//! The predictor over several executions: its limit, and the profiles that it recognises.

use super::super::access::{Effect, Places};
use super::super::iroot::IRoot;
use super::super::predict::Predictor;
use super::super::profile::Profiler;
use super::super::session::{Options, Session};
use super::program::Program;
use super::{Recorded, accesses, record};
use hashbrown::HashSet;
use intermezzo_engine::strategy::Plan;
use intermezzo_engine::trace::Trace;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const WINDOW: u32 = 20;

/// Profiles an execution.
fn profile(profiler: &mut Profiler, recorded: &Recorded, places: &mut Places) {
    profiler.clear();
    for event in &recorded.events {
        let accesses = accesses(event, places);
        profiler.add(&event.0, &accesses, WINDOW);
    }
    profiler.finish();
}

/// Returns the iRoots that an execution predicts.
fn predicted(profiler: &Profiler) -> BTreeSet<IRoot> {
    let (new, whole) = Predictor::default().predict(profiler, WINDOW, &mut HashSet::new(), usize::MAX);
    assert!(whole);
    new.into_iter().collect()
}

/// As many iRoots as the limit are all kept. If there is one more, it is left out, and that is reported.
#[test]
fn only_what_is_left_out_counts_as_left_out() {
    let mut compared = 0;
    for number in 0..100 {
        let (mut profiler, mut places) = (Profiler::default(), Places::default());
        for recorded in record(&Program::random(number, true, 4), number, 1) {
            profile(&mut profiler, &recorded, &mut places);
            let all = predicted(&profiler);
            if all.is_empty() {
                continue;
            }
            let mut known = HashSet::new();
            let (new, whole) = Predictor::default().predict(&profiler, WINDOW, &mut known, all.len());
            assert_eq!((new.len(), known.len(), whole), (all.len(), all.len(), true));
            // Known iRoots are neither new nor left out.
            let (new, whole) = Predictor::default().predict(&profiler, WINDOW, &mut known, all.len());
            assert_eq!((new.len(), known.len(), whole), (0, all.len(), true));
            let mut known = HashSet::new();
            for new_ones in [all.len() - 1, 0] {
                let (new, whole) = Predictor::default().predict(&profiler, WINDOW, &mut known, all.len() - 1);
                assert_eq!((new.len(), known.len(), whole), (new_ones, all.len() - 1, false));
            }
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

/// Returns a session that searches, and predicts at most this many iRoots.
fn session(predicted_max: usize) -> Session {
    let options = Options {
        searches: true,
        window: WINDOW,
        target: None,
        memo: None,
        write_every: Duration::ZERO,
    };
    let session = Session::open(&options, "test").unwrap();
    session.get().predicted_max = predicted_max;
    session
}

/// Passes an execution to a session. Returns `true` if it was profiled.
fn observe(session: &Session, recorded: &Recorded) -> bool {
    let mut inner = session.get();
    inner.begin();
    let effects = recorded
        .events
        .iter()
        .map(|(event, site)| inner.effect(event.op, site));
    let effects: Vec<Option<Effect>> = effects.collect();
    let events = || recorded.events.iter().map(|(event, _)| event).zip(&effects);
    for (event, effect) in events() {
        effect.iter().for_each(|effect| inner.note(event, *effect));
    }
    for (event, effect) in events() {
        effect.iter().for_each(|effect| inner.add(event, *effect));
    }
    let is_profiled = inner.is_profiled();
    if is_profiled {
        for (event, effect) in events() {
            inner.profile(event, *effect);
        }
        inner.predict();
    }
    inner.end();
    is_profiled
}

/// Passes executions to a session with this limit, again and again, until the search makes its first attempt. Returns
/// the number of profile runs, the number of predicted iRoots, and `true` if some were left out.
fn search(executions: &[Recorded], predicted_max: usize) -> (usize, u64, bool) {
    let session = session(predicted_max);
    let mut strategy = session.strategy(1, 2);
    let mut runs = 0;
    for recorded in executions.iter().cycle().take(1000) {
        if !strategy.next(&mut Plan::default(), &Trace::default()) || session.get().attempted().is_some() {
            break;
        }
        observe(&session, recorded);
        runs += 1;
    }
    let (measured, _) = session.close();
    let search = measured.search.unwrap();
    (runs, search.predicted, search.overflowed)
}

/// An attempt is profiled only if it exposes an iRoot that was not predicted, and whose idiom is predicted.
#[test]
fn an_attempt_that_exposes_only_what_was_predicted_is_not_profiled() {
    let (mut profiled, mut confirmed, mut without_new) = (0, 0, 0);
    for number in 0..100 {
        let executions = record(&Program::random(number, false, 5), number, 8);
        let session = session(usize::MAX);
        let mut strategy = session.strategy(1, 2);
        // The profile runs have only one execution.
        let others = executions.iter().cycle().skip(1);
        let first = std::iter::repeat_n(&executions[0], 4);
        for (run, recorded) in first.chain(others).take(40).enumerate() {
            if !strategy.next(&mut Plan::default(), &Trace::default()) {
                break;
            }
            let is_attempt = session.get().attempted().is_some();
            let [exposed, predicted] = session.get().found();
            let is_profiled = observe(&session, recorded);
            let [all, _] = session.get().found();
            let mut new = all.difference(&exposed);
            let is_surprising = new.any(|iroot| iroot.idiom < 6 && !predicted.contains(iroot));
            assert_eq!(
                is_profiled,
                !is_attempt || is_surprising,
                "program {number}, run {run}"
            );
            let is_new = all.len() > exposed.len();
            profiled += u32::from(is_attempt && is_profiled);
            confirmed += u32::from(is_attempt && is_new && !is_surprising);
            without_new += u32::from(is_attempt && !is_new);
        }
    }
    assert!(
        profiled > 10 && confirmed > 100 && without_new > 500,
        "{profiled} {confirmed} {without_new}"
    );
}

/// The limit holds for a whole exploration: profile runs end although there are more predictions.
#[test]
fn a_search_that_reaches_the_limit_goes_on_to_attempts() {
    let mut reached = 0;
    for number in 0..50 {
        let executions = record(&Program::random(number, false, 5), number, 8);
        let (runs, all, overflowed) = search(&executions, usize::MAX);
        assert!(runs < 1000 && !overflowed, "{runs}");
        if all == 0 {
            continue;
        }
        let kept = all as usize;
        assert_eq!(search(&executions, kept), (runs, all, false));
        let (fewer_runs, fewer, overflowed) = search(&executions, kept - 1);
        assert_eq!((fewer, overflowed), (all - 1, true));
        assert!(fewer_runs <= runs, "{fewer_runs} instead of {runs}");
        assert_eq!(search(&executions, 0), (3, 0, true));
        reached += 1;
    }
    assert!(reached > 30, "{reached}");
}

/// Executions with the same digest predict the same. The digest does not depend on earlier executions of the same
/// profiler.
#[test]
fn equal_digests_are_of_equal_predictions() {
    let mut profiler = Profiler::default();
    let (mut alike, mut fewer_tasks) = (0, 0);
    let mut most_tasks = 0;
    for number in 0..100 {
        let mut places = Places::default();
        let mut known: BTreeMap<u128, BTreeSet<IRoot>> = BTreeMap::new();
        for recorded in record(&Program::random(number, number % 2 == 0, 4), number, 20) {
            profile(&mut profiler, &recorded, &mut places);
            let mut other = Profiler::default();
            profile(&mut other, &recorded, &mut places);
            let (digest, predictions) = (profiler.digest(), predicted(&profiler));
            assert_eq!((other.digest(), &predicted(&other)), (digest, &predictions));
            let tasks = other.tasks().count();
            fewer_tasks += u32::from(tasks < most_tasks);
            most_tasks = most_tasks.max(tasks);
            match known.get(&digest) {
                Some(known) => {
                    assert_eq!(*known, predictions, "{recorded:?}");
                    alike += 1;
                }
                None => drop(known.insert(digest, predictions)),
            }
        }
    }
    assert!(alike > 500 && fewer_tasks > 500, "{alike} {fewer_tasks}");
}
