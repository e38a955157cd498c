//! The time that something took: on the wall clock, and on processors.
//!
//! If other programs compete for the processors, the time on the wall clock includes theirs.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Two durations of one interval, or since some beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// On the wall clock.
    pub wall: Duration,
    /// On processors, of all threads of the process together, including the kernel.
    pub cpu: Duration,
}

impl Took {
    /// Returns the present values of the two clocks.
    pub fn so_far() -> Took {
        let read = |clock| {
            let Timespec { tv_sec, tv_nsec } = clock_gettime(clock);
            Duration::new(tv_sec.unsigned_abs(), u32::try_from(tv_nsec).unwrap_or(0))
        };
        Took {
            wall: read(ClockId::Monotonic),
            cpu: read(ClockId::ProcessCPUTime),
        }
    }

    /// Returns the time from that moment to this.
    pub fn since(self, earlier: Took) -> Took {
        Took {
            wall: self.wall.saturating_sub(earlier.wall),
            cpu: self.cpu.saturating_sub(earlier.cpu),
        }
    }
}
