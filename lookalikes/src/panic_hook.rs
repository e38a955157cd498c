//! The panic hook of a test that was not written for intermezzo. Setting it, taking it and calling it are steps, because
//! another task may set or take it in between. As by std's lock of the hook, they are ordered.
//!
//! **Misses.** A panic for which no hook is set is no step, because each failing test would show it. So the order of such a
//! panic and of another task's setting of a hook is not explored; `Limit::Unmodified` says so.

use crate::name::name;
use crate::sync::atomic::by_address::AtomicU32;
use intermezzo_engine::runtime::{Access, Engine, Site, panics};
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use std::panic::PanicHookInfo;

/// A hook, as std has it.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

thread_local! {
    /// The variable of these steps; its value says nothing. All tasks of an execution are on one thread.
    static HOOK: AtomicU32 = const { AtomicU32::new(0) };
}

/// Panics if a hook is set or taken by a task that unwinds, or that is in a hook, as std does.
#[track_caller]
fn refuse_if_panicking() {
    let is_over = Engine::current().is_none_or(|engine| engine.in_teardown());
    if std::thread::panicking() && !is_over {
        panic!("cannot modify the panic hook from a panicking thread");
    }
}

fn take_step(site: Site) {
    let Some(engine) = Engine::current().filter(|engine| !engine.in_teardown()) else {
        return;
    };
    let access = Access {
        op: SyncVarOp::AtomicRmw,
        order: MemoryOrder::AcqRel,
        var: HOOK.with(|hook| {
            let (var, _) = hook.inside(engine, site);
            name(hook, "the panic hook");
            var
        }),
        site,
    };
    engine.enter(access);
    engine.commit(access, 0, 0);
}

/// Sets the panic hook: `std::panic::set_hook`.
#[track_caller]
pub fn set_hook(hook: Hook) {
    refuse_if_panicking();
    take_step(Site::caller());
    panics::set_hook(hook, || take_step(Site::NOWHERE));
}

/// Takes the panic hook: `std::panic::take_hook`.
#[track_caller]
pub fn take_hook() -> Hook {
    refuse_if_panicking();
    take_step(Site::caller());
    panics::take_hook()
}
