//! The monitors that the settings name, found and made for each worker.

use super::{Plugin, PluginError};
use crate::listening::Listening;
use crate::settings::MonitorRequest;
use intermezzo_sdk::Monitor;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A function that makes the monitor of this name, with these arguments. It returns `None` if it knows no such monitor,
/// which is then looked for among plugins. The engine names no monitor, so a crate that has some provides this.
pub type ByName = fn(name: &str, arguments: &str) -> Option<Result<Box<dyn Monitor>, String>>;

/// Monitors that are no plugins, and the defaults among them.
#[derive(Clone, Copy)]
pub struct Brought {
    /// Makes one of them.
    pub by_name: ByName,
    /// Returns their names.
    pub names: fn() -> Vec<&'static str>,
    /// The default of the setting `monitors`.
    pub on: &'static str,
    /// The name of the monitor that finds data races.
    pub data_race: &'static str,
}

/// The monitors known to every explorer of this process.
static BROUGHT: OnceLock<Brought> = OnceLock::new();

/// Makes these monitors, and their defaults, known to every explorer of this process. The engine names no monitor: a
/// crate that combines the engine with monitors calls this once, before the first explorer is made.
pub fn bring(brought: Brought) {
    // Another call would bring the same.
    let _ = BROUGHT.set(brought);
}

/// Returns the name of the monitor that finds data races, if one was brought.
pub(crate) fn data_race() -> Option<&'static str> {
    BROUGHT.get().map(|brought| brought.data_race)
}

/// Monitors that are no plugins.
pub(crate) struct NamedMonitors {
    pub(crate) by_name: Option<ByName>,
    /// Their names.
    pub(crate) names: Vec<&'static str>,
    /// Those that are on by default.
    on: Vec<MonitorRequest>,
}

impl Default for NamedMonitors {
    /// Returns the monitors known to all explorers of the process.
    fn default() -> NamedMonitors {
        match BROUGHT.get() {
            Some(brought) => NamedMonitors {
                by_name: Some(brought.by_name),
                names: (brought.names)(),
                on: MonitorRequest::parse(brought.on).expect("what is brought is a list of monitors"),
            },
            None => NamedMonitors {
                by_name: None,
                names: Vec::new(),
                on: Vec::new(),
            },
        }
    }
}

/// A function that makes one more of a monitor.
type Make = Box<dyn Fn() -> Result<Box<dyn Monitor>, String> + Send + Sync>;

/// Returns the monitors that are on by default, as changed by this list, for this many workers. A default monitor is
/// left out if one of its name was attached in code.
///
/// # Errors
/// If a monitor cannot be found or created, or is listed twice.
pub(crate) fn attach(
    list: &[MonitorRequest],
    known: &NamedMonitors,
    by_hand: &[Listening],
    jobs: usize,
) -> Result<Vec<Listening>, String> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut all = Vec::new();
    let resolved = MonitorRequest::resolve(list, known.on.clone())?;
    if resolved.is_empty() {
        // No factory is called just to ask for its name.
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
        // They are made now, when an error can still be returned. A worker cannot return one.
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

/// Returns the monitor, and a function that makes more of it.
fn first(wanted: &MonitorRequest, known: &NamedMonitors) -> Result<(Box<dyn Monitor>, Make), String> {
    let MonitorRequest { name, arguments } = wanted.clone();
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
