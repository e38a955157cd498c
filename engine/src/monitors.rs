//! The monitors that settings request: `lock-order;-leak;target/debug/libmine.so:key=value`.
//!
//! A list edits the monitors that are on by default, from left to right. A name adds a monitor, or gives a default one
//! other arguments; `-NAME` removes one; `none` removes all, and `default` restores the defaults.

use crate::suggest::did_you_mean;
use std::fmt;

/// The word for no monitor.
const NONE: &str = "none";

/// The word for the monitors that are on by default.
pub const DEFAULT: &str = "default";

/// An entry of a list of monitors: a monitor to attach, or a change to those attached by default.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MonitorRequest {
    /// The name of a monitor that ships with intermezzo, or of a plugin; or a plugin's path. With `-` before it, the
    /// monitor with that name is removed. `none` removes all.
    pub name: String,
    /// Its arguments, which only the monitor understands; empty for none.
    pub arguments: String,
}

impl fmt::Display for MonitorRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.arguments.is_empty() {
            write!(f, ":{}", self.arguments)?;
        }
        Ok(())
    }
}

impl MonitorRequest {
    /// Returns the entry that removes every monitor before it in its list, and those on by default.
    fn none() -> MonitorRequest {
        MonitorRequest {
            name: NONE.into(),
            arguments: String::new(),
        }
    }

    /// Returns the name of the monitor that this entry removes, if it removes one.
    fn removed(&self) -> Option<&str> {
        self.name.strip_prefix('-').map(str::trim)
    }

    /// Applies a list to the monitors that are on by default. Returns those to attach, in order.
    ///
    /// # Errors
    /// If it removes a monitor that is not attached.
    pub fn resolve(
        list: &[MonitorRequest],
        default: Vec<MonitorRequest>,
    ) -> Result<Vec<MonitorRequest>, String> {
        let mut on = default;
        let mut given: Vec<MonitorRequest> = Vec::new();
        let mut changed: Vec<&str> = Vec::new();
        for entry in list {
            if entry.name == NONE {
                on.clear();
                given.clear();
            } else if let Some(name) = entry.removed() {
                let named = |wanted: &MonitorRequest| wanted.name == name;
                if !on.iter().any(named) && !given.iter().any(named) {
                    let names: Vec<&str> = on.iter().chain(&given).map(|on| &*on.name).collect();
                    let hint = did_you_mean(name, names.iter().copied());
                    return Err(format!(
                        "`-{name}` removes a monitor that is not attached: {hint}attached: {}",
                        if names.is_empty() {
                            NONE.into()
                        } else {
                            names.join(", ")
                        }
                    ));
                }
                on.retain(|wanted| !named(wanted));
                given.retain(|wanted| !named(wanted));
            } else if let Some(known) = on.iter_mut().find(|on| on.name == entry.name)
                && !changed.contains(&&*entry.name)
            {
                *known = entry.clone();
                changed.push(&entry.name);
            } else {
                given.push(entry.clone());
            }
        }
        on.append(&mut given);
        Ok(on)
    }

    /// Returns this list, followed by the monitors of the other list that it does not name. Removals in the other list
    /// are ignored.
    pub fn and_others(list: &[MonitorRequest], others: &[MonitorRequest]) -> Vec<MonitorRequest> {
        let is_new = |other: &&MonitorRequest| {
            let is_added = other.name != NONE && other.removed().is_none();
            is_added && !list.iter().any(|wanted| wanted.name == other.name)
        };
        let others = others.iter().filter(is_new);
        list.iter().chain(others).cloned().collect()
    }

    /// Parses a list separated by `;`. `none` and `default` revoke the entries before them.
    ///
    /// # Errors
    /// If a name is missing.
    pub fn parse(list: &str) -> Result<Vec<MonitorRequest>, String> {
        let mut all: Vec<MonitorRequest> = Vec::new();
        for one in list.split(';').map(str::trim).filter(|one| !one.is_empty()) {
            let (name, arguments) = split(one);
            if name.is_empty() {
                return Err(format!("`{one}`: there is no name before the colon"));
            }
            if one == DEFAULT {
                all.clear();
                continue;
            }
            if one == NONE {
                all = vec![MonitorRequest::none()];
                continue;
            }
            if one.starts_with('-') && (one.trim_start_matches('-').trim().is_empty() || one.contains(':')) {
                return Err(format!(
                    "`{one}`: to remove a monitor, give `-` and its name, and nothing else"
                ));
            }
            all.push(MonitorRequest {
                name: name.into(),
                arguments: arguments.into(),
            });
        }
        Ok(all)
    }

    /// Returns the text of a list.
    pub fn list(all: &[MonitorRequest]) -> String {
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        names.join(";")
    }
}

/// Splits an entry into name and arguments. The colon of a drive (`C:\monitors\mine.dll`) does not count.
fn split(one: &str) -> (&str, &str) {
    let bytes = one.as_bytes();
    let drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\';
    let from = if drive { 2 } else { 0 };
    match one[from..].find(':') {
        Some(colon) => (one[..from + colon].trim(), one[from + colon + 1..].trim()),
        None => (one, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A replay combines the schedule's monitors with those requested in addition.
    #[test]
    fn a_list_with_others() {
        let both = |list, others| {
            let read = |list| MonitorRequest::parse(list).unwrap();
            MonitorRequest::list(&MonitorRequest::and_others(&read(list), &read(others)))
        };
        for (list, others, all) in [
            ("none", "leak", "none;leak"),
            ("a;-leak", "-leak;a:x=1", "a;-leak"),
            ("a:x=1;b", "none;c;a", "a:x=1;b;c"),
        ] {
            assert_eq!(both(list, others), all);
        }
    }

    #[test]
    fn lists_are_read_and_shown() {
        let shown = |list| {
            let all = MonitorRequest::parse(list)?;
            Ok::<_, String>(all.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        for (list, all) in [
            ("", &[][..]),
            ("default", &[]),
            ("none", &["none"]),
            ("a;none;b;b", &["none", "b", "b"]),
            ("a;-b;default;-c", &["-c"]),
            (" a ; b:c=d , e=f:g; ", &["a", "b:c=d , e=f:g"]),
            ("C:\\mine.dll:x=1;./lib.so:", &["C:\\mine.dll:x=1", "./lib.so"]),
        ] {
            assert_eq!(shown(list).unwrap(), all, "{list}");
        }
        assert!(shown(":x=1").unwrap_err().contains("no name"));
    }
    #[test]
    fn lists_edit_the_defaults() {
        let resolved = |list| {
            let defaults = MonitorRequest::parse("race;leak:c=false;misuse").unwrap();
            let all = MonitorRequest::resolve(&MonitorRequest::parse(list).unwrap(), defaults)?;
            Ok::<_, String>(MonitorRequest::list(&all))
        };
        for (list, on) in [
            ("", "race;leak:c=false;misuse"),
            ("default", "race;leak:c=false;misuse"),
            ("none", ""),
            ("none;leak", "leak"),
            ("-leak", "race;misuse"),
            ("- leak ;mine:x=1", "race;misuse;mine:x=1"),
            ("leak:c=true", "race;leak:c=true;misuse"),
            ("mine;-mine", "race;leak:c=false;misuse"),
            ("none;default;mine", "race;leak:c=false;misuse;mine"),
        ] {
            assert_eq!(resolved(list).unwrap(), on, "{list}");
        }
        assert_eq!(
            resolved("-leaks").unwrap_err(),
            "`-leaks` removes a monitor that is not attached: did you mean `leak`? attached: race, leak, misuse"
        );
        assert!(resolved("none;-leak").unwrap_err().ends_with("attached: none"));
        assert!(MonitorRequest::parse("-leak:x=1").is_err());
        assert!(MonitorRequest::parse("-").is_err());
    }
}
