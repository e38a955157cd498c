//! Monitors that settings name, found and made: one for each worker.

use super::{Plugin, PluginError};
use crate::listening::Listening;
use crate::settings::Wanted;
use intermezzo_sdk::Monitor;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Makes the monitor of that name, with these arguments; `None` if there is none: then it is looked for among plugins.
/// The engine names no monitor, so whoever has some brings this.
pub type ByName = fn(name: &str, arguments: &str) -> Option<Result<Box<dyn Monitor>, String>>;

/// Monitors that are no plugins, and those of them that are on where nothing is set.
#[derive(Clone, Copy)]
pub struct Brought {
    /// Makes one of them.
    pub by_name: ByName,
    /// Returns their names.
    pub names: fn() -> Vec<&'static str>,
    /// The list of monitors, as the setting `monitors` has it, that is on where nothing is set.
    pub on: &'static str,
    /// The name of the one that finds data races.
    pub data_race: &'static str,
}

/// What every explorer of this process has, once brought.
static BROUGHT: OnceLock<Brought> = OnceLock::new();

/// Gives every explorer of this process these monitors by name, and its defaults. The engine names no monitor: a crate
/// that composes the engine with monitors calls this, once, before the first explorer is made.
pub fn bring(brought: Brought) {
    // Another call would bring what is there already.
    let _ = BROUGHT.set(brought);
}

/// The name of the monitor that finds data races, if one was brought.
pub(crate) fn data_race() -> Option<&'static str> {
    BROUGHT.get().map(|brought| brought.data_race)
}

/// Monitors that are no plugins.
pub(crate) struct Known {
    pub(crate) by_name: Option<ByName>,
    /// What they are called.
    pub(crate) names: Vec<&'static str>,
    /// Which of them are on where nothing is set.
    on: Vec<Wanted>,
}

impl Known {
    /// Those that were brought for all explorers of the process.
    pub(crate) fn brought() -> Known {
        match BROUGHT.get() {
            Some(brought) => Known {
                by_name: Some(brought.by_name),
                names: (brought.names)(),
                on: Wanted::parse(brought.on).expect("what is brought is a list of monitors"),
            },
            None => Known {
                by_name: None,
                names: Vec::new(),
                on: Vec::new(),
            },
        }
    }
}

/// How to make one more of a monitor.
type Make = Box<dyn Fn() -> Result<Box<dyn Monitor>, String> + Send + Sync>;

/// The monitors on by default as this list changes them, for so many workers. A default one is left out where a monitor
/// of its name is attached by hand.
///
/// # Errors
/// One cannot be found or made, or is another's double.
pub(crate) fn attach(
    list: &[Wanted],
    known: &Known,
    by_hand: &[Listening],
    jobs: usize,
) -> Result<Vec<Listening>, String> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut all = Vec::new();
    let resolved = Wanted::resolve(list, known.on.clone())?;
    if resolved.is_empty() {
        // Nobody's factory is called to ask for a name.
        return Ok(all);
    }
    let by_hand: Vec<String> = by_hand.iter().map(Listening::name).collect();
    for wanted in &resolved {
        let (first, make) = first(wanted, known)?;
        let name = first.name().to_owned();
        if by_hand.contains(&name) && !list.contains(wanted) {
            continue;
        }
        if let Some((_, other)) = names.iter().find(|(known, _)| *known == name) {
            return Err(format!(
                "`{other}` and `{wanted}` are the same monitor, `{name}`: give one of them"
            ));
        }
        names.push((name, wanted.to_string()));
        // Now, where it can be refused; a worker cannot refuse it.
        let mut made = vec![first];
        for _ in 1..jobs {
            made.push(make()?);
        }
        let made = Mutex::new(made);
        all.push(Listening::Each(Arc::new(move || {
            let ready = made.lock().unwrap_or_else(PoisonError::into_inner).pop();
            ready.unwrap_or_else(|| make().unwrap_or_else(|problem| panic!("{problem}")))
        })));
    }
    Ok(all)
}

/// The monitor, and how to make more of it.
fn first(wanted: &Wanted, known: &Known) -> Result<(Box<dyn Monitor>, Make), String> {
    let Wanted { name, arguments } = wanted.clone();
    if let Some(by_name) = known.by_name
        && let Some(made) = by_name(&name, &arguments)
    {
        let make = move || by_name(&name, &arguments).unwrap_or_else(|| Err(format!("`{name}` is gone")));
        return Ok((made?, Box::new(make)));
    }
    let text = |error: PluginError| error.to_string();
    let path = Plugin::find_beside(&name, &known.names).map_err(text)?;
    let plugin = Plugin::load_with(path, &arguments).map_err(text)?;
    let again = Mutex::new(plugin.another().map_err(text)?);
    let make = move || {
        let plugin = again.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Box::new(plugin.another().map_err(text)?) as Box<dyn Monitor>)
    };
    Ok((Box::new(plugin), Box::new(make)))
}
