//! The controlled runtime, which runs one execution at a time, and permits each of its steps.
//!
//! The interface to front ends is [`Engine`]. A front end announces a visible operation ([`Engine::enter`],
//! [`Engine::enter_gated`], [`Engine::wait`]), and the call returns when the operation may happen. The front end
//! performs it, and reports the effect ([`Engine::commit`]). The look-alikes are one front end; nothing here depends on
//! them.
//!
//! Between two visible operations a task runs alone, so front ends can keep their state in plain data.
//!
//! - A *schedule point* is right before a visible operation that may conflict with another task's. Creating a task, its
//!   beginning and end, and joining a task that has ended commute with other operations: they are events, but not
//!   schedule points. A new task runs at once up to its first visible operation. So does a task whose join or wait for
//!   a notification has ended.
//! - The decision about the next task is made inside the operation, by the task that reaches it (`dispatch.rs`). If
//!   that task itself continues, there is no switch.
//!
//! [`Engine`] lends the runtime to one closure at a time (`handle.rs`), so that no `&mut Runtime` is held across a
//! switch.

mod adversity;
mod alike;
pub mod arena;
mod ask;
mod at_rest;
mod blocks;
mod breakpoints;
mod by_address;
mod clock;
mod commit;
mod constraints;
mod controller;
pub mod crash;
mod cut_off;
mod data_points;
mod decisions;
mod departure;
mod dispatch;
mod emergency;
mod ending;
mod execution;
mod execution_record;
mod executor;
mod failure_context;
mod fair;
mod fiber;
mod futex;
mod given_names;
mod handle;
mod image;
mod inspection;
pub mod interrupt;
pub mod journal;
mod known_loops;
mod layout;
#[cfg(all(
    feature = "unmodified",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod leaks;
mod left_over;
mod listen;
mod livelock;
mod memory;
mod naming;
mod object;
mod objects;
mod ordered_atomics;
mod outcome;
mod outsiders;
mod panic_count;
pub mod panics;
mod program;
pub mod races;
mod reading;
mod ready;
mod real_time;
mod replicas;
mod scope;
mod sharing;
#[cfg(unix)]
mod signal_handlers;
mod sleepers;
mod spin;
mod stack;
mod statics;
mod stop;
mod switch;
mod switched;
mod symmetric;
mod task_api;
mod tasks;
mod teardown;
mod unyielding;
mod watchdog;
mod withdraw;
mod world;

pub use at_rest::AT_REST;
pub use by_address::ByAddress;
pub use controller::take_charge;
pub use crash::Crash;
pub use cut_off::{CutOffExecution, CutOffTime};
pub use emergency::Emergency;
pub use executor::{Executor, Limits, TimeSpent};
pub use handle::{Engine, in_allocator, is_in_allocator};
pub use image::{set_statics_restored, statics_are_restored};
pub use inspection::Inspection;
pub use inspection::Inspector;
pub use layout::{Layout, Place};
pub use left_over::ROUNDS_LEFT_OVER;
pub use listen::{DataAccess, Does, Listeners, Owner, Reported, SourceName, SourceNames};
pub use livelock::{Endless, EndlessLoop, Verdict};
pub use naming::{known_task_name, site_name, var_identity};
pub use object::{Body, Embedded, EmbeddedIdentity, Identity, Object};
pub use outcome::{Abnormal, AwaitedVar, Capped, ExecutionOutcome, FailureContext, Unlike, Waiting};
pub use outsiders::{open_for_task, opened_outside};
pub use program::around_executions;
pub use real_time::on_time_passing;
pub use scope::Scoping;
#[cfg(unix)]
pub use signal_handlers::note_signal_handler;
pub use statics::{is_laid_over_std, keep_statics, lay_over_std};
pub use stop::{PanicNote, Stop};
pub use task_api::LATE;
pub use watchdog::{Doing, Hang};
pub use withdraw::Withdrawn;

pub use crate::record::{Access, Gates, Local, VarKind, WaitLimits, Wake, gate};
pub use crate::site::Site;

use crate::environment::Environment;
use crate::record::{NO_TASK, Pending, TimesOut};
use crate::schedule::ChoiceKind;
use crate::strategy::Candidates;
use crate::trace::{Class, EndedWait, Key, Limit};
use constraints::Constraints;
use cut_off::Looks;
use decisions::Decisions;
use dispatch::KnownStep;
use ending::ExecutionEnd;
use execution_record::ExecutionRecord;
use intermezzo_sdk::{Interests, MemoryOrder, SyncVarOp};
use listen::Monitors;
use memory::Memory;
use objects::Objects;
use ready::Ready;
use tasks::Tasks;
use watchdog::Watched;
use world::World;

/// The state of one worker: the current execution, and what later ones reuse.
pub(crate) struct Runtime {
    tasks: Tasks,
    objects: Objects,
    memory: Memory,
    /// The tasks that can take the next step.
    ready: Ready,
    decisions: Decisions,
    /// The events so far, and their order.
    record: ExecutionRecord,
    world: World,
    constraints: Constraints,
    monitors: Monitors,
    end: ExecutionEnd,
    limits: Limits,
    /// The steps at which the clock is checked while an execution runs.
    looks: Looks,
    watched: Watched,
    /// `true` from the moment when an operation may happen until it is recorded: the state of its object may be in use.
    #[cfg(feature = "unmodified")]
    in_operation: bool,
}

/// The interests that need action right before a visible operation, and those that need it right after.
const BEFORE: Interests = Interests::SCHEDULE_POINTS.and(Interests::ENABLED_SETS);
const AFTER: Interests = Interests::SYNC_ACCESSES.and(Interests::ENABLED_SETS);

impl Engine {
    /// Announces a visible operation that is always possible; returns when it may happen.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn enter(self, access: Access) {
        self.enter_apart(access.op, access.order, access.var, access.site);
    }

    /// Does the work of `enter`, with the access in registers. In memory its parts would be written one by one and read
    /// as a whole, for which the processor has to wait. Not inlined: there are many callers, in the test's own code.
    #[inline(never)]
    fn enter_apart(self, op: SyncVarOp, order: MemoryOrder, var: u32, site: Site) {
        // What follows is in separate functions, which are called last, so that the most frequent case needs none of
        // their registers.
        // Without branches in between: hardly ever is one of them set.
        if self.quick(|rt| {
            rt.end.teardown | rt.end.takes_care | rt.monitors.pointers_out | (rt.tasks.current() >= 64)
        }) {
            return self.enter_with_care(op, order, var, site);
        }
        self.announce(Access { op, order, var, site });
    }

    /// Does the same as `enter_apart` if more may have to be done than to announce the operation, or if there are many
    /// tasks.
    #[cold]
    #[inline(never)]
    fn enter_with_care(self, op: SyncVarOp, order: MemoryOrder, var: u32, site: Site) {
        if self.needs_care() {
            if self.in_teardown() {
                return self.abandon_current();
            }
            self.unwind_if_withdrawn(op);
        }
        self.with(|rt| {
            if rt.monitors.pointers_out {
                rt.look_at_pointers();
            }
        });
        self.announce(Access { op, order, var, site });
    }

    /// Announces an operation that is always possible; returns when it may happen.
    #[inline(always)]
    fn announce(self, access: Access) {
        let (current, known) = self.with(|rt| {
            let current = rt.tasks.current();
            rt.tasks[current].pending = Pending {
                access,
                gate_var: 0,
                gates: 0,
                visible: true,
                may_time_out: false,
            };
            rt.ready.enable(current);
            (current, rt.known_step())
        });
        match known {
            Some(known) if known.task == current && self.with(|rt| rt.continue_as_known(known)) => {
                self.with(Runtime::begin_operation);
            }
            Some(known) => self.take_known_turn(known),
            None => self.take_turn(),
        }
    }

    /// Lets a task take its step, which is known from before. Returns when the current task may perform the operation
    /// that it announced.
    #[inline(never)]
    fn take_known_turn(self, known: KnownStep) {
        let next = self.with(|rt| rt.step_known(known));
        self.follow(next);
        self.with(Runtime::begin_operation);
    }

    /// Decides which task takes the next step. Returns when the current one may perform the operation that it
    /// announced.
    #[inline(never)]
    fn take_turn(self) {
        let next = self.with(Runtime::dispatch);
        self.follow(next);
        self.with(Runtime::begin_operation);
    }

    /// Returns the number of steps that the execution has taken.
    pub fn steps(self) -> u64 {
        self.with(|rt| rt.record.steps)
    }

    /// Returns the decisions of the execution so far, including those at closed points. In teardown, these are all
    /// decisions of the execution.
    pub fn choices(self) -> Vec<crate::schedule::Choice> {
        self.with(|rt| rt.decisions.so_far())
    }

    /// Calls a function that uses the state of one of the front end's objects and performs no operation. Allocations in
    /// it are not schedule points.
    #[inline(always)]
    pub fn uninterrupted<R>(self, f: impl FnOnce() -> R) -> R {
        #[cfg(feature = "unmodified")]
        let before = self.with(|rt| std::mem::replace(&mut rt.in_operation, true));
        let result = f();
        #[cfg(feature = "unmodified")]
        self.with(|rt| rt.in_operation = before);
        result
    }

    /// Returns `true` if every operation is a schedule point.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn every_operation(self) -> bool {
        self.quick(|rt| rt.limits.every_operation)
    }

    /// Returns `true` if the current task has had no schedule point since the step of another task ended its wait, and
    /// it continued right after that step. Its operations belong to that step.
    pub fn is_in_step_of_another(self) -> bool {
        self.quick(|rt| rt.ready.last() != rt.tasks.current())
    }

    /// Adds a schedule point right before an operation that commutes with all others, if every operation has one.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn point(self, access: Access) {
        if self.every_operation() {
            self.enter(access);
        }
    }

    /// Announces a visible operation that passes when one of these gates of its variable is open, or when `wait_limits`
    /// end the wait. Returns when it may happen, with the reason.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn enter_gated(self, access: Access, gates: Gates, wait_limits: WaitLimits) -> Wake {
        let Access { op, order, var, site } = access;
        let wake = self.pass(op, order, var, site, var, gates, true, wait_limits);
        self.with(|rt| {
            if wake == Wake::Ready && !rt.end.teardown && rt.monitors.listening.intersects(BEFORE) {
                rt.tell_schedule_point();
            }
        });
        wake
    }

    /// Waits for one of these gates of `gate_var` without a schedule point: passes at once if one is open. `access` is
    /// the operation that a report shows.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn wait(self, access: Access, gate_var: u32, gates: Gates, wait_limits: WaitLimits) -> Wake {
        let Access { op, order, var, site } = access;
        self.pass(op, order, var, site, gate_var, gates, false, wait_limits)
    }

    /// Waits at gates; see `enter_apart`.
    #[inline(never)]
    #[allow(clippy::too_many_arguments, reason = "see `enter_apart`")]
    fn pass(
        self,
        op: SyncVarOp,
        order: MemoryOrder,
        var: u32,
        site: Site,
        gate_var: u32,
        gates: Gates,
        visible: bool,
        wait_limits: WaitLimits,
    ) -> Wake {
        if self.needs_care() {
            if self.in_teardown() {
                return self.pass_in_teardown(gate_var, gates);
            }
            self.unwind_if_withdrawn(op);
        }
        if wait_limits.deadline == Some(AT_REST) {
            self.with(|rt| rt.tasks.current_task().times_out = TimesOut::AtRest);
        } else if wait_limits.deadline.is_some() {
            self.decide_time_out(site);
        }
        let next = self.with(|rt| {
            if rt.monitors.pointers_out {
                rt.look_at_pointers();
            }
            if !rt.tasks.current_task().shares.is_empty() {
                rt.waits_while_it_reads();
            }
            let at = &mut rt.objects.vars[gate_var];
            let open = at.gates & gates != 0;
            let visible = visible || rt.limits.every_operation;
            if open && !visible {
                return None;
            }
            let current = rt.tasks.current();
            let may_time_out = wait_limits.deadline.is_some();
            at.watchers.insert(current);
            rt.tasks[current].pending = Pending {
                access: Access { op, order, var, site },
                gate_var,
                gates,
                visible,
                may_time_out,
            };
            if let Some(deadline) = wait_limits.deadline {
                rt.tasks[current].deadline = deadline;
            }
            if open {
                rt.note_capped_if_earlier(current);
                rt.ready.enable(current);
            } else {
                rt.block(current, wait_limits);
            }
            let begin = may_time_out.then_some(rt.record.steps as u32);
            Some((rt.dispatch(), begin.filter(|_| !open)))
        });
        let Some((next, begin)) = next else {
            return Wake::Ready;
        };
        self.follow(next);
        self.with(|rt| {
            #[cfg(feature = "unmodified")]
            (rt.in_operation = true);
            let wake = rt.tasks.current_task().wake;
            if let (Some(begin), Wake::Ready) = (begin, wake) {
                rt.end_wait(Key::of(op, var), begin);
            }
            wake
        })
    }

    /// Opens exactly these gates of a variable. Tasks that wait at its gates are enabled or disabled.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn set_gates(self, var: u32, gates: Gates) {
        let concerns_tasks = self.quick(|rt| {
            let entry = &mut rt.objects.vars[var];
            let changes = std::mem::replace(&mut entry.gates, gates) != gates;
            changes && !entry.watchers.is_empty()
        });
        if concerns_tasks {
            self.with(|rt| rt.gates_changed(var));
        }
    }

    /// Opens some gates of a variable and closes others. The rest do not change.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn change_gates(self, var: u32, open: Gates, close: Gates) {
        let gates = self.gates(var);
        self.set_gates(var, gates & !close | open);
    }

    /// Returns the open gates of a variable.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn gates(self, var: u32) -> Gates {
        self.quick(|rt| rt.objects.vars[var].gates)
    }

    /// Notes the holder of a lock, for reports of deadlocks.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn own(self, var: u32, site: Site) {
        self.quick(|rt| {
            let current = rt.tasks.current();
            let entry = &mut rt.objects.vars[var];
            entry.owner = current;
            entry.owned_at = Some(site);
        });
    }

    /// Notes that a lock has no holder.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn disown(self, var: u32) {
        self.quick(|rt| rt.objects.vars[var].owner = NO_TASK);
    }

    /// Returns the task whose code runs.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn task(self) -> u32 {
        self.quick(|rt| rt.tasks.current())
    }

    /// Returns the number of this execution, which is unique in the process.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn epoch(self) -> u64 {
        self.quick(|rt| rt.objects.epoch())
    }

    /// Returns `true` if the execution has ended and is being torn down.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn in_teardown(self) -> bool {
        self.quick(|rt| rt.end.teardown)
    }

    /// Returns `false` if an access of the current task now is ordered with all others: no other task has been created
    /// yet, so all of them come after it; or the execution has ended.
    pub fn may_be_raced(self) -> bool {
        self.quick(|rt| rt.tasks.created() > 1 && !rt.end.teardown)
    }

    /// Returns the bounds and switches of the environment.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn environment(self) -> Environment {
        self.with(|rt| rt.world.environment)
    }

    /// Returns the variable that stands for a task.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn task_var(self, task: u32) -> u32 {
        self.quick(|rt| rt.tasks[task].var)
    }

    /// Chooses a value for the test, from 0 to `alternatives - 1`, at this place. There is no schedule point, unless
    /// every operation has one, because a choice commutes with all operations.
    pub fn choose_value(self, alternatives: u32, site: Site) -> u32 {
        let access = Access::nowhere(SyncVarOp::Choice, site);
        match self.every_operation() {
            true => self.enter(access),
            false => self.with(|rt| {
                if !rt.end.teardown && rt.monitors.listening.intersects(BEFORE) {
                    rt.tell_point_before(access);
                }
            }),
        }
        let taken = self.choose(ChoiceKind::Value, alternatives);
        self.commit(access, u64::from(taken), 0);
        taken
    }

    /// Makes and records a choice among `alternatives`, at least 1.
    pub fn choose(self, kind: ChoiceKind, alternatives: u32) -> u32 {
        if self.in_teardown() {
            self.abandon_current();
            return 0;
        }
        if alternatives < 2 {
            return 0;
        }
        let taken = self.with(|rt| {
            rt.begin_after(rt.tasks.current(), None);
            rt.decide(kind, false, alternatives, Candidates::None)
        });
        match taken {
            Some(taken) => taken,
            None => {
                self.leave();
                0
            }
        }
    }

    /// Lets the current task yield, in a loop of its own. If that loop only waits, the task is parked. Inlined, so that
    /// the state that is compared is that of the test's own code.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline(always))]
    pub fn yield_now_in_loop(self, op: SyncVarOp, site: Site) {
        // SAFETY: `Engine::current` gave this out, so a task runs, on a fiber.
        unsafe { switch::yield_now_in_loop(self.as_ptr(), op, site) }
    }

    /// Adds an access to the footprint of the current step, in addition to those of its events.
    pub(crate) fn add_to_footprint(self, key: Key, class: Class) {
        self.with(|rt| rt.add_to_footprint(key, class));
    }

    /// Notes that the current step changes a variable in addition to that of its event.
    #[cfg_attr(feature = "unmodified", inline(never))]
    #[cfg_attr(not(feature = "unmodified"), inline)]
    pub fn also_writes(self, var: u32) {
        self.add_to_footprint(Key::of(SyncVarOp::LockRelease, var), Class::Write);
    }

    /// Lets the current task yield: at its next schedule point it comes after the other tasks. A second yield without a
    /// schedule point in between is itself one, so that a loop that only yields, or changes nothing but counts of
    /// handles, cannot keep the others from running. So is each sleep, because waits with a limit can observe when it
    /// ended.
    pub fn yield_now(self, access: Access) {
        if self.in_teardown() {
            return self.abandon_current();
        }
        let sleeps = access.op == SyncVarOp::Sleep;
        if sleeps || self.with(|rt| rt.yields_without_step() || rt.limits.every_operation) {
            self.enter(access);
        }
        self.commit(access, 0, 0);
        self.with(|rt| {
            let current = rt.tasks.current();
            let task = &mut rt.tasks[current];
            task.yielded = true;
            task.yields += 1;
            task.yielded_at = rt.record.steps as u32;
            rt.ready.give_way(current);
            rt.time_passes_while_all_give_way();
        });
        self.end_if_left_over();
        self.end_iteration(access);
    }

    /// Ends the execution, because the test uses the tool in a way that cannot work.
    #[cold]
    pub fn misuse(self, message: String) -> ! {
        // The message is in the test's memory.
        self.end_with(|| Stop::Misuse(message.clone()))
    }

    /// Ends the execution. During teardown, that continues without this task.
    #[cold]
    pub(super) fn end_with(self, stop: impl FnOnce() -> Stop) -> ! {
        if self.in_teardown() {
            self.end_inspection();
        } else {
            let stop = arena::outside(stop);
            self.with(|rt| rt.end.stop = Some(stop));
            // It returns if the task was already unwinding, and is being torn down.
            self.leave();
        }
        loop {
            self.switch_to_worker();
        }
    }
}

impl Runtime {
    /// Returns `true` if no step has begun since the current task yielded last. `yielded` alone does not show that,
    /// because an operation without a schedule point clears it.
    fn yields_without_step(&mut self) -> bool {
        let steps = self.record.steps as u32;
        let task = self.tasks.current_task();
        task.yielded || task.yields > 0 && task.yielded_at == steps
    }

    /// Notes that the current task's wait with a limit, for this key since the step `begin`, was ended by its gate.
    #[cold]
    fn end_wait(&mut self, key: Key, begin: u32) {
        if self.record.is_observed() {
            let task = self.tasks.current();
            let entry = &self.tasks[task];
            self.record.trace.add_ended_wait(EndedWait {
                task,
                key,
                begin,
                ender: entry.gate_opened,
                limit: Limit::of(entry),
                end: self.record.steps as u32,
            });
        }
    }

    /// Disables the task, which has to wait at a gate, until the gate opens or something else ends the wait.
    #[inline(always)]
    fn block(&mut self, task: u32, wait_limits: WaitLimits) {
        self.ready.disable(task);
        if let Some(deadline) = wait_limits.deadline {
            self.ready.wait_until(task, deadline, self.world.clock());
        }
        if wait_limits.may_end_spuriously {
            let so_far = self.tasks[task].adversities.spurious_wakeups;
            self.world.capped.spurious_wakeups |= so_far >= self.world.environment.spurious_wakeups;
        }
        if self.monitors.listening.intersects(Interests::ATTRIBUTES) {
            self.tell_status(task, "blocked");
        }
    }
}
