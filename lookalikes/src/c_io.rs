//! C's functions that wait for pipes, sockets and events of the system, and those that end such waits.
//!
//! In a program that links this crate's versions instead of the C library's, a task of an execution waits by the engine.
//! Each call is one step, in which the system is asked without waiting. If the call would wait, the task waits at a word
//! that all these calls share, and is woken by those that may make something ready: then it asks again. So other tasks
//! go on, virtual time ends a wait with a limit, and a wait that nothing ends is a deadlock.
//!
//! A wait for something that comes from outside the execution is no deadlock. Such a wait goes on until no other task can
//! do anything, and then the system itself waits (see `c_io/inside.rs`).
//!
//! A descriptor that an execution leaves open is closed before the next one opens another: `c_io/left_open.rs`.
//!
//! **Misses.** `select`, `io_uring`, other calls by number than those of [`by_number`], and programs that call the system
//! without the C library. A blocking write of more than fits waits in the system. Waits for other processes, and for locks
//! by `fcntl`.

pub mod children;
mod inside;
pub mod left_open;
pub mod locks;
pub mod signals;
pub mod timers;

use crate::c_library::{Function, functions, system_call};
use crate::name::name;
use crate::sync::atomic::by_address;
use crate::waits_at::{At, Effect};
use inside::all_inside;
use intermezzo_engine::runtime::{AT_REST, Engine, WaitLimits, Wake};
use intermezzo_sdk::MemoryOrder;
use libc::{
    c_int, c_long, c_short, c_void, epoll_event, iovec, msghdr, nfds_t, pollfd, sigset_t, size_t, sockaddr,
    socklen_t, ssize_t, timespec,
};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

thread_local! {
    /// The word at which tasks wait: the number of calls in the execution that may have made something ready. All tasks of
    /// an execution are on one thread.
    static WORD: by_address::AtomicU32 = const { by_address::AtomicU32::new(0) };
}

/// The number of the process whose executions these are; 0 if it is not known.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Makes the linker take the functions from here.
pub fn take_over() {
    use std::hint::black_box;
    PROCESS.store(std::process::id(), Relaxed);
    black_box(epoll_wait as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(epoll_pwait as unsafe extern "C" fn(_, _, _, _, _) -> _);
    black_box(epoll_pwait2 as unsafe extern "C" fn(_, _, _, _, _) -> _);
    black_box(epoll_ctl as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(poll as unsafe extern "C" fn(_, _, _) -> _);
    black_box(ppoll as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(read as unsafe extern "C" fn(_, _, _) -> _);
    black_box(readv as unsafe extern "C" fn(_, _, _) -> _);
    black_box(recv as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(recvfrom as unsafe extern "C" fn(_, _, _, _, _, _) -> _);
    black_box(recvmsg as unsafe extern "C" fn(_, _, _) -> _);
    black_box(accept as unsafe extern "C" fn(_, _, _) -> _);
    black_box(accept4 as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(write as unsafe extern "C" fn(_, _, _) -> _);
    black_box(writev as unsafe extern "C" fn(_, _, _) -> _);
    black_box(send as unsafe extern "C" fn(_, _, _, _) -> _);
    black_box(sendto as unsafe extern "C" fn(_, _, _, _, _, _) -> _);
    black_box(sendmsg as unsafe extern "C" fn(_, _, _) -> _);
    black_box(connect as unsafe extern "C" fn(_, _, _) -> _);
    black_box(shutdown as unsafe extern "C" fn(_, _) -> _);
    black_box(close as unsafe extern "C" fn(_) -> _);
    children::take_over();
    left_open::take_over();
    locks::take_over();
    signals::take_over();
    timers::take_over();
    crate::c_threads::take_over();
}

/// Returns a result with the number of the error, which is this thread's own and lasts only until the next call.
fn with_error<T>(result: T) -> (T, c_int) {
    // SAFETY: this thread's own.
    (result, unsafe { *libc::__errno_location() })
}

/// The moment at which a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// While other tasks may go on: the call must not wait.
    Now,
    /// While no other task can do anything: the call may wait for something from outside.
    AtRest,
}

/// Performs a call of the system as a step of the current task, as soon as it succeeds without waiting. `attempt` returns
/// `None` if it would wait. `is_inside` says then whether only this execution can end the wait. Returns `None` if the
/// limit of time comes first.
fn perform<R>(
    engine: Engine,
    is_inside: impl Fn() -> bool,
    limit: Option<Duration>,
    attempt: impl FnMut(When) -> Option<(R, Effect)>,
) -> Option<R> {
    WORD.with(|word| perform_at(word, engine, is_inside, limit, attempt))
}

/// Does so, by this word.
fn perform_at<R>(
    word: &by_address::AtomicU32,
    engine: Engine,
    is_inside: impl Fn() -> bool,
    limit: Option<Duration>,
    mut attempt: impl FnMut(When) -> Option<(R, Effect)>,
) -> Option<R> {
    let at = At {
        engine,
        word,
        order: MemoryOrder::AcqRel,
        // The caller's place is not known, because C's calls do not pass it on.
        site: engine.last_site(),
    };
    if word.known(engine).is_none() {
        let (_, value) = word.inside(engine, at.site);
        // SAFETY: this task alone runs.
        unsafe { *value = 0 };
        name(word, "the system");
        engine.call_system();
    }
    let deadline = Cell::new(None);
    let is_for_timer = Cell::new(false);
    let mut when = When::Now;
    let mut is_over = false;
    loop {
        let limits = || {
            let own = deadline
                .get()
                .or_else(|| limit.map(|limit| engine.deadline_in_step(limit)));
            deadline.set(own);
            let timer = timers::first_due(engine).filter(|&due| own.is_none_or(|own| due < own));
            is_for_timer.set(timer.is_some());
            Some(WaitLimits {
                deadline: timer.or(own),
                may_end_spuriously: false,
            })
        };
        let tried = |_| {
            timers::count_up(engine);
            let mut tried = attempt(when);
            if tried.is_none() && limit.is_none() && deadline.get().is_none() {
                // The order matters. A child may write after the first attempt, and have ended and been waited for when
                // the children are counted. So the attempt that decides comes after the count: nothing from outside can
                // come after it.
                if is_inside() {
                    tried = attempt(when);
                } else {
                    deadline.set(Some(AT_REST));
                }
            }
            tried.map(|(result, effect)| (with_error(result), effect))
        };
        match at.wait_unless(u32::MAX, tried, limits) {
            Ok((result, error)) => {
                // SAFETY: this thread's own.
                unsafe { *libc::__errno_location() = error };
                return Some(result);
            }
            Err(Wake::TimedOut) if is_for_timer.get() => when = When::Now,
            // Real time has passed for the children of the execution, and one may have made something ready.
            Err(Wake::TimedOut) if limit.is_some() && !is_over && children::any_started(engine) => {
                (is_over, when) = (true, When::Now);
            }
            Err(Wake::TimedOut) if limit.is_some() => return None,
            Err(Wake::TimedOut) => when = When::AtRest,
            Err(Wake::Ready) => when = When::Now,
        }
    }
}

/// Returns `true` if calls of the current task are steps: not while the execution is torn down, and not in a copy of the
/// process, which `fork` makes to start another program.
fn takes_steps(engine: Engine) -> bool {
    let process = PROCESS.load(Relaxed);
    !engine.in_teardown() && (process == 0 || process == std::process::id())
}

/// Returns the engine if a call that concerns this descriptor is a step: if the descriptor is a pipe, a socket or an object
/// of the system for waits, and none that the process has from its beginning. Files are always ready.
fn step_of(engine: Engine, descriptor: c_int) -> Option<Engine> {
    if descriptor <= libc::STDERR_FILENO || !takes_steps(engine) {
        return None;
    }
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the place for the result is there, and is read only if it was written.
    let kind = unsafe {
        if libc::fstat(descriptor, status.as_mut_ptr()) != 0 {
            return None;
        }
        status.assume_init().st_mode & libc::S_IFMT
    };
    // Objects of the system have none of the kinds.
    matches!(kind, libc::S_IFIFO | libc::S_IFSOCK | 0).then_some(engine)
}

/// Returns the C library's own `poll`.
fn system_poll() -> unsafe extern "C" fn(*mut pollfd, nfds_t, c_int) -> c_int {
    static SYSTEM: Function = Function::named(c"poll");
    // SAFETY: this is its type.
    unsafe { std::mem::transmute(SYSTEM.address()) }
}

/// Returns an entry for `poll`.
fn entry(descriptor: c_int, events: c_short) -> pollfd {
    pollfd {
        fd: descriptor,
        events,
        revents: 0,
    }
}

/// Returns `true` if a call at this descriptor would wait.
fn would_wait(mut entry: pollfd) -> bool {
    // SAFETY: plain calls; one entry is there. With a limit of 0 this one does not wait.
    unsafe {
        let flags = libc::fcntl(entry.fd, libc::F_GETFL);
        flags & libc::O_NONBLOCK == 0 && system_poll()(&raw mut entry, 1, 0) == 0
    }
}

/// Returns the time for which a read of this socket waits at most, if it has such a limit.
fn limit_of(descriptor: c_int) -> Option<Duration> {
    let mut limit = libc::timeval {
        tv_sec: 0,
        tv_usec: 0,
    };
    let mut size = size_of_val(&limit) as socklen_t;
    // SAFETY: the place for the result is there, and has this size.
    let known = unsafe {
        libc::getsockopt(
            descriptor,
            libc::SOL_SOCKET,
            libc::SO_RCVTIMEO,
            (&raw mut limit).cast(),
            &raw mut size,
        )
    };
    let limit = Duration::new(limit.tv_sec as u64, limit.tv_usec as u32 * 1_000);
    (known == 0 && !limit.is_zero()).then_some(limit)
}

/// Performs a call that takes something from a descriptor, and waits until there is something, unless the flags say that it
/// does not wait. -1 stands for an error.
fn take<R: From<i8> + PartialEq>(
    engine: Engine,
    descriptor: c_int,
    flags: c_int,
    call: impl Fn() -> R,
) -> Option<R> {
    let engine = step_of(engine, descriptor)?;
    let awaited = entry(descriptor, libc::POLLIN);
    let taken = perform(
        engine,
        || all_inside(engine, [descriptor]),
        limit_of(descriptor),
        |when| {
            if when == When::Now && flags & libc::MSG_DONTWAIT == 0 && would_wait(awaited) {
                return None;
            }
            let result = call();
            let effect = if result == R::from(-1) {
                Effect::None
            } else {
                Effect::Wake
            };
            Some((result, effect))
        },
    );
    Some(taken.unwrap_or_else(|| {
        // SAFETY: this thread's own.
        unsafe { *libc::__errno_location() = libc::EAGAIN };
        R::from(-1)
    }))
}

/// Performs a call that may make something ready, and waits for this event, unless it is 0.
fn change<R>(engine: Engine, descriptor: c_int, events: c_short, call: impl Fn() -> R) -> Option<R> {
    let engine = step_of(engine, descriptor)?;
    let awaited = entry(descriptor, events);
    perform(
        engine,
        || all_inside(engine, [descriptor]),
        None,
        |when| {
            if events != 0 && when == When::Now && would_wait(awaited) {
                return None;
            }
            Some((call(), Effect::Wake))
        },
    )
}

/// Returns the event for which a call with these flags waits: room to send, or none.
fn room(flags: c_int) -> c_short {
    if flags & libc::MSG_DONTWAIT == 0 {
        libc::POLLOUT
    } else {
        0
    }
}

/// Returns the limit of a call that waits, `Some(None)` for none; `None` if it is no time.
///
/// # Safety
/// The pointer is null, or points to a valid value.
unsafe fn time_limit(limit: *const timespec) -> Option<Option<Duration>> {
    // SAFETY: as the caller says.
    match unsafe { limit.as_ref() } {
        None => Some(None),
        Some(&limit) => timers::duration(limit).map(Some),
    }
}

/// Returns a limit in milliseconds, as `poll` has it; `None` for none.
fn milliseconds(limit: c_int) -> Option<Duration> {
    u64::try_from(limit).ok().map(Duration::from_millis)
}

/// Performs a call that waits until something is ready, and returns the number of things. `call` gets the limit to pass on,
/// in milliseconds.
fn await_ready(
    engine: Engine,
    is_inside: impl Fn() -> bool,
    limit: Option<Duration>,
    call: impl Fn(c_int) -> c_int,
) -> Option<c_int> {
    if !takes_steps(engine) {
        return None;
    }
    let ready = perform(engine, is_inside, limit, |when| {
        match call(if when == When::Now { 0 } else { -1 }) {
            0 if limit != Some(Duration::ZERO) => None,
            ready @ ..=0 => Some((ready, Effect::None)),
            // Some kinds of events are told once.
            ready => Some((ready, Effect::Change)),
        }
    });
    Some(ready.unwrap_or(0))
}

functions! {
    /// Waits for events.
    fn epoll_wait(epoll: c_int, into: *mut epoll_event, most: c_int, limit: c_int) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        await_ready(engine, || all_inside(engine, [epoll]), milliseconds(limit), |limit| unsafe {
            system(epoll, into, most, limit)
        })
    };

    /// Waits for events, while some signals are kept off.
    fn epoll_pwait(
        epoll: c_int, into: *mut epoll_event, most: c_int, limit: c_int, signals: *const sigset_t
    ) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        await_ready(engine, || all_inside(engine, [epoll]), milliseconds(limit), |limit| unsafe {
            system(epoll, into, most, limit, signals)
        })
    };

    /// Changes the descriptors of which events are awaited.
    fn epoll_ctl(epoll: c_int, op: c_int, descriptor: c_int, event: *mut epoll_event) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, epoll, 0, || unsafe { system(epoll, op, descriptor, event) })
    };

    /// Waits until a descriptor is ready.
    fn poll(entries: *mut pollfd, count: nfds_t, limit: c_int) -> c_int: |engine, system| {
        let is_inside = || all_inside(engine, descriptors(entries, count));
        // SAFETY: as the caller says.
        await_ready(engine, is_inside, milliseconds(limit), |limit| unsafe { system(entries, count, limit) })
    };

    /// Waits until a descriptor is ready, while some signals are kept off.
    fn ppoll(
        entries: *mut pollfd, count: nfds_t, limit: *const timespec, signals: *const sigset_t
    ) -> c_int: |engine, system| {
        static NOW: timespec = timespec { tv_sec: 0, tv_nsec: 0 };
        let is_inside = || all_inside(engine, descriptors(entries, count));
        // SAFETY: as the caller says.
        let limit = unsafe { time_limit(limit) };
        limit.and_then(|limit| await_ready(engine, is_inside, limit, |limit| {
            let limit = if limit == 0 { &raw const NOW } else { std::ptr::null() };
            // SAFETY: as the caller says.
            unsafe { system(entries, count, limit, signals) }
        }))
    };

    /// Reads.
    fn read(descriptor: c_int, into: *mut c_void, size: size_t) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        take(engine, descriptor, 0, || unsafe { system(descriptor, into, size) })
    };

    /// Reads into several places.
    fn readv(descriptor: c_int, into: *const iovec, count: c_int) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        take(engine, descriptor, 0, || unsafe { system(descriptor, into, count) })
    };

    /// Receives from a socket.
    fn recv(descriptor: c_int, into: *mut c_void, size: size_t, flags: c_int) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        take(engine, descriptor, flags, || unsafe { system(descriptor, into, size, flags) })
    };

    /// Receives from a socket, with the sender.
    fn recvfrom(
        descriptor: c_int, into: *mut c_void, size: size_t, flags: c_int, from: *mut sockaddr, from_size: *mut socklen_t
    ) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        take(engine, descriptor, flags, || unsafe { system(descriptor, into, size, flags, from, from_size) })
    };

    /// Receives a message from a socket.
    fn recvmsg(descriptor: c_int, into: *mut msghdr, flags: c_int) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        take(engine, descriptor, flags, || unsafe { system(descriptor, into, flags) })
    };

    /// Takes a connection.
    fn accept(descriptor: c_int, from: *mut sockaddr, size: *mut socklen_t) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        let taken = take(engine, descriptor, 0, || unsafe { system(descriptor, from, size) });
        taken.inspect(|&taken| left_open::note(engine, &[taken], false))
    };

    /// Takes a connection, with flags.
    fn accept4(
        descriptor: c_int, from: *mut sockaddr, size: *mut socklen_t, flags: c_int
    ) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        let taken = take(engine, descriptor, 0, || unsafe { system(descriptor, from, size, flags) });
        taken.inspect(|&taken| left_open::note(engine, &[taken], false))
    };

    /// Writes.
    fn write(descriptor: c_int, from: *const c_void, size: size_t) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, descriptor, libc::POLLOUT, || unsafe { system(descriptor, from, size) })
    };

    /// Writes from several places.
    fn writev(descriptor: c_int, from: *const iovec, count: c_int) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, descriptor, libc::POLLOUT, || unsafe { system(descriptor, from, count) })
    };

    /// Sends to a socket.
    fn send(descriptor: c_int, from: *const c_void, size: size_t, flags: c_int) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, descriptor, room(flags), || unsafe { system(descriptor, from, size, flags) })
    };

    /// Sends to a socket, for an address.
    fn sendto(
        descriptor: c_int, from: *const c_void, size: size_t, flags: c_int, to: *const sockaddr, to_size: socklen_t
    ) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, descriptor, room(flags), || unsafe { system(descriptor, from, size, flags, to, to_size) })
    };

    /// Sends a message to a socket.
    fn sendmsg(descriptor: c_int, from: *const msghdr, flags: c_int) -> ssize_t: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, descriptor, room(flags), || unsafe { system(descriptor, from, flags) })
    };

    /// Connects a socket.
    fn connect(descriptor: c_int, to: *const sockaddr, size: socklen_t) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, descriptor, 0, || unsafe { system(descriptor, to, size) })
    };

    /// Shuts a socket down.
    fn shutdown(descriptor: c_int, how: c_int) -> c_int: |engine, system| {
        // SAFETY: as the caller says.
        change(engine, descriptor, 0, || unsafe { system(descriptor, how) })
    };

    /// Closes a descriptor.
    fn close(descriptor: c_int) -> c_int: |engine, system| {
        let forget = || {
            left_open::forget(descriptor);
            timers::forget(engine, descriptor);
            locks::forget(engine, descriptor);
        };
        let close = || {
            forget();
            // SAFETY: as the caller says.
            unsafe { system(descriptor) }
        };
        let closed = match takes_steps(engine) && locks::is_held_by(engine, descriptor) {
            true => perform(engine, || true, None, |_| Some((close(), Effect::Wake))),
            false => change(engine, descriptor, 0, close),
        };
        if closed.is_none() {
            forget();
        }
        closed
    };
}

/// Waits for events, with a limit in nanoseconds, while some signals are kept off. The C library may be too old to have
/// it.
///
/// # Safety
/// As for the C library's function of this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_pwait2(
    epoll: c_int,
    into: *mut epoll_event,
    most: c_int,
    limit: *const timespec,
    signals: *const sigset_t,
) -> c_int {
    const MASK_BYTES: usize = 8;
    static NOW: timespec = timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let system = |limit: *const timespec| {
        // SAFETY: the arguments are the caller's.
        unsafe {
            system_call()(
                libc::SYS_epoll_pwait2,
                epoll,
                into,
                most,
                limit,
                signals,
                MASK_BYTES,
            ) as c_int
        }
    };
    // SAFETY: as the caller says.
    let time = unsafe { time_limit(limit) };
    let inside = time.zip(Engine::of_test()).and_then(|(time, engine)| {
        // Nothing may unwind out of a function of C.
        engine.keep_from_unwinding(|| {
            await_ready(
                engine,
                || all_inside(engine, [epoll]),
                time,
                |limit| {
                    system(if limit == 0 {
                        &raw const NOW
                    } else {
                        std::ptr::null()
                    })
                },
            )
        })
    });
    inside.unwrap_or_else(|| system(limit))
}

/// Performs the call of the system with this number, if this module replaces it.
///
/// # Safety
/// As for that call.
pub(crate) unsafe fn by_number(number: c_long, arguments: [c_long; 5]) -> Option<c_long> {
    let [a, b, c, d, e] = arguments;
    let int = |argument: c_long| argument as c_int;
    fn pointer<T>(argument: c_long) -> *mut T {
        std::ptr::with_exposed_provenance_mut(argument as usize)
    }
    // SAFETY: as the caller says.
    let result = unsafe {
        match number {
            libc::SYS_eventfd2 => left_open::eventfd(a as libc::c_uint, int(b)),
            libc::SYS_epoll_pwait2 => epoll_pwait2(int(a), pointer(b), int(c), pointer(d), pointer(e)),
            libc::SYS_timerfd_create => timers::timerfd_create(int(a), int(b)),
            libc::SYS_timerfd_settime => timers::timerfd_settime(int(a), int(b), pointer(c), pointer(d)),
            libc::SYS_timerfd_gettime => timers::timerfd_gettime(int(a), pointer(b)),
            _ => return None,
        }
    };
    Some(result.into())
}

/// Returns the descriptors of the entries that a caller of `poll` passes.
fn descriptors(entries: *const pollfd, count: nfds_t) -> impl Iterator<Item = c_int> {
    let count = if entries.is_null() { 0 } else { count as usize };
    // SAFETY: the caller says that there are as many.
    (0..count).map(move |at| unsafe { (*entries.add(at)).fd })
}
