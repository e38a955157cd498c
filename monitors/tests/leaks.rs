//! Memory that is never released, released twice or used afterwards, written by hand; and the fixed twins.

use intermezzo_monitors::Leaks;
use intermezzo_sdk::testing::{Event, Script};
use intermezzo_sdk::{
    BlockKind, EventId, FindingKind, MemoryOrder, Severity, SiteId, SyncVarAccess, SyncVarOp,
};

const MAIN: intermezzo_sdk::TaskId = Script::MAIN;

fn messages(script: &Script) -> Vec<String> {
    messages_with(script, "")
}

fn messages_with(script: &Script, arguments: &str) -> Vec<String> {
    let reports = script.play(&mut Leaks::with_arguments(arguments).unwrap());
    assert!(reports.iter().all(|report| report.kind == FindingKind::Leak));
    reports.into_iter().map(|report| report.message).collect()
}

#[test]
fn what_is_not_given_back_is_a_leak() {
    let mut script = Script::new();
    let kept = script.allocate(MAIN, "buffer", BlockKind::Heap, 64);
    let shared = script.allocate(MAIN, "node", BlockKind::Shared, 16);
    assert_eq!(
        messages(&script),
        [
            "memory of 64 bytes is never freed: buffer, made by main at script:1",
            "an `Arc` of 16 bytes is never freed: node, made by main at script:2; its only handle was forgotten, or is \
             a pointer",
        ]
    );
    assert!(
        messages(script.clone().incomplete()).is_empty(),
        "it might have been"
    );
    script.release(MAIN, kept).release(MAIN, shared);
    assert!(messages(&script).is_empty());
}

#[test]
fn what_a_static_holds_is_no_leak() {
    let mut script = Script::new();
    let held = script.allocate(MAIN, "held", BlockKind::Shared, 16);
    assert_eq!(messages(&script).len(), 1);
    script.hold_by_static(held);
    assert!(messages(&script).is_empty());
    script.allocate(MAIN, "kept", BlockKind::Heap, 64);
    assert_eq!(
        messages(&script),
        ["memory of 64 bytes is never freed: kept, made by main at script:2"]
    );
}

#[test]
fn a_block_is_given_back_once() {
    let mut script = Script::new();
    let block = script.allocate(MAIN, "buffer", BlockKind::Heap, 64);
    let child = script.fork(MAIN);
    script.release(child, block);
    assert!(messages(&script).is_empty());
    script.release(MAIN, block);
    assert_eq!(
        messages(&script),
        ["double free: buffer is freed by main at script:5 and by task 1 at script:4"]
    );
}

#[test]
fn nothing_is_used_after_it_was_given_back() {
    let mut script = Script::new();
    let block = script.allocate(MAIN, "buffer", BlockKind::Heap, 64);
    script.write(MAIN, block).release(MAIN, block);
    assert!(messages(&script).is_empty());
    script.read(MAIN, block);
    assert_eq!(
        messages(&script),
        ["use after free: main reads buffer at script:4 after it was freed by main at script:3"]
    );
    // A cell whose allocation was not reported.
    let mut script = Script::new();
    let cell = script.location("cell");
    let child = script.fork(MAIN);
    script.release(MAIN, cell);
    let flag = script.var("flag");
    script.store(MAIN, flag, MemoryOrder::Release, 1);
    script.load(child, flag, MemoryOrder::Acquire, 1);
    script.write(child, cell);
    assert_eq!(
        messages(&script),
        ["use after free: task 1 writes cell at script:6 after it was freed by main at script:3"]
    );
}

/// The words are the same in either order.
#[test]
fn a_use_that_nothing_orders_before_giving_back_is_reported() {
    for used_first in [true, false] {
        let mut script = Script::new();
        let block = script.allocate(MAIN, "buffer", BlockKind::Heap, 64);
        let child = script.fork(MAIN);
        if used_first {
            script.read(child, block).release(MAIN, block);
        } else {
            script.release(MAIN, block).read(child, block);
        }
        let [message] = &messages(&script)[..] else {
            panic!("one finding")
        };
        assert!(
            message.starts_with("use after free: task 1 reads buffer at script:"),
            "{message}"
        );
        assert!(
            message.contains("and nothing orders that before it is freed by main"),
            "{message}"
        );
    }
    let mut script = Script::new();
    let block = script.allocate(MAIN, "buffer", BlockKind::Heap, 64);
    let child = script.fork(MAIN);
    script.read(child, block);
    script.join(MAIN, child);
    script.release(MAIN, block);
    assert!(messages(&script).is_empty(), "joined");
}

/// The last of an `Arc`'s owners releases what all have used.
#[test]
fn the_last_count_is_after_all_others() {
    let mut script = Script::new();
    let count = script.var("count");
    let child = script.fork(MAIN);
    let block = script.allocate(MAIN, "node", BlockKind::Shared, 16);
    script.read(child, block);
    script.sync(child, SyncVarOp::CountDown, count, MemoryOrder::None, 2, 1);
    script.sync(MAIN, SyncVarOp::CountDown, count, MemoryOrder::None, 1, 0);
    script.release(MAIN, block);
    assert!(messages(&script).is_empty(), "{:?}", messages(&script));
}

#[test]
fn messages_left_in_a_channel_are_worth_a_warning() {
    let mut script = Script::new();
    let channel = script.var("channel");
    let send = |script: &mut Script, number| {
        script.sync(
            MAIN,
            SyncVarOp::ChannelSend,
            channel,
            MemoryOrder::None,
            0,
            number,
        );
    };
    let receive = |script: &mut Script, number| {
        script.sync(
            MAIN,
            SyncVarOp::ChannelReceive,
            channel,
            MemoryOrder::None,
            number,
            0,
        );
    };
    send(&mut script, 1);
    send(&mut script, 2);
    receive(&mut script, 1);
    // Refused, because no receiver is left.
    send(&mut script, 0);
    assert_eq!(messages(&script), ["messages sent to channel are never received"]);
    assert_eq!(
        script.play(&mut Leaks::new())[0].severity,
        Severity::Warning,
        "it may be meant"
    );
    assert!(messages_with(&script, "channels=false").is_empty());
    receive(&mut script, 2);
    assert!(messages(&script).is_empty());
    // A rendezvous: the sender continues when the message was taken.
    send(&mut script, 3);
    receive(&mut script, 3);
    script.sync(MAIN, SyncVarOp::ChannelSend, channel, MemoryOrder::None, 3, 0);
    assert!(messages(&script).is_empty());
    // And one that the sender has back, because the receiver has gone: seen from one place.
    let mut script = Script::new();
    let rendezvous = script.var("rendezvous");
    for (event, written) in [(2, 1), (3, 0)] {
        script.push(Event::Sync(SyncVarAccess {
            event: EventId {
                task: MAIN,
                index: event,
            },
            var: rendezvous,
            op: SyncVarOp::ChannelSend,
            order: MemoryOrder::None,
            read: 0,
            written,
            site: SiteId(1),
            store: 0,
        }));
        let expected = usize::from(written == 1);
        assert_eq!(messages(&script).len(), expected, "{script:?}");
    }
}

#[test]
fn tasks_that_nobody_joins_are_told_of_if_that_is_asked_for() {
    let mut script = Script::new();
    let child = script.fork(MAIN);
    script.end(child);
    assert!(messages(&script).is_empty());
    assert_eq!(
        messages_with(&script, "tasks=true"),
        ["task 1 is never joined, created by main at script:1"]
    );
    script.join(MAIN, child);
    assert!(messages_with(&script, "tasks=true").is_empty());
}
