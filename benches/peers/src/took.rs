//! What something took: time on the wall, and of it what the process had of the processors.
//!
//! Where other programs compete for the processors, time on the wall is theirs too.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Two times of one stretch, or of one moment since some beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    /// On the wall.
    pub wall: Duration,
    /// On processors, of all threads of the process together, in the kernel too.
    pub cpu: Duration,
}

impl Took {
    /// The two clocks now.
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

    /// From that moment to this.
    pub fn since(self, earlier: Took) -> Took {
        Took {
            wall: self.wall.saturating_sub(earlier.wall),
            cpu: self.cpu.saturating_sub(earlier.cpu),
        }
    }
}
