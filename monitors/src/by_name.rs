//! The monitors by their names, for settings and command lines.

#[cfg(feature = "all")]
use crate::{Atomicity, Contention, HappensBeforeCounter, LockOrder, StaleLoads, Statistics, event_log};
use crate::{DataRaces, Leaks, Misuses};
use intermezzo_sdk::Monitor;

/// A monitor that ships with intermezzo.
#[derive(Clone, Copy, Debug)]
pub struct Shipped {
    /// Its name, in settings and in reports.
    pub name: &'static str,
    /// The problems that it looks for.
    pub about: &'static str,
    make: fn(&str) -> Result<Box<dyn Monitor>, String>,
}

/// Makes it a function of one type.
fn boxed<M: Monitor + 'static>(made: Result<M, String>) -> Result<Box<dyn Monitor>, String> {
    made.map(|monitor| Box::new(monitor) as Box<dyn Monitor>)
}

/// Refuses a monitor that was left out of this build.
#[cfg(not(feature = "all"))]
fn off(name: &str) -> Result<Box<dyn Monitor>, String> {
    Err(format!(
        "{name}: this build of intermezzo is without this monitor: enable its feature `all-monitors`"
    ))
}

/// Returns the function that makes a monitor, which is `always` in a build, or with the feature `all` only.
macro_rules! made_by {
    ($name:literal, always, $make:expr) => {
        |arguments| boxed($make(arguments))
    };
    ($name:literal, all, $make:expr) => {{
        #[cfg(feature = "all")]
        let make = |arguments: &str| boxed($make(arguments));
        #[cfg(not(feature = "all"))]
        let make = |_: &str| off($name);
        make
    }};
}

/// Returns the monitors with these names: their purposes, and when and by which function each is made.
macro_rules! shipped {
    ($($name:literal: $about:literal, $when:ident $make:expr;)*) => {
        &[$(Shipped {
            name: $name,
            about: $about,
            make: made_by!($name, $when, $make),
        }),*]
    };
}

/// Every monitor that ships with intermezzo, by name.
pub const SHIPPED: &[Shipped] = shipped! {
    "atomicity": "blocks meant to be atomic that are not", all Atomicity::with_arguments;
    "contention": "pairs of places whose operations could come in either order", all Contention::with_arguments;
    "data-race": "two accesses to memory, one of them a write, that nothing orders", always DataRaces::with_arguments;
    "event-log": "every event, in a line each, to file=PATH", all event_log;
    "happens-before-counter": "how many different traces the executions have", all HappensBeforeCounter::with_arguments;
    "leak": "memory and tasks that are never released", always Leaks::with_arguments;
    "lock-order": "cycles in the order in which locks are taken", all LockOrder::with_arguments;
    "misuse": "wrong uses of locks, condition variables, channels and memory", always Misuses::with_arguments;
    "stale-load": "loads that could return an older value because of store buffers", all StaleLoads::with_arguments;
    "statistics": "executions, tasks, steps, switches and operations, counted", all Statistics::with_arguments;
};

/// Returns the name of every monitor that ships with intermezzo, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.name)
}

/// Returns the monitor of that name, with these arguments; `None` if none that ships with intermezzo has the name.
///
/// The inner result is an error, in the monitor's words, if the arguments are invalid.
pub fn by_name(name: &str, arguments: &str) -> Option<Result<Box<dyn Monitor>, String>> {
    let shipped = SHIPPED.iter().find(|shipped| shipped.name == name)?;
    Some((shipped.make)(arguments))
}

#[cfg(all(test, feature = "all"))]
mod tests {
    use super::*;
    use intermezzo_sdk::abi::rehearsal;

    #[test]
    fn each_is_called_as_it_calls_itself() {
        for shipped in SHIPPED {
            let arguments = if shipped.name == "event-log" {
                "file=/dev/null"
            } else {
                ""
            };
            let mut monitor = by_name(shipped.name, arguments).unwrap().unwrap();
            assert_eq!(monitor.name(), shipped.name);
            rehearsal().play(&mut *monitor);
            let Err(refused) = by_name(shipped.name, "no-such=argument").unwrap() else {
                panic!("{} takes what it does not know", shipped.name);
            };
            assert!(refused.starts_with(&format!("{}: ", shipped.name)), "{refused}");
        }
        assert!(by_name("no-such", "").is_none());
        assert!(names().is_sorted());
    }
}

#[cfg(all(test, not(feature = "all")))]
mod light_tests {
    use super::*;

    #[test]
    fn what_was_left_out_says_so() {
        let made = |name: &str| {
            by_name(name, "")
                .unwrap()
                .map(|monitor| monitor.name().to_owned())
        };
        for on in ["data-race", "leak", "misuse"] {
            assert_eq!(made(on).unwrap(), on);
        }
        let refused = made("lock-order").unwrap_err();
        assert!(
            refused.ends_with("enable its feature `all-monitors`"),
            "{refused}"
        );
    }
}
