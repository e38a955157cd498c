//! Monitors that settings name, found and made: one for each worker.

use super::{Plugin, PluginError};
use crate::driver::Listening;
use crate::settings::Wanted;
use intermezzo_sdk::Monitor;
use std::sync::{Arc, Mutex, PoisonError};

/// Makes the monitor of that name, with these arguments; `None` if there is none: then it is looked for among plugins.
/// The engine names no monitor, so whoever has some brings this.
pub type ByName = fn(name: &str, arguments: &str) -> Option<Result<Box<dyn Monitor>, String>>;

/// Monitors that are no plugins.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) by_name: Option<ByName>,
    /// What they are called.
    pub(crate) names: Vec<&'static str>,
}

/// How to make one more of a monitor.
type Make = Box<dyn Fn() -> Result<Box<dyn Monitor>, String> + Send + Sync>;

/// The monitors wanted, for so many workers.
///
/// # Errors
/// One cannot be found or made, or is another's double.
pub(crate) fn attach(wanted: &[Wanted], known: &Known, jobs: usize) -> Result<Vec<Listening>, String> {
    let mut names: Vec<(String, String)> = Vec::new();
    let mut all = Vec::new();
    for wanted in wanted {
        let (first, make) = first(wanted, known)?;
        let name = first.name().to_owned();
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
