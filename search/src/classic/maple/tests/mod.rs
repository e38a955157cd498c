//! iRoots compared with brute force on random programs: those of the detector with the definitions, and those of the
//! profiler with all executions.

mod against_all;
mod against_definitions;
mod naive;
mod predictor;
mod program;
mod sharing;

use super::access::{Access, Accesses, Effect, Places, word};
use intermezzo_explorer::{Explorer, Reduction, Report, Strategy};
use intermezzo_sdk::{Context, Execution, Interests, Monitor, SyncVarAccess};
use program::Program;
use std::sync::{Arc, Mutex};

/// An execution: its events, each with the name of its source place, and `true` if every task ended.
#[derive(Clone, Debug, Default)]
struct Recorded {
    events: Vec<(SyncVarAccess, String)>,
    complete: bool,
}

/// A monitor that records executions.
struct Recorder(Arc<Mutex<Vec<Recorded>>>);

impl Monitor for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn interests(&self) -> Interests {
        Interests::NONE
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let event = |event: &SyncVarAccess| (*event, cx.site_name(event.site));
        self.0.lock().unwrap().push(Recorded {
            events: execution.accesses.iter().map(event).collect(),
            complete: execution.complete,
        });
    }
}

/// Returns this many executions of a program, drawn at random.
fn record(program: &Program, seed: u64, executions: u64) -> Vec<Recorded> {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let own = program.clone();
    Explorer::new()
        .strategy(Strategy::random())
        .seed(seed)
        .executions(executions)
        .keep_going(true)
        .minimise(0)
        .monitor(Recorder(recorded.clone()))
        .explore(move || own.run());
    std::mem::take(&mut *recorded.lock().unwrap())
}

/// Returns all executions of a program, or one for each trace.
fn all(program: &Program, reduction: Reduction) -> Report {
    let own = program.clone();
    Explorer::new()
        .set("iroots", true)
        .reduction(reduction)
        .keep_going(true)
        .minimise(0)
        .explore(move || own.run())
}

/// Returns the accesses of an event.
fn accesses(event: &(SyncVarAccess, String), places: &mut Places) -> Vec<Access> {
    let Some(word) = word(event.0.op) else {
        return Vec::new();
    };
    let place = places.number(format!("{} {word}", event.1));
    let effect = Effect::of(event.0.op, place).expect("an access");
    Accesses::of(&event.0, effect).to_vec()
}
