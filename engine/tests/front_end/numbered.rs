//! A front end that knows its objects by number, and its places by the address of an instruction.
//!
//! It shows what a front end needs of the engine: a variable for each object that an execution uses, an announcement
//! before each visible operation, a gate for what can block, and a record of what happened. Plain memory is known by
//! its address.

use intermezzo_engine::runtime::{
    Access, DataAccess, Does, Engine, Gates, Owner, Site, VarKind, WaitLimits, gate,
};
use intermezzo_engine::site::{Place, look_up_addresses_by};
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use std::cell::RefCell;
use std::collections::HashMap;

/// The gate of a lock that nothing holds.
const FREE: Gates = 1;

/// The objects of an execution: the variable and the value of each, by number.
#[derive(Default)]
struct Objects {
    epoch: u64,
    by_number: HashMap<usize, (u32, u64)>,
}

thread_local! {
    /// All tasks of a worker run on its thread.
    static OBJECTS: RefCell<Objects> = RefCell::default();
}

/// Names instructions: address 17 is line 17 of `numbered.bin`.
pub(crate) fn name_places() {
    look_up_addresses_by(|address| {
        Some(Place {
            file: "numbered.bin",
            line: address as u32,
            column: 1,
        })
    });
}

fn engine() -> Engine {
    Engine::current().expect("inside an execution")
}

/// Calls the function with an object's variable and value in this execution.
fn object<R>(number: usize, kind: VarKind, at: usize, f: impl FnOnce(&mut (u32, u64)) -> R) -> R {
    let engine = engine();
    OBJECTS.with_borrow_mut(|objects| {
        if objects.epoch != engine.epoch() {
            (objects.epoch, objects.by_number) = (engine.epoch(), HashMap::new());
        }
        let new = || (engine.new_var(kind, FREE, Site::instruction(at)), 0);
        f(objects.by_number.entry(number).or_insert_with(new))
    })
}

fn access(op: SyncVarOp, var: u32, at: usize) -> Access {
    Access::new(op, var, Site::instruction(at))
}

pub(crate) fn lock(number: usize, at: usize) {
    let access = access(
        SyncVarOp::LockAcquire,
        object(number, VarKind::Mutex, at, |it| it.0),
        at,
    );
    engine().enter_gated(access, FREE, WaitLimits::default());
    engine().own(access.var, access.site);
    engine().set_gates(access.var, 0);
    engine().commit(access, 0, 0);
}

pub(crate) fn unlock(number: usize, at: usize) {
    let access = access(
        SyncVarOp::LockRelease,
        object(number, VarKind::Mutex, at, |it| it.0),
        at,
    );
    engine().enter(access);
    engine().disown(access.var);
    engine().set_gates(access.var, FREE);
    engine().commit(access, 0, 0);
}

/// Performs an operation on an atomic, which replaces its value by the result of `f`. Returns the value before.
fn atomic(op: SyncVarOp, number: usize, at: usize, f: impl FnOnce(u64) -> u64) -> u64 {
    let var = object(number, VarKind::Atomic, at, |it| it.0);
    let access = Access {
        order: MemoryOrder::SeqCst,
        ..access(op, var, at)
    };
    engine().enter(access);
    let (before, after) = object(number, VarKind::Atomic, at, |(_, value)| {
        let before = *value;
        *value = f(before);
        (before, *value)
    });
    engine().commit(access, before, after);
    before
}

pub(crate) fn load(number: usize, at: usize) -> u64 {
    atomic(SyncVarOp::AtomicLoad, number, at, |value| value)
}

pub(crate) fn store(number: usize, value: u64, at: usize) {
    atomic(SyncVarOp::AtomicStore, number, at, |_| value);
}

pub(crate) fn add(number: usize, at: usize) -> u64 {
    atomic(SyncVarOp::AtomicRmw, number, at, |value| value + 1)
}

/// Reports an access to eight bytes of plain memory.
pub(crate) fn plain(address: usize, does: Does, at: usize) {
    engine().data_access(DataAccess {
        owner: Owner::Unknown,
        address,
        size: 8,
        does,
        site: Site::instruction(at),
    });
}

/// Reports an access to some bytes of plain memory: at once, or held back while one task alone uses the memory.
pub(crate) fn plain_bytes(held: bool, address: usize, size: usize, does: Does, at: usize) {
    let access = DataAccess {
        owner: Owner::Unknown,
        address,
        size,
        does,
        site: Site::instruction(at),
    };
    match held {
        true => engine().access_by_address(access),
        false => engine().data_access(access),
    }
}

pub(crate) fn spawn(f: impl FnOnce() + 'static, at: usize) -> u32 {
    // SAFETY: nothing is borrowed.
    unsafe { engine().fork(None, Site::instruction(at), f) }
}

pub(crate) fn join(task: u32, at: usize) {
    let var = engine().task_var(task);
    let access = access(SyncVarOp::TaskJoin, var, at);
    engine().wait(access, var, gate::ENDED, WaitLimits::default());
    engine().commit(access, u64::from(task), 0);
    // SAFETY: it was forked with a closure that returns nothing.
    let result = unsafe { engine().take_result::<()>(task) };
    result.expect("a task is joined once").expect("no task panics");
}
