//! The origin of a finding, and the names of severities.

#[cfg(feature = "files")]
use intermezzo_engine::serial::{Deserialize, Serialize};
use intermezzo_sdk::Severity;
use std::fmt;

/// Returns the severity's name in reports.
pub(crate) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Returns the severity with this name in reports; `None` if there is none.
pub(crate) fn severity_from_name(name: &str) -> Option<Severity> {
    [Severity::Warning, Severity::Error]
        .into_iter()
        .find(|&severity| severity_name(severity) == name)
}

/// The origin of a finding: the engine, or a monitor.
///
/// ```
/// # use intermezzo_explorer as intermezzo;
/// use intermezzo::{Explorer, FoundBy};
///
/// let report = Explorer::new().explore(|| panic!("boom"));
/// assert_eq!(report.findings()[0].monitor, FoundBy::Engine);
/// assert_eq!(report.findings()[0].monitor, "engine");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoundBy {
    /// The engine, which needs no monitor for it.
    Engine,
    /// The monitor of this name.
    Monitor(String),
}

impl FoundBy {
    /// Returns the name in reports: the monitor's, or `engine`.
    pub fn as_str(&self) -> &str {
        match self {
            FoundBy::Engine => "engine",
            FoundBy::Monitor(name) => name,
        }
    }
}

impl fmt::Display for FoundBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<str> for FoundBy {
    fn eq(&self, name: &str) -> bool {
        self.as_str() == name
    }
}

impl PartialEq<&str> for FoundBy {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}

#[cfg(feature = "files")]
impl Serialize for FoundBy {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "files")]
impl<'de> Deserialize<'de> for FoundBy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<FoundBy, D::Error> {
        let name = String::deserialize(deserializer)?;
        Ok(match name.as_str() {
            "engine" => FoundBy::Engine,
            _ => FoundBy::Monitor(name),
        })
    }
}
