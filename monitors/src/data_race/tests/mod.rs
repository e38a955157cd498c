//! Executions written by hand: for each kind of edge one without it, which races, and its fixed twin.

mod atomics;
mod locks;
mod memory;
mod words;

use super::DataRaces;
use intermezzo_sdk::testing::Script;
use intermezzo_sdk::{FindingKind, Location, MemoryOrder, MonitorFinding, SyncVar, SyncVarOp, TaskId};

use MemoryOrder::{AcqRel, Acquire, Relaxed, Release, SeqCst};
const MAIN: TaskId = Script::MAIN;

/// Two tasks, and a cell that both write, with something between.
struct Scene {
    script: Script,
    a: TaskId,
    b: TaskId,
    cell: Location,
}

impl Scene {
    fn new() -> Scene {
        let mut script = Script::new();
        let cell = script.location("cell");
        let (a, b) = (script.fork(MAIN), script.fork(MAIN));
        Scene { script, a, b, cell }
    }

    fn var(&mut self, name: &str) -> SyncVar {
        self.script.var(name)
    }

    fn op(&mut self, task: TaskId, op: SyncVarOp, var: SyncVar) {
        self.values(task, op, var, 0, 0);
    }

    fn values(&mut self, task: TaskId, op: SyncVarOp, var: SyncVar, read: u64, written: u64) {
        self.script.sync(task, op, var, MemoryOrder::None, read, written);
    }
}

fn reports(script: &Script) -> Vec<MonitorFinding> {
    let reports = script.play(&mut DataRaces::new());
    assert!(
        reports
            .iter()
            .all(|report| report.kind == FindingKind::DataRace && report.suggestion.is_some())
    );
    reports
}

/// Lets task `a` write, then performs `between`, then lets task `b` write. Checks that the two race, or do not.
#[track_caller]
fn check(races: bool, between: impl FnOnce(&mut Scene)) {
    let mut scene = Scene::new();
    scene.script.write(scene.a, scene.cell);
    between(&mut scene);
    scene.script.write(scene.b, scene.cell);
    let found = reports(&scene.script);
    assert_eq!(!found.is_empty(), races, "{found:#?}");
}
