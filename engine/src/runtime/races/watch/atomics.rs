//! Operations on std's own atomics, as calls that LLVM's pass inserts: `__tsan_atomic64_fetch_add` and its siblings.
//!
//! The atomics of the test are look-alikes. The only atomics of std's that the test uses are the counts of `Arc` and
//! `Weak`, which have the size of a `usize`. An operation on one is recorded according to its effect: it counted up or
//! down, or only read. A decrement to 0 acquires from all releases, as `Arc` does by a fence; so fences need not be
//! recorded.
//!
//! Each call performs the real operation, even if nothing is recorded. Atomics of 128 bits are not in stable Rust;
//! their operations exclude each other by a lock.

use super::super::super::{Access, Engine, VarKind, arena};
use super::callbacks::continue_in;
use super::places::{self, Frame};
use crate::site::Site;
use intermezzo_sdk::{MemoryOrder, SyncVarOp};
use std::ffi::c_int;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering, Ordering::SeqCst, fence,
};

/// Returns a memory ordering by its number in C.
fn memory_order(order: c_int) -> MemoryOrder {
    // The bits above the number are hints for hardware lock elision.
    match order & 7 {
        0 => MemoryOrder::Relaxed,
        1 | 2 => MemoryOrder::Acquire,
        3 => MemoryOrder::Release,
        4 => MemoryOrder::AcqRel,
        _ => MemoryOrder::SeqCst,
    }
}

/// The kind of an operation on a count, as far as it is known in advance.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reads,
    Writes,
    /// It writes a value that does not depend on the count.
    Stores,
    /// It writes one more than a certain value, if the count has that value.
    Increments,
    /// It writes another value if the count has a certain value.
    Exchanges,
}

/// Performs an operation on a count, and records it if a test performs it in an execution: with the values before and
/// after it, and its ordering.
#[inline]
fn counted<T: Copy + Into<u64>, R>(
    address: usize,
    frame: *const Frame,
    kind: Kind,
    operation: impl FnOnce() -> (R, T, T, MemoryOrder),
) -> R {
    // Most operations are not on a count, but for instance on a lock of std's that a look-alike uses.
    if size_of::<T>() != size_of::<usize>() || !arena::holds(address) {
        return operation().0;
    }
    let engine = if arena::is_open() { Engine::current() } else { None };
    // SAFETY: `continue_in` has put it there.
    let frame = || unsafe { *frame };
    let caller = engine.and_then(|engine| Some((engine, engine.caller_of_count(frame())?)));
    let Some((engine, caller)) = caller else {
        let (result, before, ..) = operation();
        if let Some(engine) = engine
            && is_freed(before.into())
            && engine.is_of_arc(frame())
        {
            found_freed(engine, Site::NOWHERE);
        }
        return result;
    };
    // A look-alike may drop an `Arc` for the test, for instance when a channel is dropped. That belongs to the step of
    // the look-alike's operation, if one is in progress.
    let is_point = engine.quick(|rt| rt.world.environment.arc_counts) && caller.site.is_some();
    let site = caller.site.unwrap_or_else(|| engine.last_site());
    let var = engine.var_of_count(address, site);
    let mut access = Access::new(SyncVarOp::CountRead, var, site);
    // std reads a count and then increments it by an exchange, and repeats both if the exchange fails: in `upgrade` and
    // `downgrade`. This is one operation at the time of the exchange, so the two are one step.
    let is_point = is_point && !(kind == Kind::Increments && engine.has_just_read_count(var));
    if is_point {
        // The kind of operation must be announced in advance: one that changes the count, or one that does not.
        let op = match kind {
            Kind::Reads => access.op,
            _ => SyncVarOp::CountDown,
        };
        engine.keep_from_unwinding(|| engine.enter(Access { op, ..access }));
    }
    let (result, before, after, order) = operation();
    let (before, after) = (before.into(), after.into());
    if is_freed(before) {
        found_freed(engine, site);
    }
    // `Arc::make_mut` takes the last handle away by an exchange, and puts it back by a store.
    if before == 0 && matches!(after, 1 | u64::MAX) && kind != Kind::Stores {
        check_ended(engine, var, after, site);
    }
    access.order = order;
    access.op = match before.cmp(&after) {
        std::cmp::Ordering::Less => SyncVarOp::CountUp,
        std::cmp::Ordering::Greater => SyncVarOp::CountDown,
        std::cmp::Ordering::Equal => SyncVarOp::CountRead,
    };
    if access.op == SyncVarOp::CountRead {
        engine.note_look(order);
    }
    let exchanges = matches!(kind, Kind::Increments | Kind::Exchanges);
    // After a read of 0, or of the mark of a locked count, no exchange follows. With another value it might.
    let fails = exchanges || matches!(before, 0 | u64::MAX);
    if fails && access.op == SyncVarOp::CountRead {
        engine.fail_to_count();
    }
    if access.op == SyncVarOp::CountDown && before != u64::MAX {
        engine.give_up_share(var, after, exchanges);
    }
    if access.op == SyncVarOp::CountDown && after == 0 {
        // The last one drops the value, after a fence.
        engine.also_writes(var);
        access.order = MemoryOrder::AcqRel;
    } else if access.op != SyncVarOp::CountRead && (exchanges || kind == Kind::Stores || before == u64::MAX) {
        // It does not commute with other changes: it depends on the count, sets it, or unlocks it.
        engine.also_writes(var);
    }
    engine.commit(access, before, after);
    let may_wait = access.op == SyncVarOp::CountRead || access.op == SyncVarOp::CountDown && after != 0;
    if may_wait && caller.site.is_some() {
        // A loop that waits for other handles to be dropped would keep all other tasks out.
        engine.keep_from_unwinding(|| engine.changed_nothing(access, before));
    }
    result
}

/// Returns `true` if a count of the arena that had the value `before` is in freed memory.
#[inline]
fn is_freed(before: u64) -> bool {
    arena::is_of_freed(before)
}

/// Ends the execution with a finding because a count is in freed memory.
#[cold]
fn found_freed(engine: Engine, site: Site) {
    let used = if site == Site::NOWHERE { "" } else { " used" };
    let message = format!(
        "the count of an `Arc`{used}{} is in memory that was freed",
        at(site)
    );
    arena::misused(engine, &message);
}

/// Ends the execution with a finding if a handle is created or dropped after the last one was dropped. The memory may
/// still be there, for weak handles.
#[cold]
fn check_ended(engine: Engine, var: u32, after: u64, site: Site) {
    // `Arc::new_cyclic` counts the first handle when there is a weak one already.
    let has_ended = engine.with(|rt| {
        let mut events = rt.record.events.as_slice().iter();
        events.any(|event| (event.op, event.var) == (SyncVarOp::CountDown, var))
    });
    if has_ended {
        let change = if after == 1 { "created" } else { "dropped" };
        let message = format!(
            "a handle of an `Arc` is {change}{} after the last one was dropped",
            at(site)
        );
        arena::misused(engine, &message);
    }
}

/// Returns a place in words; nothing if it is not known.
fn at(site: Site) -> String {
    match site == Site::NOWHERE {
        true => String::new(),
        false => format!(" at {site}"),
    }
}

impl Engine {
    /// Returns `true` if std's `Arc` makes an access from this frame, and not an object that has an atomic itself and
    /// knows by that whether its memory was freed.
    #[cold]
    fn is_of_arc(self, frame: Frame) -> bool {
        self.with(|rt| places::caller_of(&rt.tasks, frame)).of_arc
    }

    /// Returns `true` if the last operation of the execution is one of the current task that read this count.
    fn has_just_read_count(self, var: u32) -> bool {
        self.quick(|rt| {
            let current = rt.tasks.current();
            rt.record
                .events
                .as_slice()
                .last()
                .is_some_and(|last| (last.task, last.op, last.var) == (current, SyncVarOp::CountRead, var))
        })
    }

    /// Returns the variable of the count at this address.
    fn var_of_count(self, address: usize, site: Site) -> u32 {
        self.quick(|rt| rt.objects.by_address.count_at(address, rt.objects.epoch()))
            .unwrap_or_else(|| {
                let var = self.new_var(VarKind::Count, 0, site);
                self.with(|rt| rt.objects.by_address.add_count(address, rt.objects.epoch(), var));
                var
            })
    }
}

/// Defines the functions that are called.
macro_rules! define {
    ($($name:ident($($type:ty),*) $(-> $result:ty)? = $function:ident, $x86_64:literal, $aarch64:literal;)*) => {$(
        /// An operation on an atomic.
        ///
        /// # Safety
        /// The caller keeps a frame pointer, and the address is that of such an atomic.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub(super) unsafe extern "C" fn $name($(_: $type),*) $(-> $result)? {
            continue_in!($function, $x86_64, $aarch64);
        }
    )*};
}

/// Defines the operations of one width.
macro_rules! operations {
    ($module:ident, $int:ty, $atomic:ty;
     $load:ident $store:ident $exchange:ident $strong:ident $weak:ident $value:ident;
     $($fetch:ident = $function:ident;)*) => {
        mod $module {
            use super::*;

            unsafe extern "C" fn load(place: *mut $int, order: c_int, frame: *const Frame) -> $int {
                counted(place.addr(), frame, Kind::Reads, || {
                    // SAFETY: as the caller says.
                    let value = unsafe { <$atomic>::from_ptr(place) }.load(SeqCst);
                    (value, value, value, memory_order(order))
                })
            }

            unsafe extern "C" fn store(place: *mut $int, value: $int, order: c_int, frame: *const Frame) {
                counted(place.addr(), frame, Kind::Stores, || {
                    // SAFETY: as the caller says.
                    let before = unsafe { <$atomic>::from_ptr(place) }.swap(value, SeqCst);
                    ((), before, value, memory_order(order))
                });
            }

            unsafe extern "C" fn exchange(
                place: *mut $int,
                value: $int,
                order: c_int,
                frame: *const Frame,
            ) -> $int {
                counted(place.addr(), frame, Kind::Stores, || {
                    // SAFETY: as the caller says.
                    let before = unsafe { <$atomic>::from_ptr(place) }.swap(value, SeqCst);
                    (before, before, value, memory_order(order))
                })
            }

            unsafe extern "C" fn compare_exchange(
                place: *mut $int,
                expected: $int,
                value: $int,
                order: c_int,
                failure: c_int,
                frame: *const Frame,
            ) -> $int {
                let kind = match u64::from(expected).wrapping_add(1) == u64::from(value) {
                    true => Kind::Increments,
                    false => Kind::Exchanges,
                };
                counted(place.addr(), frame, kind, || {
                    // SAFETY: as the caller says.
                    let atomic = unsafe { <$atomic>::from_ptr(place) };
                    match atomic.compare_exchange(expected, value, SeqCst, SeqCst) {
                        Ok(before) => (before, before, value, memory_order(order)),
                        Err(before) => (before, before, before, memory_order(failure)),
                    }
                })
            }

            unsafe extern "C" fn compare_exchange_at(
                place: *mut $int,
                expected: *mut $int,
                value: $int,
                order: c_int,
                failure: c_int,
                frame: *const Frame,
            ) -> c_int {
                // SAFETY: as the caller says.
                unsafe {
                    let wanted = *expected;
                    let before = compare_exchange(place, wanted, value, order, failure, frame);
                    *expected = before;
                    c_int::from(before == wanted)
                }
            }

            $(unsafe extern "C" fn $function(
                place: *mut $int,
                value: $int,
                order: c_int,
                frame: *const Frame,
            ) -> $int {
                counted(place.addr(), frame, Kind::Writes, || {
                    // SAFETY: as the caller says.
                    let atomic = unsafe { <$atomic>::from_ptr(place) };
                    let before = atomic.$function(value, SeqCst);
                    (before, before, applied::$function(before, value) as $int, memory_order(order))
                })
            })*

            define! {
                $load(*mut $int, c_int) -> $int = load, "rdx", "x2";
                $store(*mut $int, $int, c_int) = store, "rcx", "x3";
                $exchange(*mut $int, $int, c_int) -> $int = exchange, "rcx", "x3";
                $value(*mut $int, $int, $int, c_int, c_int) -> $int = compare_exchange, "r9", "x5";
                $strong(*mut $int, *mut $int, $int, c_int, c_int) -> c_int = compare_exchange_at, "r9", "x5";
                $weak(*mut $int, *mut $int, $int, c_int, c_int) -> c_int = compare_exchange_at, "r9", "x5";
                $($fetch(*mut $int, $int, c_int) -> $int = $function, "rcx", "x3";)*
            }
        }
    };
}

/// The values after an operation.
mod applied {
    macro_rules! applied {
        ($($name:ident: |$before:ident, $value:ident| $after:expr;)*) => {$(
            pub(super) fn $name<T: Into<u64>>(before: T, value: T) -> u64 {
                let ($before, $value): (u64, u64) = (before.into(), value.into());
                $after
            }
        )*};
    }
    applied! {
        fetch_add: |before, value| before.wrapping_add(value);
        fetch_sub: |before, value| before.wrapping_sub(value);
        fetch_and: |before, value| before & value;
        fetch_or: |before, value| before | value;
        fetch_xor: |before, value| before ^ value;
        fetch_nand: |before, value| !(before & value);
    }
}

operations! {
    of_8, u8, AtomicU8;
    __tsan_atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange
    __tsan_atomic8_compare_exchange_strong __tsan_atomic8_compare_exchange_weak
    __tsan_atomic8_compare_exchange_val;
    __tsan_atomic8_fetch_add = fetch_add;
    __tsan_atomic8_fetch_sub = fetch_sub;
    __tsan_atomic8_fetch_and = fetch_and;
    __tsan_atomic8_fetch_or = fetch_or;
    __tsan_atomic8_fetch_xor = fetch_xor;
    __tsan_atomic8_fetch_nand = fetch_nand;
}

operations! {
    of_16, u16, AtomicU16;
    __tsan_atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange
    __tsan_atomic16_compare_exchange_strong __tsan_atomic16_compare_exchange_weak
    __tsan_atomic16_compare_exchange_val;
    __tsan_atomic16_fetch_add = fetch_add;
    __tsan_atomic16_fetch_sub = fetch_sub;
    __tsan_atomic16_fetch_and = fetch_and;
    __tsan_atomic16_fetch_or = fetch_or;
    __tsan_atomic16_fetch_xor = fetch_xor;
    __tsan_atomic16_fetch_nand = fetch_nand;
}

operations! {
    of_32, u32, AtomicU32;
    __tsan_atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange
    __tsan_atomic32_compare_exchange_strong __tsan_atomic32_compare_exchange_weak
    __tsan_atomic32_compare_exchange_val;
    __tsan_atomic32_fetch_add = fetch_add;
    __tsan_atomic32_fetch_sub = fetch_sub;
    __tsan_atomic32_fetch_and = fetch_and;
    __tsan_atomic32_fetch_or = fetch_or;
    __tsan_atomic32_fetch_xor = fetch_xor;
    __tsan_atomic32_fetch_nand = fetch_nand;
}

operations! {
    of_64, u64, AtomicU64;
    __tsan_atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange
    __tsan_atomic64_compare_exchange_strong __tsan_atomic64_compare_exchange_weak
    __tsan_atomic64_compare_exchange_val;
    __tsan_atomic64_fetch_add = fetch_add;
    __tsan_atomic64_fetch_sub = fetch_sub;
    __tsan_atomic64_fetch_and = fetch_and;
    __tsan_atomic64_fetch_or = fetch_or;
    __tsan_atomic64_fetch_xor = fetch_xor;
    __tsan_atomic64_fetch_nand = fetch_nand;
}

/// The lock of all atomics of 128 bits.
static WIDE: AtomicBool = AtomicBool::new(false);

/// Changes a value of 128 bits, and returns the previous value.
///
/// # Safety
/// The address is that of such a value, which is used in no other way.
unsafe fn alone(place: *mut u128, change: impl FnOnce(u128) -> u128) -> u128 {
    while WIDE.swap(true, Ordering::Acquire) {
        std::hint::spin_loop();
    }
    // SAFETY: as the caller says; the lock is held.
    let before = unsafe {
        let before = *place;
        *place = change(before);
        before
    };
    WIDE.store(false, Ordering::Release);
    before
}

/// Defines operations on 128 bits that replace a value by a function of it and of an operand.
macro_rules! wide {
    ($($name:ident = |$before:ident, $value:ident| $after:expr;)*) => {$(
        /// An operation on an atomic of 128 bits.
        ///
        /// # Safety
        /// The address is that of such an atomic.
        #[unsafe(no_mangle)]
        pub(super) unsafe extern "C" fn $name(place: *mut u128, $value: u128, _: c_int) -> u128 {
            // SAFETY: as the caller says.
            unsafe { alone(place, |$before| $after) }
        }
    )*};
}

wide! {
    __tsan_atomic128_exchange = |_before, value| value;
    __tsan_atomic128_fetch_add = |before, value| before.wrapping_add(value);
    __tsan_atomic128_fetch_sub = |before, value| before.wrapping_sub(value);
    __tsan_atomic128_fetch_and = |before, value| before & value;
    __tsan_atomic128_fetch_or = |before, value| before | value;
    __tsan_atomic128_fetch_xor = |before, value| before ^ value;
    __tsan_atomic128_fetch_nand = |before, value| !(before & value);
}

/// A load of 128 bits.
///
/// # Safety
/// The address is that of such an atomic.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn __tsan_atomic128_load(place: *mut u128, _: c_int) -> u128 {
    // SAFETY: as the caller says.
    unsafe { alone(place, |value| value) }
}

/// A store of 128 bits.
///
/// # Safety
/// The address is that of such an atomic.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn __tsan_atomic128_store(place: *mut u128, value: u128, _: c_int) {
    // SAFETY: as the caller says.
    unsafe { alone(place, |_| value) };
}

/// An exchange of 128 bits if they are the expected ones.
///
/// # Safety
/// The address is that of such an atomic.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn __tsan_atomic128_compare_exchange_val(
    place: *mut u128,
    expected: u128,
    value: u128,
    _: c_int,
    _: c_int,
) -> u128 {
    // SAFETY: as the caller says.
    unsafe { alone(place, |before| if before == expected { value } else { before }) }
}

/// The same, with the expected bits at an address, which receives the bits that were found.
///
/// # Safety
/// The addresses are that of such an atomic, and of a value of the caller's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn __tsan_atomic128_compare_exchange_strong(
    place: *mut u128,
    expected: *mut u128,
    value: u128,
    order: c_int,
    failure: c_int,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe {
        let wanted = *expected;
        *expected = __tsan_atomic128_compare_exchange_val(place, wanted, value, order, failure);
        c_int::from(*expected == wanted)
    }
}

/// The same; it does not fail spuriously.
///
/// # Safety
/// As for the strong one.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn __tsan_atomic128_compare_exchange_weak(
    place: *mut u128,
    expected: *mut u128,
    value: u128,
    order: c_int,
    failure: c_int,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { __tsan_atomic128_compare_exchange_strong(place, expected, value, order, failure) }
}

/// A fence.
#[unsafe(no_mangle)]
pub(super) extern "C" fn __tsan_atomic_thread_fence(_: c_int) {
    fence(SeqCst);
}

/// A fence for the compiler.
#[unsafe(no_mangle)]
pub(super) extern "C" fn __tsan_atomic_signal_fence(_: c_int) {
    std::sync::atomic::compiler_fence(SeqCst);
}
