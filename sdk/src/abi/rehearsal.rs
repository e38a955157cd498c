//! An execution in which everything happens that a monitor may be told of.

use crate::testing::{Event, Script};
use crate::{BlockKind, MemoryOrder, SyncVarOp};

/// Every operation, access, allocation and word there is, by two tasks. No program does this: it is for trying out
/// whether a monitor bears all that may come.
pub fn rehearsal() -> Script {
    let mut script = Script::new();
    let main = Script::MAIN;
    let child = script.fork(main);
    let var = script.var("a variable");
    let cell = script.location("a cell");
    for order in MemoryOrder::ALL {
        script.store(main, var, order, 1);
        script.load(child, var, order, 1);
        script.fence(main, order);
    }
    for op in SyncVarOp::ALL {
        // Creation, beginning, end and join of tasks have their places.
        if !matches!(
            op,
            SyncVarOp::TaskFork | SyncVarOp::TaskBegin | SyncVarOp::TaskEnd | SyncVarOp::TaskJoin
        ) {
            script.operation(main, op, var);
            script.operation(child, op, var);
        }
    }
    for task in [main, child] {
        for kind in [BlockKind::Heap, BlockKind::Shared, BlockKind::Value] {
            let block = script.allocate(task, "a block", kind, 64);
            script.write(task, block).read(task, block).release(task, block);
        }
        script.read(task, cell).write(task, cell);
        script.say(task, "something said: été, 夏");
        let event = script.last(task);
        let (name, value) = ("status".into(), "preempted".into());
        script.push(Event::Attribute { event, name, value });
    }
    script.end(child);
    script.join(main, child);
    script.end(main);
    script
}
