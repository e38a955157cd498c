//! Operations of an object under test: where they begin and end, for whoever checks histories.

use intermezzo_engine::runtime::{Access, Body, Engine, Gates, Object, VarKind};
use intermezzo_sdk::SyncVarOp;
use std::panic::Location;

/// Marks the operations of one object under test.
///
/// The call is a schedule point, so that others may go on before the operation does anything; the return comes in the
/// same step as the last thing that the operation does. Searches hold a return and a call of different tasks for
/// dependent, so that no reduction takes executions for the same in which different operations were over when another
/// began.
pub struct Operations(Object<Marks>);

struct Marks;

// SAFETY: there is no state to touch; the identity is the engine's, which lets one task run at a time.
unsafe impl Sync for Operations {}

impl Body for Marks {
    const KIND: VarKind = VarKind::Operations;
    fn gates(&self) -> Gates {
        0
    }
}

impl Operations {
    /// Marks for another object.
    pub const fn new() -> Operations {
        Operations(Object::new(Marks))
    }

    /// The calling task begins an operation. Does nothing outside an exploration.
    #[track_caller]
    pub fn call(&self, number: u64) {
        if let Some(engine) = Engine::current() {
            let site = Location::caller();
            let (var, _) = self.0.inside(engine, site);
            let access = Access::new(SyncVarOp::OperationCall, var, site);
            engine.enter(access);
            engine.commit(access, 0, number);
        }
    }

    /// The calling task's operation is over. Does nothing outside an exploration.
    #[track_caller]
    pub fn returned(&self, number: u64) {
        if let Some(engine) = Engine::current() {
            let site = Location::caller();
            let (var, _) = self.0.inside(engine, site);
            let access = Access::new(SyncVarOp::OperationReturn, var, site);
            engine.point(access);
            engine.commit(access, 0, number);
        }
    }
}

impl Default for Operations {
    fn default() -> Self {
        Operations::new()
    }
}
