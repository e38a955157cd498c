//! `std`, with intermezzo's look-alikes laid over it: the crates of a project that is tested unmodified get this as
//! their `std`.
//!
//! The globs re-export everything without a look-alike from std. `Arc`, `Weak`, `UnsafeCell` and `Cell` stay std's own,
//! because crates rely on their layout, and on traits that only std can implement for them. `SystemTime` stays std's own
//! because the metadata of files returns it; it gets the virtual clock through `clock_gettime`.

pub use ::std::*;
pub use intermezzo::{collections, hash, thread_local};

#[doc(hidden)]
pub use ::intermezzo as __intermezzo;

// For `__asm!`, and for crates that compare the two.
#[doc(hidden)]
pub use ::std as __std;

/// `std::sync`
pub mod sync {
    pub use ::std::sync::*;
    #[allow(deprecated)]
    pub use intermezzo::sync::ONCE_INIT;
    pub use intermezzo::sync::{
        Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, OnceState, RwLock,
        RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
    };

    /// `std::sync::atomic`
    pub mod atomic {
        pub use ::std::sync::atomic::*;
        #[allow(deprecated)]
        pub use intermezzo::sync::atomic::spin_loop_hint;
        pub use intermezzo::sync::atomic::by_address::{
            AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16,
            AtomicU32, AtomicU64, AtomicUsize,
        };
        pub use intermezzo::sync::atomic::{compiler_fence, fence};

        macro_rules! initial {
            ($($name:ident: $atomic:ident = $value:literal;)*) => {$(
                /// The constant of this name in `std::sync::atomic`.
                #[deprecated(note = "`new` is const")]
                pub const $name: $atomic = $atomic::new($value);
            )*};
        }

        initial! {
            ATOMIC_BOOL_INIT: AtomicBool = false;
            ATOMIC_I8_INIT: AtomicI8 = 0;
            ATOMIC_I16_INIT: AtomicI16 = 0;
            ATOMIC_I32_INIT: AtomicI32 = 0;
            ATOMIC_I64_INIT: AtomicI64 = 0;
            ATOMIC_ISIZE_INIT: AtomicIsize = 0;
            ATOMIC_U8_INIT: AtomicU8 = 0;
            ATOMIC_U16_INIT: AtomicU16 = 0;
            ATOMIC_U32_INIT: AtomicU32 = 0;
            ATOMIC_U64_INIT: AtomicU64 = 0;
            ATOMIC_USIZE_INIT: AtomicUsize = 0;
        }
    }

    /// `std::sync::mpsc`
    pub mod mpsc {
        pub use ::std::sync::mpsc::*;
        pub use intermezzo::sync::mpsc::{
            IntoIter, Iter, Receiver, Sender, SyncSender, TryIter, channel, sync_channel,
        };
    }
}

/// `std::thread`
pub mod thread {
    pub use ::std::thread::*;
    #[allow(deprecated)]
    pub use intermezzo::thread::{park_timeout_ms, sleep_ms};
    pub use intermezzo::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId,
        available_parallelism, current, panicking, park, park_timeout, scope, sleep, spawn, yield_now,
    };
}

/// `std::panic`. A hook that a test sets belongs to the execution.
pub mod panic {
    pub use ::std::panic::*;
    pub use intermezzo::unmodified::{set_hook, take_hook};
}

/// `std::backtrace`
pub mod backtrace {
    pub use ::std::backtrace::BacktraceStatus;
    use ::std::fmt;
    use intermezzo::unmodified::outside;

    /// `std::backtrace::Backtrace`. std keeps the symbols that it has read for the whole process, so it must not read them
    /// into the memory of an execution.
    pub struct Backtrace(::std::backtrace::Backtrace);

    impl Backtrace {
        /// Returns the stack, if the environment asks for it.
        #[inline(never)]
        pub fn capture() -> Backtrace {
            Backtrace(outside(::std::backtrace::Backtrace::capture))
        }
        /// Returns the stack.
        #[inline(never)]
        pub fn force_capture() -> Backtrace {
            Backtrace(outside(::std::backtrace::Backtrace::force_capture))
        }
        /// Returns no stack.
        pub const fn disabled() -> Backtrace {
            Backtrace(::std::backtrace::Backtrace::disabled())
        }
        /// Returns whether there is a stack.
        pub fn status(&self) -> BacktraceStatus {
            self.0.status()
        }
    }

    impl fmt::Debug for Backtrace {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(&outside(|| ::std::format!("{:?}", self.0)))
        }
    }

    impl fmt::Display for Backtrace {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let text = outside(|| match f.alternate() {
                true => ::std::format!("{:#}", self.0),
                false => ::std::format!("{}", self.0),
            });
            f.write_str(&text)
        }
    }
}

/// `std::hint`
pub mod hint {
    pub use ::std::hint::*;
    pub use intermezzo::hint::spin_loop;
}

/// `std::arch`
pub mod arch {
    pub use crate::__asm as asm;
    pub use ::std::arch::*;

    /// `std::arch::x86_64`
    #[cfg(target_arch = "x86_64")]
    pub mod x86_64 {
        pub use ::std::arch::x86_64::*;
        pub use intermezzo::unmodified::{__rdtscp, _mm_mfence, _rdtsc, cmpxchg16b};
    }
}

/// `std::io`
pub mod io {
    pub use ::std::io::*;
    pub use intermezzo::unmodified::streams::{stderr, stdin, stdout};
}

/// `std::time`
pub mod time {
    pub use ::std::time::*;
    pub use intermezzo::time::Instant;
}

/// `std::process`
pub mod process {
    pub use ::std::process::*;
    pub use intermezzo::unmodified::process::exit;
}

/// `std::os`
pub mod os {
    pub use ::std::os::*;

    /// `std::os::unix`
    #[cfg(unix)]
    pub mod unix {
        pub use ::std::os::unix::*;

        /// `std::os::unix::prelude`
        pub mod prelude {
            pub use super::thread::JoinHandleExt;
            pub use ::std::os::unix::prelude::*;
        }

        /// `std::os::unix::thread`
        pub mod thread {
            pub use ::std::os::unix::thread::RawPthread;

            /// `std::os::unix::thread::JoinHandleExt`. All tasks of an execution are on one thread of the system, which
            /// is what this returns.
            pub trait JoinHandleExt {
                /// Returns the thread of the system.
                fn as_pthread_t(&self) -> RawPthread;
                /// Returns the thread of the system, and detaches the task.
                fn into_pthread_t(self) -> RawPthread;
            }

            unsafe extern "C" {
                safe fn pthread_self() -> RawPthread;
            }

            impl<T> JoinHandleExt for intermezzo::thread::JoinHandle<T> {
                fn as_pthread_t(&self) -> RawPthread {
                    pthread_self()
                }
                fn into_pthread_t(self) -> RawPthread {
                    pthread_self()
                }
            }
        }
    }
}

/// `std::prelude`. The macros of the language come from here, `thread_local!` among them.
pub mod prelude {
    pub use ::std::prelude::*;
    pub use crate::{dbg, eprint, eprintln, print, println};

    /// `std::prelude::v1`
    pub mod v1 {
        pub use ::std::prelude::v1::*;
        pub use crate::{dbg, eprint, eprintln, print, println, thread_local};
        pub use intermezzo::unmodified::global_allocator;
    }
    /// `std::prelude::rust_2015`
    pub mod rust_2015 {
        pub use ::std::prelude::rust_2015::*;
        pub use crate::{dbg, eprint, eprintln, print, println, thread_local};
        pub use intermezzo::unmodified::global_allocator;
    }
    /// `std::prelude::rust_2018`
    pub mod rust_2018 {
        pub use ::std::prelude::rust_2018::*;
        pub use crate::{dbg, eprint, eprintln, print, println, thread_local};
        pub use intermezzo::unmodified::global_allocator;
    }
    /// `std::prelude::rust_2021`
    pub mod rust_2021 {
        pub use ::std::prelude::rust_2021::*;
        pub use crate::{dbg, eprint, eprintln, print, println, thread_local};
        pub use intermezzo::unmodified::global_allocator;
    }
    /// `std::prelude::rust_2024`
    pub mod rust_2024 {
        pub use ::std::prelude::rust_2024::*;
        pub use crate::{dbg, eprint, eprintln, print, println, thread_local};
        pub use intermezzo::unmodified::global_allocator;
    }
}

/// Prints, unless this is one of many executions whose output is not shown.
#[doc(hidden)]
pub fn __print(text: ::std::fmt::Arguments<'_>, newline: bool, to_stderr: bool) {
    if ::intermezzo::is_exploring() && !shows_output() {
        return;
    }
    match (to_stderr, newline) {
        (false, false) => ::std::print!("{text}"),
        (false, true) => ::std::println!("{text}"),
        (true, false) => ::std::eprint!("{text}"),
        (true, true) => ::std::eprintln!("{text}"),
    }
}

/// `true` if the output of explored executions is shown: in a replay, or with `--nocapture`. The arguments of a program are
/// not examined, because they are its own.
fn shows_output() -> bool {
    static SHOWS: ::std::sync::OnceLock<bool> = ::std::sync::OnceLock::new();
    *SHOWS.get_or_init(|| {
        let of_program = ::std::env::var_os("INTERMEZZO_PROGRAMS").is_some_and(|value| value == "1");
        ::std::env::var_os("INTERMEZZO_REPLAY").is_some()
            || !of_program && ::std::env::args().any(|argument| argument == "--nocapture" || argument == "--no-capture")
    })
}

/// `std::arch::asm!`
#[doc(hidden)]
#[macro_export]
macro_rules! __asm {
    ($($arguments:tt)*) => {{
        $crate::__intermezzo::unmodified::assembly(
            const { $crate::__intermezzo::unmodified::Assembly::of(::core::stringify!($($arguments)*)) }
        );
        $crate::__std::arch::asm!($($arguments)*)
    }};
}

/// `std::print!`
#[macro_export]
macro_rules! print {
    ($($text:tt)*) => { $crate::__print(::core::format_args!($($text)*), false, false) };
}

/// `std::println!`
#[macro_export]
macro_rules! println {
    () => { $crate::__print(::core::format_args!(""), true, false) };
    ($($text:tt)*) => { $crate::__print(::core::format_args!($($text)*), true, false) };
}

/// `std::eprint!`
#[macro_export]
macro_rules! eprint {
    ($($text:tt)*) => { $crate::__print(::core::format_args!($($text)*), false, true) };
}

/// `std::eprintln!`
#[macro_export]
macro_rules! eprintln {
    () => { $crate::__print(::core::format_args!(""), true, true) };
    ($($text:tt)*) => { $crate::__print(::core::format_args!($($text)*), true, true) };
}

/// `std::dbg!`
#[macro_export]
macro_rules! dbg {
    () => { $crate::eprintln!("[{}:{}:{}]", ::core::file!(), ::core::line!(), ::core::column!()) };
    ($value:expr $(,)?) => {
        // As in std, `match` keeps temporary values of the expression alive while the result is used.
        match $value {
            value => {
                $crate::eprintln!(
                    "[{}:{}:{}] {} = {:#?}",
                    ::core::file!(), ::core::line!(), ::core::column!(), ::core::stringify!($value), &value
                );
                value
            }
        }
    };
    ($($value:expr),+ $(,)?) => { ($($crate::dbg!($value)),+,) };
}
