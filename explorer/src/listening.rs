//! The monitors of an exploration, one set for each worker.

use crate::settings::SettingError;
use intermezzo_sdk::Monitor;
use std::sync::Arc;

/// A monitor, or a factory of monitors.
pub(crate) enum Listening {
    /// A single monitor, which receives everything. It allows one worker only.
    One(Box<dyn Monitor>),
    /// A factory that makes one for each worker.
    Each(Make),
}

/// A function that makes a monitor, as often as needed.
pub(crate) type Make = Arc<dyn Fn() -> Box<dyn Monitor> + Send + Sync>;

impl Listening {
    /// Returns the monitor's name.
    pub(crate) fn name(&self) -> String {
        match self {
            Listening::One(monitor) => monitor.name().to_owned(),
            Listening::Each(make) => make().name().to_owned(),
        }
    }

    /// Returns a factory for more of them, if there is one.
    pub(crate) fn make(&self) -> Option<Make> {
        match self {
            Listening::One(_) => None,
            Listening::Each(make) => Some(Arc::clone(make)),
        }
    }
}

/// Returns the monitors of each of `jobs` workers, in the order in which they were attached.
///
/// # Errors
/// If a single monitor receives everything, and there are several workers, or a checkpoint that would have to contain
/// its state.
pub(crate) fn monitors(
    listening: Vec<Listening>,
    jobs: usize,
    kept: bool,
) -> Result<Vec<Vec<Box<dyn Monitor>>>, &'static str> {
    let mut sets: Vec<Vec<Box<dyn Monitor>>> = (0..jobs).map(|_| Vec::new()).collect();
    for listening in listening {
        match listening {
            Listening::Each(make) => sets.iter_mut().for_each(|set| set.push(make())),
            Listening::One(_) if jobs > 1 => {
                return Err(
                    "an attached monitor receives every execution in turn, which is not possible with several workers: \
                            attach it with `monitor_with`, which makes one for each worker, or give 1",
                );
            }
            Listening::One(_) if kept => {
                return Err(
                    "the state of an attached monitor is not in a checkpoint: attach it with `monitor_with` \
                            if it judges each execution by itself, or give `none`",
                );
            }
            Listening::One(monitor) => sets[0].push(monitor),
        }
    }
    Ok(sets)
}

/// Returns the name of the first monitor that distinguishes executions of one trace.
pub(crate) fn telling_apart(sets: &[Vec<Box<dyn Monitor>>]) -> Option<String> {
    let mut monitors = sets.iter().flatten();
    let first = monitors.find(|monitor| !monitor.reduction_compatible());
    first.map(|monitor| monitor.name().to_owned())
}

/// Returns `true` if all monitors can judge executions in which atomics read stale values.
pub(crate) fn follow_stale_reads(monitors: &[Listening]) -> bool {
    monitors.iter().all(|listening| match listening {
        Listening::One(monitor) => monitor.follows_stale_reads(),
        Listening::Each(make) => make().follows_stale_reads(),
    })
}

/// Checks that the monitors can judge executions in which atomics read stale values.
///
/// # Errors
/// If one cannot.
pub(crate) fn check_stale_reads(sets: &[Vec<Box<dyn Monitor>>]) -> Result<(), SettingError> {
    match sets
        .iter()
        .flatten()
        .find(|monitor| !monitor.follows_stale_reads())
    {
        None => Ok(()),
        Some(monitor) => {
            let name = monitor.name();
            let problem = format!(
                "the monitor `{name}` needs every load to read the last store: give `-{name}`, or leave out `stale_reads` of the \
                 `environment`"
            );
            Err(SettingError::new("monitors", problem))
        }
    }
}
