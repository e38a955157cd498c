//! Monitors, for as many workers as there are.

use intermezzo_sdk::Monitor;
use std::sync::Arc;

/// A monitor, or how to make one.
pub(crate) enum Listening {
    /// One, which hears everything: there can be one worker only.
    One(Box<dyn Monitor>),
    /// One for each worker.
    Each(Make),
}

/// Makes a monitor, as often as it is wanted.
pub(crate) type Make = Arc<dyn Fn() -> Box<dyn Monitor> + Send + Sync>;

impl Listening {
    /// The monitor's name.
    pub(crate) fn name(&self) -> String {
        match self {
            Listening::One(monitor) => monitor.name().to_owned(),
            Listening::Each(make) => make().name().to_owned(),
        }
    }

    /// How to make one more, if that can be.
    pub(crate) fn make(&self) -> Option<Make> {
        match self {
            Listening::One(_) => None,
            Listening::Each(make) => Some(Arc::clone(make)),
        }
    }
}

/// The monitors of each of so many workers, in the order in which they were attached.
///
/// # Errors
/// There is a monitor that hears everything, and several workers; or what it heard would have to be kept.
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
                    "a monitor is attached that hears every execution, which several workers cannot tell it one after \
                            the other: attach it with `monitor_with`, which makes one for each worker, or give 1",
                );
            }
            Listening::One(_) if kept => {
                return Err(
                    "a monitor is attached, and what it knows is not in a checkpoint: attach it with `monitor_with` \
                            if it judges each execution by itself, or give `none`",
                );
            }
            Listening::One(monitor) => sets[0].push(monitor),
        }
    }
    Ok(sets)
}

/// The first monitor to which executions of one trace are not the same, by name.
pub(crate) fn telling_apart(sets: &[Vec<Box<dyn Monitor>>]) -> Option<String> {
    let mut monitors = sets.iter().flatten();
    let first = monitors.find(|monitor| !monitor.reduction_compatible());
    first.map(|monitor| monitor.name().to_owned())
}
