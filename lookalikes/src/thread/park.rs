//! Yielding and waiting: `park`, `yield_now`, `sleep`.

use intermezzo_engine::runtime::{Access, Engine, Site, WaitLimits, Wake, gate};
use intermezzo_sdk::SyncVarOp;
use std::time::Duration;

/// Waits for the thread's park token and takes it. May return without it, within the environment's bound.
#[track_caller]
pub fn park() {
    match Engine::current() {
        Some(engine) => park_inside(engine, None, Site::caller()),
        None => std::thread::park(),
    }
}

/// Like `park`, for at most this long.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    match Engine::current() {
        Some(engine) => park_inside(engine, Some(limit), Site::caller()),
        None => std::thread::park_timeout(limit),
    }
}

/// Like `park_timeout`, in milliseconds.
#[deprecated(since = "1.6.0", note = "replaced by `park_timeout`")]
#[track_caller]
pub fn park_timeout_ms(ms: u32) {
    park_timeout(Duration::from_millis(ms.into()));
}

fn park_inside(engine: Engine, limit: Option<Duration>, site: Site) {
    let var = engine.task_var(engine.thread());
    let access = Access::new(SyncVarOp::Park, var, site);
    if engine.wakes_spuriously() {
        // It is chosen before the schedule point, so it is an event of its own.
        engine.commit(Access::nowhere(SyncVarOp::Choice, site), 1, 0);
        engine.enter(access);
        // The token may have come meanwhile. The value 1 marks a spurious wake-up, and 2 one that was not needed.
        let has_token = engine.gates(var) & gate::TOKEN != 0;
        engine.change_gates(var, 0, gate::TOKEN);
        engine.commit(access, 1 + u64::from(has_token), 0);
        return engine.park_ended(site);
    }
    let wait_limits = WaitLimits {
        deadline: limit.map(|limit| engine.deadline(limit, site)),
        may_end_spuriously: true,
    };
    match engine.enter_gated(access, gate::TOKEN, wait_limits) {
        Wake::TimedOut => engine.timed_out(access),
        Wake::Ready => {
            engine.change_gates(var, 0, gate::TOKEN);
            engine.commit(access, 0, 0);
        }
    }
    engine.park_ended(site);
}

/// Yields to other tasks.
#[track_caller]
#[inline(always)]
pub fn yield_now() {
    match Engine::current() {
        Some(engine) => engine.yield_now_in_loop(SyncVarOp::Yield, Site::caller()),
        None => std::thread::yield_now(),
    }
}

/// Sleeps for this long; inside an exploration that is a yield, and the virtual clock advances.
#[track_caller]
#[inline(always)]
pub fn sleep(time: Duration) {
    match Engine::current() {
        // Whatever time it is, no time passes.
        Some(engine) if time.is_zero() => engine.yield_now_in_loop(SyncVarOp::Sleep, Site::caller()),
        Some(engine) => {
            let until = engine.announce_sleep(time, Site::caller());
            engine.yield_now_in_loop(SyncVarOp::Sleep, Site::caller());
            engine.end_sleep(until);
        }
        None => std::thread::sleep(time),
    }
}

/// Like `sleep`, in milliseconds.
#[deprecated(since = "1.6.0", note = "replaced by `sleep`")]
#[track_caller]
pub fn sleep_ms(ms: u32) {
    sleep(Duration::from_millis(ms.into()));
}
