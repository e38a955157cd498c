//! Operations of an object under test: their beginnings and ends, for checkers of histories.

use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, Site, VarKind};
use intermezzo_sdk::SyncVarOp;

/// Marks for the operations of one object under test.
///
/// The call is a schedule point, so that other tasks may continue before the operation does anything. The return belongs to
/// the same step as the operation's last action. Searches treat a return and a call of different tasks as dependent. So
/// no reduction leaves out an execution for another one in which other operations had returned when one began.
///
/// Under a memory model, the order of an execution's steps is not a time that all tasks share. There calls and returns
/// commute with everything and are no schedule points. One operation comes before another if its return happens before
/// the other's call, and that is the same in all executions of a trace.
pub struct Operations(Object<Marks>);

struct Marks;

// SAFETY: there is no state to access; the identity is the engine's, which lets one task run at a time.
unsafe impl Sync for Operations {}

impl Body for Marks {
    const KIND: VarKind = VarKind::Operations;
    fn gates(&self) -> Gates {
        0
    }
}

impl Operations {
    /// Returns marks for another object.
    pub const fn new() -> Operations {
        Operations(Object::new(Marks))
    }

    /// Notes that the calling task begins an operation. Does nothing outside an exploration.
    #[track_caller]
    pub fn call(&self, number: u64) {
        if let Some(engine) = Engine::current() {
            let site = Site::caller();
            if engine.has_memory_model() {
                return note(engine, Access::nowhere(SyncVarOp::OperationCall, site), number);
            }
            let (var, _) = self.0.inside(engine, site);
            let access = Access::new(SyncVarOp::OperationCall, var, site);
            engine.enter(access);
            engine.commit(access, 0, number);
        }
    }

    /// Notes that the calling task's operation is over. Does nothing outside an exploration.
    #[track_caller]
    pub fn returned(&self, number: u64) {
        if let Some(engine) = Engine::current() {
            let site = Site::caller();
            if engine.has_memory_model() {
                return note(engine, Access::nowhere(SyncVarOp::OperationReturn, site), number);
            }
            let (var, _) = self.0.inside(engine, site);
            note(engine, Access::new(SyncVarOp::OperationReturn, var, site), number);
        }
    }

    /// Returns `true` if the calling task's execution has a memory model: calls and returns are not ordered in time then.
    pub fn have_memory_model() -> bool {
        Engine::current().is_some_and(Engine::has_memory_model)
    }
}

/// Records a mark that is no schedule point.
fn note(engine: Engine, access: Access, number: u64) {
    engine.point(access);
    engine.commit(access, 0, number);
}

impl Default for Operations {
    fn default() -> Self {
        Operations::new()
    }
}
