//! Locks, condition variables, channels, barriers, one-time initialisations, tasks, tokens, counts.

use super::*;
use SyncVarOp::*;

#[test]
fn a_lock_orders_its_sections() {
    for (release, acquire, races) in [
        (LockRelease, LockAcquire, false),
        (LockRelease, LockTryAcquire, false),
        (LockRelease, SharedAcquire, false),
        (LockRelease, SharedTryAcquire, false),
        (SharedRelease, LockAcquire, false),
        (SharedRelease, LockTryAcquire, false),
        (SharedRelease, SharedAcquire, true),
        (SharedRelease, SharedTryAcquire, true),
        (LockRelease, LockTryFailed, true),
        (LockRelease, PoisonCheck, true),
        (PoisonClear, PoisonCheck, true),
    ] {
        check(races, |scene| {
            let lock = scene.var("lock");
            scene.op(scene.a, release, lock);
            scene.op(scene.b, acquire, lock);
        });
    }
    check(true, |scene| {
        let (one, two) = (scene.var("one"), scene.var("two"));
        scene.op(scene.a, LockRelease, one);
        scene.op(scene.b, LockAcquire, two);
    });
}

/// Shared holders do not know of each other, but an exclusive holder after both knows of both.
#[test]
fn an_exclusive_holder_passes_on_what_shared_holders_knew() {
    check(false, |scene| {
        let lock = scene.var("lock");
        let third = scene.script.fork(MAIN);
        scene.op(scene.a, SharedRelease, lock);
        scene.op(third, LockAcquire, lock);
        scene.op(third, LockRelease, lock);
        scene.op(scene.b, SharedAcquire, lock);
    });
}

#[test]
fn a_wait_lets_go_of_the_mutex_and_a_notification_tells_nothing() {
    check(false, |scene| {
        let (mutex, condvar) = (scene.var("mutex"), scene.var("condvar"));
        scene.values(scene.a, CondvarWait, condvar, 0, u64::from(mutex.0));
        scene.op(scene.b, LockAcquire, mutex);
    });
    for notify in [NotifyOne, NotifyAll] {
        check(true, |scene| {
            let condvar = scene.var("condvar");
            scene.op(scene.a, notify, condvar);
            scene.op(scene.b, CondvarWake, condvar);
        });
    }
}

#[test]
fn a_message_is_ordered_after_its_own_sending() {
    for (received, races) in [(1, false), (2, true)] {
        check(races, |scene| {
            let channel = scene.var("channel");
            scene.values(scene.a, ChannelSend, channel, 0, 1);
            scene.values(MAIN, ChannelSend, channel, 0, 2);
            scene.values(scene.b, ChannelReceive, channel, received, 0);
        });
    }
}

#[test]
fn a_receive_orders_nothing_for_the_next_sender() {
    check(true, |scene| {
        let channel = scene.var("channel");
        scene.values(MAIN, ChannelSend, channel, 0, 1);
        scene.values(scene.a, ChannelReceive, channel, 1, 0);
        scene.values(scene.b, ChannelSend, channel, 0, 2);
    });
}

#[test]
fn a_receive_that_makes_room_is_ordered_before_the_sending() {
    for (made_room, races) in [(1, false), (2, true)] {
        check(races, |scene| {
            let channel = scene.var("channel");
            scene.values(MAIN, ChannelSend, channel, 0, 1);
            scene.values(scene.a, ChannelReceive, channel, 1, 0);
            scene.values(scene.b, ChannelSend, channel, made_room, 3);
        });
    }
}

#[test]
fn a_rendezvous_orders_both_ways() {
    for (answer, races) in [(1, false), (0, true)] {
        check(races, |scene| {
            let channel = scene.var("channel");
            scene.values(scene.b, ChannelSend, channel, 0, 1);
            scene.values(scene.a, ChannelReceive, channel, 1, 0);
            if answer > 0 {
                scene.values(scene.b, ChannelSend, channel, answer, 1);
            }
        });
    }
}

#[test]
fn who_learns_that_the_others_have_left_knows_what_they_knew() {
    // Senders, and a receiver that finds none left; or another task's message.
    for (received, races) in [(0, false), (1, true)] {
        check(races, |scene| {
            let channel = scene.var("channel");
            scene.values(MAIN, ChannelSend, channel, 0, 1);
            scene.values(scene.a, ChannelClose, channel, 0, 0);
            scene.values(scene.b, ChannelReceive, channel, received, 0);
        });
    }
    // The receiver, and a sender that is refused.
    check(false, |scene| {
        let channel = scene.var("channel");
        scene.values(scene.a, ChannelClose, channel, 0, 1);
        scene.values(scene.b, ChannelSend, channel, 0, 0);
    });
    // Waiting is not learning it.
    for (op, written) in [(ChannelTryFailed, 0), (ChannelReceive, 1)] {
        check(true, |scene| {
            let channel = scene.var("channel");
            scene.values(scene.a, ChannelClose, channel, 0, 0);
            scene.values(scene.b, op, channel, 0, written);
        });
    }
}

/// The receiver of a rendezvous waits, and another task hands it a message, or finds no receiver that waits.
#[test]
fn a_message_that_is_handed_to_a_waiting_receiver_orders() {
    for (op, sent, races) in [(ChannelSend, 1, false), (ChannelTryFailed, 0, true)] {
        check(races, |scene| {
            let channel = scene.var("channel");
            scene.values(scene.a, ChannelReceive, channel, 0, 1);
            scene.values(scene.b, op, channel, 0, sent);
        });
    }
    // Only the receiver is known: not another sender, nor one that has left.
    for (op, sent) in [(ChannelSend, 1), (ChannelClose, 0)] {
        check(true, |scene| {
            let channel = scene.var("channel");
            scene.values(MAIN, ChannelReceive, channel, 0, 1);
            scene.values(scene.a, op, channel, 0, sent);
            scene.values(scene.b, ChannelSend, channel, 0, 2);
        });
    }
}

/// Messages that no task took are dropped by the receiver when it leaves; but not the message of a rendezvous that
/// was not taken.
#[test]
fn a_receiver_that_leaves_knows_what_came_with_its_messages() {
    for (untaken, races) in [(2, false), (1, true), (0, true)] {
        check(races, |scene| {
            let channel = scene.var("channel");
            scene.values(scene.a, ChannelSend, channel, 0, 1);
            scene.values(MAIN, ChannelSend, channel, 0, 2);
            scene.values(scene.b, ChannelClose, channel, untaken, 1);
        });
    }
}

#[test]
fn a_barrier_orders_by_rounds() {
    for (round, races) in [(1, false), (2, true)] {
        check(races, |scene| {
            let barrier = scene.var("barrier");
            scene.values(scene.a, BarrierArrive, barrier, 1, 0);
            scene.values(scene.b, BarrierArrive, barrier, round, 0);
            scene.values(scene.b, BarrierPass, barrier, round, 0);
        });
    }
    // Arriving is not passing.
    check(true, |scene| {
        let barrier = scene.var("barrier");
        scene.values(scene.a, BarrierArrive, barrier, 1, 0);
        scene.values(scene.b, BarrierArrive, barrier, 1, 0);
    });
}

#[test]
fn who_sees_an_initialisation_complete_knows_what_it_did() {
    for (op, read, races) in [(OnceCheck, 1, false), (OnceCheck, 0, true), (OnceBegin, 0, false)] {
        check(races, |scene| {
            let once = scene.var("once");
            scene.op(scene.a, OnceBegin, once);
            scene.values(scene.a, OnceEnd, once, 0, 1);
            scene.values(scene.b, op, once, read, 0);
        });
    }
}

#[test]
fn a_token_orders_the_park_that_takes_it() {
    for (read, races) in [(0, false), (1, true)] {
        check(races, |scene| {
            let token = scene.var("token");
            scene.op(scene.a, Unpark, token);
            scene.values(scene.b, Park, token, read, 0);
        });
    }
    // All that came before count, not only the last.
    check(false, |scene| {
        let token = scene.var("token");
        scene.op(scene.a, Unpark, token);
        scene.op(MAIN, Unpark, token);
        scene.op(scene.b, Park, token);
    });
}

#[test]
fn the_last_handle_knows_what_the_others_knew() {
    let down_with = |scene: &mut Scene, task, order, before: u64| {
        let counts = SyncVar(0);
        scene
            .script
            .sync(task, CountDown, counts, order, before, before - 1);
    };
    let down = |scene: &mut Scene, task, before| down_with(scene, task, MemoryOrder::None, before);
    // Without a destructor, nothing shows that it is the last.
    for (order, races) in [(Acquire, false), (MemoryOrder::None, true)] {
        check(races, |scene| {
            down(scene, scene.a, 2);
            down_with(scene, scene.b, order, 1);
        });
    }
    check(true, |scene| {
        down(scene, scene.a, 3);
        down(scene, scene.b, 2);
    });
    for (op, order, races) in [
        (CountRead, MemoryOrder::None, true),
        (CountRead, Acquire, false),
        (CountUp, MemoryOrder::None, true),
    ] {
        check(races, |scene| {
            down(scene, scene.a, 2);
            scene.script.sync(scene.b, op, SyncVar(0), order, 1, 0);
        });
    }
}

#[test]
fn creation_and_end_order() {
    let mut script = Script::new();
    let cell = script.location("cell");
    script.write(MAIN, cell);
    let child = script.fork(MAIN);
    script.write(child, cell);
    script.join(MAIN, child);
    script.write(MAIN, cell);
    assert_eq!(reports(&script), []);
    // The creator's actions after it, and the knowledge that a check of the end gives.
    let mut script = Script::new();
    let cell = script.location("cell");
    let child = script.fork(MAIN);
    script.write(MAIN, cell).write(child, cell);
    let ended = script.end(child);
    script.sync(MAIN, TaskCheck, SyncVar(1), MemoryOrder::None, 1, 0);
    script.write(MAIN, cell);
    let reports = reports(&script);
    assert_eq!(reports.len(), 2, "{reports:#?} before {ended}");
}

/// Operations that do not concern other tasks pass on nothing, whatever variable they name.
#[test]
fn time_orders_nothing() {
    for op in [Yield, Sleep, TimeOut, Choice, DataRead, DataWrite] {
        check(true, |scene| {
            let var = scene.var("var");
            scene.op(scene.a, op, var);
            scene.op(scene.b, op, var);
        });
    }
}
