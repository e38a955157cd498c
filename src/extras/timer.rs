//! Timers that call a function once or repeatedly.

use crate::primitive::{Primitive, State};
use crate::thread;
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::time::Duration;

/// The state of a timer.
struct Clock {
    cancelled: bool,
    calls: u64,
}

/// Open when it is cancelled.
const CANCELLED: u8 = 1;

impl Clock {
    /// Counts a call, unless there will be none.
    fn fire(&mut self) -> bool {
        self.calls += u64::from(!self.cancelled);
        !self.cancelled
    }
}

impl State for Clock {
    fn gates(&self) -> u8 {
        u8::from(self.cancelled) * CANCELLED
    }

    fn kind(&self) -> &'static str {
        "timer"
    }
}

/// A timer: calls a function on a thread of its own when its time has come.
///
/// Inside an exploration the thread is a task and the time is virtual. A timer fires when no other task can continue. It may
/// also fire at any other moment; the member `timeouts` of the setting `environment` bounds how often, by default once in an
/// execution.
///
/// Dropping the timer cancels it, unless the caller is unwinding. If the function panicked, the panic is resumed there.
///
/// ```
/// use intermezzo::extras::{Event, Timer};
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// let late = Arc::new(Event::manual_reset(false));
/// let theirs = late.clone();
/// let timer = Timer::once(Duration::from_millis(5), move || theirs.set());
/// late.wait();
/// assert_eq!(timer.cancel(), 1);
/// ```
pub struct Timer {
    clock: Arc<Primitive<Clock>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Timer {
    /// Returns a timer that calls the function once, after this time.
    ///
    /// # Panics
    /// If the system has no more threads.
    #[track_caller]
    pub fn once(delay: Duration, call: impl FnOnce() + Send + 'static) -> Timer {
        Timer::start(move |clock| {
            if comes(clock, delay) {
                call();
            }
        })
    }

    /// Returns a timer that calls the function after this time, and again each time that the same time has passed since the
    /// last call returned.
    ///
    /// # Panics
    /// If the system has no more threads.
    #[track_caller]
    pub fn periodic(period: Duration, mut call: impl FnMut() + Send + 'static) -> Timer {
        Timer::start(move |clock| {
            while comes(clock, period) {
                call();
            }
        })
    }

    #[track_caller]
    fn start(run: impl FnOnce(&Primitive<Clock>) + Send + 'static) -> Timer {
        let clock = Arc::new(Primitive::new(Clock {
            cancelled: false,
            calls: 0,
        }));
        let theirs = clock.clone();
        let thread = thread::Builder::new().name("timer".into());
        let thread = thread
            .spawn(move || run(&theirs))
            .expect("there is another thread");
        Timer {
            clock,
            thread: Some(thread),
        }
    }

    /// Cancels the timer, and waits for a call in progress. Returns the number of calls. There are none afterwards.
    ///
    /// # Panics
    /// If the function panicked, with its payload.
    #[track_caller]
    pub fn cancel(mut self) -> u64 {
        let calls = self.stop();
        self.end();
        calls
    }

    /// Waits until the timer has called its function once. For a periodic timer the wait never ends by itself.
    ///
    /// # Panics
    /// If the function panicked, with its payload.
    #[track_caller]
    pub fn join(mut self) {
        self.end();
    }

    #[track_caller]
    fn stop(&self) -> u64 {
        self.clock.change(Release, |clock| {
            clock.cancelled = true;
            clock.calls
        })
    }

    /// Waits for the thread, and resumes its panic.
    #[track_caller]
    fn end(&mut self) {
        if let Some(thread) = self.thread.take()
            && let Err(payload) = thread.join()
        {
            resume_unwind(payload);
        }
    }
}

/// Waits for the time of the next call; `false` if the timer is cancelled.
fn comes(clock: &Primitive<Clock>, delay: Duration) -> bool {
    let cancelled = clock.wait_timeout(CANCELLED, delay, Acquire, |_| ());
    cancelled.is_none() && clock.change(AcqRel, Clock::fire)
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.thread.is_none() {
            return;
        }
        self.stop();
        // The call may wait for what the caller, which unwinds, holds.
        if !std::thread::panicking() {
            self.end();
        }
    }
}

impl crate::Nameable for Timer {
    fn give_name(&self, name: &str) {
        crate::name(&*self.clock, name);
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}
