//! An execution with every event that a monitor can receive.

use crate::testing::{Event, Script};
use crate::{BlockKind, MemoryOrder, SyncVar, SyncVarOp, TaskId};

/// Returns an execution with every operation, access, allocation and message, by two tasks without an error. It is used to
/// test that a monitor handles every event.
pub fn rehearsal() -> Script {
    let mut script = Script::new();
    let main = Script::MAIN;
    let child = script.fork(main);
    atomics(&mut script, child);
    locks(&mut script, child);
    waits(&mut script, child);
    for task in [main, child] {
        memory(&mut script, task);
    }
    let count = script.var("a count");
    for (op, before, after) in [
        (SyncVarOp::CountUp, 1, 2),
        (SyncVarOp::CountRead, 2, 2),
        (SyncVarOp::CountDown, 2, 1),
    ] {
        script.sync(main, op, count, MemoryOrder::None, before, after);
    }
    let thread = script.var("a task");
    script.operation(main, SyncVarOp::TaskCheck, thread);
    script.end(child);
    script.join(main, child);
    script.end(main);
    script
}

/// Adds atomics and fences, in every ordering, and the operations that have no variable.
fn atomics(script: &mut Script, child: TaskId) {
    let main = Script::MAIN;
    let var = script.var("an atomic");
    let reads = [MemoryOrder::Relaxed, MemoryOrder::Acquire, MemoryOrder::SeqCst];
    let writes = [MemoryOrder::Relaxed, MemoryOrder::Release, MemoryOrder::SeqCst];
    for (value, (read, write)) in (0..).zip(reads.into_iter().zip(writes)) {
        script.load(child, var, read, value);
        script.store(main, var, write, value + 1);
    }
    for order in [MemoryOrder::AcqRel, MemoryOrder::SeqCst] {
        script.rmw(child, var, order, 3, 3);
        script.fence(main, order);
    }
    script.sync(main, SyncVarOp::AtomicRmwFailed, var, MemoryOrder::Relaxed, 3, 0);
    let none = SyncVar::NONE;
    for op in [
        SyncVarOp::Choice,
        SyncVarOp::Yield,
        SyncVarOp::Sleep,
        SyncVarOp::TimeOut,
    ] {
        script.operation(main, op, none);
    }
}

/// Adds locks of both kinds, poison, and initialisation.
fn locks(script: &mut Script, child: TaskId) {
    use SyncVarOp::*;
    let main = Script::MAIN;
    let (mutex, shared, once) = (script.var("a mutex"), script.var("a lock"), script.var("a once"));
    for (task, op, var) in [
        (main, LockAcquire, mutex),
        (main, PoisonCheck, mutex),
        (child, LockTryFailed, mutex),
        (main, LockRelease, mutex),
        (child, LockTryAcquire, mutex),
        (child, LockRelease, mutex),
        (main, PoisonClear, mutex),
        (main, SharedAcquire, shared),
        (child, SharedTryAcquire, shared),
        (child, SharedRelease, shared),
        (main, SharedRelease, shared),
        (main, OnceBegin, once),
    ] {
        script.operation(task, op, var);
    }
    script.sync(main, OnceEnd, once, MemoryOrder::None, 0, 1);
    script.sync(child, OnceCheck, once, MemoryOrder::None, 1, 0);
}

/// Adds condition variables, channels, barriers, parking.
fn waits(script: &mut Script, child: TaskId) {
    use SyncVarOp::*;
    let main = Script::MAIN;
    let (mutex, condition) = (script.var("a mutex"), script.var("a condition"));
    for notify in [NotifyOne, NotifyAll] {
        script.lock(child, mutex);
        let released = mutex.0.into();
        script.sync(child, CondvarWait, condition, MemoryOrder::None, 0, released);
        script.operation(main, notify, condition);
        script.operation(child, CondvarWake, condition);
        script.lock(child, mutex);
        script.unlock(child, mutex);
    }
    let channel = script.var("a channel");
    script.operation(child, ChannelTryFailed, channel);
    script.sync(main, ChannelSend, channel, MemoryOrder::None, 0, 1);
    script.sync(child, ChannelReceive, channel, MemoryOrder::None, 1, 0);
    script.sync(child, ChannelClose, channel, MemoryOrder::None, 0, 1);
    let barrier = script.var("a barrier");
    for op in [BarrierArrive, BarrierPass] {
        script.sync(main, op, barrier, MemoryOrder::None, 1, 0);
        script.sync(child, op, barrier, MemoryOrder::None, 1, 0);
    }
    let token = script.var("a token");
    script.operation(main, Unpark, token);
    script.operation(child, Park, token);
}

/// Adds blocks that are allocated and released, a cell, messages, an attribute.
fn memory(script: &mut Script, task: TaskId) {
    for kind in [BlockKind::Heap, BlockKind::Shared, BlockKind::Value] {
        let block = script.allocate(task, "a block", kind, 64);
        script.write(task, block).read(task, block).release(task, block);
    }
    let cell = script.location("a cell");
    script
        .write(task, cell)
        .read(task, cell)
        .write_by_pointer(task, cell);
    let var = script.var("a cell with schedule points");
    script.operation(task, SyncVarOp::DataWrite, var);
    script.operation(task, SyncVarOp::OperationCall, var);
    script.operation(task, SyncVarOp::OperationReturn, var);
    script.operation(task, SyncVarOp::DataRead, var);
    let primitive = script.var("a primitive");
    script.operation(task, SyncVarOp::PrimitiveRead, primitive);
    script.operation(task, SyncVarOp::PrimitiveChange, primitive);
    let points = script.var("a point");
    script.operation(task, SyncVarOp::SchedulePoint, points);
    script.operation(task, SyncVarOp::Quiesce, SyncVar::NONE);
    script.say(task, "something said: été, 夏");
    let event = script.last(task);
    let (name, value) = ("status".into(), "preempted".into());
    script.push(Event::Attribute { event, name, value });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_rehearsed() {
        let script = rehearsal();
        let done = |op| {
            script
                .events()
                .iter()
                .any(|event| matches!(event, Event::Sync(access) if access.op == op))
        };
        let missing: Vec<SyncVarOp> = SyncVarOp::ALL.into_iter().filter(|op| !done(*op)).collect();
        assert_eq!(missing, []);
    }
}
