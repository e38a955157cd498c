//! A fiber, on which a task runs: a stackful coroutine on a pooled, guarded stack, with a *room* that holds its job.
//!
//! A fiber serves one task per execution and is used again in the next: it runs a job, hands over control, and waits
//! for another job. Nothing is mapped, allocated or unwound in between. Stacks outlive an exploration in a pool of the
//! process; `stack.rs` says where they are.
//!
//! The job is the task's closure. It is kept in the fiber's room, or in a box if it is large. Its result replaces it
//! there.

use super::stack::{TaskStack, mapped};
use super::switch::{Back, Coroutine, Entry, WorkerContext};
use corosensei::stack::Stack;
use std::any::Any;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, needs_drop, size_of};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// The size in bytes of the room for a closure or its result; larger ones are boxed. Most closures of tests hold only a
/// few references.
const ROOM: usize = 256;

/// The maximum number of stacks kept for later explorations; others are unmapped.
const POOLED_STACKS_MAX: usize = 1024;

static POOL: Mutex<Vec<(usize, TaskStack)>> = Mutex::new(Vec::new());

#[repr(align(16))]
struct Bytes(MaybeUninit<[u8; ROOM]>);

/// The content of a room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    Nothing,
    Closure,
    Result,
}

/// The end of a closure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ClosureEnd {
    Returned,
    Panicked {
        /// `true` if the payload may have a destructor that the test can observe.
        payload_drops: bool,
    },
}

/// The result of a task's closure.
pub(super) type Outcome<T> = std::thread::Result<T>;

/// A closure to run, or its result. It must not move while there is something in it.
pub(crate) struct Room {
    content: Content,
    job: &'static Job,
    bytes: Bytes,
}

/// A function that drops the value in a room, given the value's address.
pub(super) type Discard = unsafe fn(*mut u8);

/// The operations on a closure and its result, whose types are erased.
struct Job {
    run: unsafe fn(*mut u8) -> ClosureEnd,
    drop_closure: unsafe fn(*mut u8),
    drop_result: unsafe fn(*mut u8),
    /// `true` if what the closure returns has a destructor.
    result_drops: bool,
    /// `true` if nothing has to be done to drop what the closure returned.
    forgets_result: bool,
}

/// The job of a closure with these types.
struct JobOf<F, T>(PhantomData<(F, T)>);

impl<F: FnOnce() -> T, T> JobOf<F, T> {
    const JOB: &'static Job = &Job {
        run: run_closure::<F, T>,
        drop_closure: Stored::<F>::discard,
        drop_result: Stored::<Outcome<T>>::discard,
        result_drops: needs_drop::<T>(),
        forgets_result: !needs_drop::<T>() && Stored::<Outcome<T>>::FITS,
    };
}

/// A value in a room: in place if it fits, otherwise boxed.
enum Stored<V> {
    #[allow(dead_code, reason = "only names the type in place")]
    Here(V),
}

impl<V> Stored<V> {
    const FITS: bool = size_of::<V>() <= ROOM && align_of::<V>() <= 16;

    /// # Safety
    /// `place` has room for `ROOM` bytes at alignment 16, and holds nothing.
    unsafe fn write(place: *mut u8, value: V) {
        // SAFETY: it fits, by the check, or the box does.
        unsafe {
            if Self::FITS {
                place.cast::<V>().write(value);
            } else {
                place.cast::<Box<V>>().write(Box::new(value));
            }
        }
    }

    /// # Safety
    /// `write` of the same type stored a value there, and it has not been read since.
    unsafe fn read(place: *mut u8) -> V {
        // SAFETY: as the caller says.
        unsafe {
            if Self::FITS {
                place.cast::<V>().read()
            } else {
                *place.cast::<Box<V>>().read()
            }
        }
    }

    /// # Safety
    /// As for `read`.
    unsafe fn discard(place: *mut u8) {
        // SAFETY: as the caller says.
        drop(unsafe { Self::read(place) });
    }
}

/// Returns `true` if a panic's payload may have a destructor that the test can observe. The payloads of `panic!` have
/// none.
fn payload_drops(payload: &(dyn Any + Send)) -> bool {
    !(payload.is::<&'static str>() || payload.is::<String>())
}

/// Runs the closure in the room and leaves its result there.
///
/// # Safety
/// The room holds an `F`.
unsafe fn run_closure<F: FnOnce() -> T, T>(place: *mut u8) -> ClosureEnd {
    // SAFETY: as the caller says; after the read the room is free for the result.
    unsafe {
        let closure = Stored::<F>::read(place);
        let outcome: Outcome<T> = catch_unwind(AssertUnwindSafe(closure));
        let end = match &outcome {
            Ok(_) => ClosureEnd::Returned,
            Err(payload) => ClosureEnd::Panicked {
                payload_drops: payload_drops(&**payload),
            },
        };
        Stored::<Outcome<T>>::write(place, outcome);
        end
    }
}

impl Room {
    fn new() -> Room {
        Room {
            content: Content::Nothing,
            job: JobOf::<fn(), ()>::JOB,
            bytes: Bytes(MaybeUninit::uninit()),
        }
    }

    fn place(&mut self) -> *mut u8 {
        self.bytes.0.as_mut_ptr().cast()
    }

    /// Stores a closure, to be run by the fiber.
    ///
    /// # Safety
    /// Everything that `F` and `T` borrow must live until the closure and its result are gone from the room.
    pub(crate) unsafe fn fill<F: FnOnce() -> T, T>(&mut self, closure: F) {
        assert!(
            self.content == Content::Nothing,
            "a room is emptied before it is filled again"
        );
        self.content = Content::Closure;
        self.job = JobOf::<F, T>::JOB;
        // SAFETY: the room holds nothing.
        unsafe { Stored::<F>::write(self.place(), closure) };
    }

    /// Returns the closure's entry point and place, to be called on the fiber. The room counts as holding the result
    /// from then on, so nothing may access it before the call returns.
    pub(super) fn start(&mut self) -> (unsafe fn(*mut u8) -> ClosureEnd, *mut u8) {
        assert!(self.content == Content::Closure, "a task runs once");
        self.content = Content::Nothing;
        (self.job.run, self.place())
    }

    /// Notes that the call of the entry point that `start` returned has returned.
    pub(super) fn finished(&mut self) {
        self.content = Content::Result;
    }

    /// Takes the result out; `None` if there is none, or if it was taken already.
    ///
    /// # Safety
    /// `T` is the type that `fill` was called with.
    pub(super) unsafe fn take<T>(&mut self) -> Option<Outcome<T>> {
        if self.content != Content::Result {
            return None;
        }
        self.content = Content::Nothing;
        // SAFETY: a result of this type is there.
        Some(unsafe { Stored::<Outcome<T>>::read(self.place()) })
    }

    /// Returns `true` if what the closure returns has a destructor.
    pub(super) fn result_drops(&self) -> bool {
        self.job.result_drops
    }

    /// Forgets what the closure returned, if it needs no drop. Returns `true` if so. The closure must not have
    /// panicked.
    pub(super) fn forget_result(&mut self) -> bool {
        if self.job.forgets_result && self.content == Content::Result {
            self.content = Content::Nothing;
            return true;
        }
        false
    }

    /// Returns `true` if there is a result in the room.
    pub(super) fn has_result(&self) -> bool {
        self.content == Content::Result
    }

    /// Returns `true` if the room is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.content == Content::Nothing
    }

    /// Takes the content out so that the caller can drop it without borrowing the room.
    pub(super) fn empty(&mut self) -> Option<(Discard, *mut u8)> {
        let drop = match self.content {
            Content::Nothing => return None,
            Content::Closure => self.job.drop_closure,
            Content::Result => self.job.drop_result,
        };
        self.content = Content::Nothing;
        Some((drop, self.place()))
    }
}

/// The number of bytes from the top of a stack that are zero for the first job of an exploration, even if the stack
/// served other jobs before. So an execution seldom has to be repeated because of bytes that earlier jobs left there.
const CLEARED_AT_FIRST: usize = 64 << 10;

/// A pooled coroutine and its room.
pub(crate) struct Fiber {
    coroutine: Coroutine,
    stack_bytes: usize,
    /// The number of bytes from the top of the stack that had no remains of earlier jobs when the current one began.
    cleared: usize,
    /// `true` until the fiber has a job.
    is_unused: bool,
    pub room: Room,
}

impl Fiber {
    /// Creates a fiber that runs `entry`, which serves one job after the other.
    ///
    /// # Errors
    /// No memory can be mapped for a stack.
    pub(super) fn new(stack_bytes: usize, entry: Entry) -> std::io::Result<Box<Fiber>> {
        let pooled = pooled(stack_bytes);
        let has_remains = pooled.is_some();
        let stack = pooled.map_or_else(|| mapped(stack_bytes), Ok)?;
        let mut coroutine = Coroutine::new(stack, entry)?;
        if has_remains {
            coroutine.clear(CLEARED_AT_FIRST.min(stack_bytes));
        }
        Ok(Box::new(Fiber {
            coroutine,
            stack_bytes,
            cleared: 0,
            is_unused: true,
            room: Room::new(),
        }))
    }

    /// Runs the fiber until control returns to the worker; no other fiber runs then.
    ///
    /// # Safety
    /// No fiber is running, and none is moved. The parameter is a pointer and not a `&mut`, because the task that runs
    /// uses the fiber too.
    #[inline(always)]
    pub(super) unsafe fn enter(worker_context: *mut WorkerContext, to: *mut Fiber) -> Back {
        // SAFETY: as the caller says.
        unsafe { Coroutine::enter(worker_context, &raw mut (*to).coroutine) }
    }

    /// Switches to another fiber; returns when this one is resumed.
    ///
    /// # Safety
    /// `from` is running, `to` is not, and neither is moved.
    #[inline(always)]
    pub(super) unsafe fn switch(from: *mut Fiber, to: *const Fiber) {
        // SAFETY: as the caller says.
        unsafe { Coroutine::switch(&raw mut (*from).coroutine, &raw const (*to).coroutine) }
    }

    /// Switches to the worker's context; returns when this fiber is resumed.
    ///
    /// # Safety
    /// `from` is running, and was entered from this context, or switched to from a fiber that was.
    #[inline(always)]
    pub(super) unsafe fn leave(from: *mut Fiber, worker_context: *const WorkerContext) {
        // SAFETY: as the caller says.
        unsafe { Coroutine::leave(&raw mut (*from).coroutine, worker_context) }
    }

    /// Returns its coroutine, for the signal handler.
    #[allow(dead_code, reason = "signals are caught on few targets")]
    pub(super) fn coroutine(&self) -> &Coroutine {
        &self.coroutine
    }

    /// Returns the addresses of its stack; none where they are not known.
    pub(super) fn stack(&self) -> Range<usize> {
        self.coroutine.addresses()
    }

    /// Returns the size of its stack in bytes.
    pub(super) fn stack_bytes(&self) -> usize {
        self.stack_bytes
    }

    /// Returns the number of bytes of its stack that are in use while it is suspended.
    pub(super) fn in_use(&self) -> usize {
        self.coroutine.in_use()
    }

    /// Clears the remains of earlier jobs from this many bytes below the top of the stack.
    #[inline(always)]
    pub(super) fn clear(&mut self, bytes: usize) {
        self.cleared = match std::mem::take(&mut self.is_unused) {
            true => bytes.max(CLEARED_AT_FIRST),
            false => bytes,
        };
        if bytes > 0 {
            self.coroutine.clear(bytes.min(self.stack_bytes));
        }
    }

    /// Returns the number of bytes from the top of the stack that had no remains of earlier jobs when the current one
    /// began.
    #[allow(dead_code, reason = "the states of tasks are not compared on all targets")]
    pub(super) fn cleared(&self) -> usize {
        self.cleared
    }

    /// Abandons the fiber's unfinished work (its values are leaked, not dropped), and makes it ready for jobs again.
    pub(super) fn abandon(&mut self, entry: Entry) -> std::io::Result<()> {
        self.room.content = Content::Nothing;
        self.coroutine.restart(entry)
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        let Some(stack) = self.coroutine.release() else {
            return;
        };
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < POOLED_STACKS_MAX {
            pool.push((self.stack_bytes, stack));
        }
    }
}

/// Takes a stack of that size from the pool: the one at the lowest address, which a process with an empty pool would
/// get, too.
fn pooled(bytes: usize) -> Option<TaskStack> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let of_size = pool.iter().enumerate().filter(|(_, (size, _))| *size == bytes);
    let (at, _) = of_size.min_by_key(|(_, (_, stack))| stack.limit())?;
    Some(pool.swap_remove(at).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_hold_small_and_large_values() {
        let mut room = Room::new();
        let large = [7u8; 4 * ROOM];
        // SAFETY: the closures own all they use; the results are taken by their own types.
        unsafe {
            room.fill(move || large);
            let (run, place) = room.start();
            assert_eq!(run(place), ClosureEnd::Returned);
            room.finished();
            assert_eq!(room.take::<[u8; 4 * ROOM]>().unwrap().unwrap(), large);
            assert!(room.take::<[u8; 4 * ROOM]>().is_none());
            room.fill(|| 5u8);
        }
        let (drop_closure, place) = room.empty().unwrap();
        // SAFETY: `empty` gave the two together.
        unsafe { drop_closure(place) };
        assert!(room.empty().is_none());
    }

    #[test]
    fn stacks_are_pooled_by_size() {
        let bytes = 48 << 10;
        let stack = TaskStack::new(bytes).unwrap();
        let low = stack.limit();
        POOL.lock().unwrap().push((bytes, stack));
        assert_eq!(pooled(bytes).as_ref().map(Stack::limit), Some(low));
        assert!(pooled(bytes).is_none());
    }
}
