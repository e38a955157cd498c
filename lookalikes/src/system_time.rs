//! `std::time::SystemTime`, on the virtual clock inside an exploration.

use intermezzo_engine::runtime::{Engine, Site};
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::{Duration, SystemTimeError};

/// The beginning of 1970: `std::time::UNIX_EPOCH`.
pub const UNIX_EPOCH: SystemTime = SystemTime::UNIX_EPOCH;

/// The wall-clock time at which executions begin, after [`UNIX_EPOCH`]: the beginning of 2026.
pub(crate) const BEGINNING: Duration = Duration::from_secs(1_767_225_600);

/// A moment of the wall clock: `std::time::SystemTime`, which it can be converted from and to.
///
/// Inside an exploration every execution begins at the same moment, and the clock is the virtual one of
/// [`Instant`](crate::time::Instant).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemTime(std::time::SystemTime);

impl SystemTime {
    /// The beginning of 1970.
    pub const UNIX_EPOCH: SystemTime = SystemTime(std::time::UNIX_EPOCH);

    /// Returns the present moment.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::time::{SystemTime, UNIX_EPOCH};
    ///
    /// assert!(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() > 0);
    /// # Ok::<(), std::time::SystemTimeError>(())
    /// ```
    #[must_use]
    #[track_caller]
    pub fn now() -> SystemTime {
        SystemTime(match Engine::current() {
            Some(engine) => {
                std::time::UNIX_EPOCH + BEGINNING + Duration::from_nanos(engine.look_at_clock(Site::caller()))
            }
            None => std::time::SystemTime::now(),
        })
    }

    /// Returns the duration by which this moment is later.
    ///
    /// # Errors
    /// If it is earlier; the error contains the difference.
    pub fn duration_since(&self, earlier: SystemTime) -> Result<Duration, SystemTimeError> {
        self.0.duration_since(earlier.0)
    }

    /// Returns the time that has passed since this moment.
    ///
    /// # Errors
    /// If it is in the future; the error contains the difference.
    #[track_caller]
    pub fn elapsed(&self) -> Result<Duration, SystemTimeError> {
        SystemTime::now().duration_since(*self)
    }

    /// Returns the moment after this duration, if it can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_add(duration).map(SystemTime)
    }

    /// Returns the moment before this duration, if it can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<SystemTime> {
        self.0.checked_sub(duration).map(SystemTime)
    }
}

impl Add<Duration> for SystemTime {
    type Output = SystemTime;
    fn add(self, duration: Duration) -> SystemTime {
        SystemTime(self.0 + duration)
    }
}

impl AddAssign<Duration> for SystemTime {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for SystemTime {
    type Output = SystemTime;
    fn sub(self, duration: Duration) -> SystemTime {
        SystemTime(self.0 - duration)
    }
}

impl SubAssign<Duration> for SystemTime {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl From<std::time::SystemTime> for SystemTime {
    fn from(moment: std::time::SystemTime) -> SystemTime {
        SystemTime(moment)
    }
}

impl From<SystemTime> for std::time::SystemTime {
    fn from(moment: SystemTime) -> std::time::SystemTime {
        moment.0
    }
}
