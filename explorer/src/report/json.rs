//! The JSON form of reports, and of their findings.

use super::{Finding, FindingDetail, Report, listed, severity_name, write_beside};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::path::Path;
use std::time::Duration;

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind.as_str())?;
        map.serialize_entry("severity", severity_name(self.severity))?;
        map.serialize_entry("monitor", &self.monitor)?;
        map.serialize_entry("message", &self.message)?;
        if let Some(suggestion) = &self.suggestion {
            map.serialize_entry("suggestion", suggestion)?;
        }
        let stale = self.stale_operations();
        if !stale.is_empty() {
            map.serialize_entry("stale_operations", &stale)?;
        }
        map.serialize_entry("tasks", &self.tasks)?;
        let listed = listed::of(self);
        map.serialize_entry("events", &listed)?;
        if listed.len() < self.events.len() {
            map.serialize_entry("events_left_out", &(self.events.len() - listed.len()))?;
        }
        map.serialize_entry("schedule", &self.schedule.token())?;
        map.serialize_entry("count", &self.count)?;
        if let Some(strategy) = &self.found_by {
            map.serialize_entry("found_by", strategy)?;
        }
        if let Some(replays) = &self.replays {
            map.serialize_entry("replays", replays)?;
        }
        if !self.places.is_empty() {
            map.serialize_entry("places", &self.places)?;
        }
        if !self.deeds.is_empty() {
            map.serialize_entry("deeds", &self.deeds)?;
        }
        let names = listed::names(self, &listed);
        if !names.is_empty() {
            map.serialize_entry("names", &names)?;
        }
        if !self.functions.is_empty() {
            map.serialize_entry("functions", &self.functions)?;
        }
        match &self.detail {
            FindingDetail::Panic { panics, .. } => {
                if let Some(place) = panics.first().and_then(|panic| panic.place.as_ref()) {
                    map.serialize_entry("place", place)?;
                }
            }
            FindingDetail::Blocked { waiting, .. } => map.serialize_entry("waiting", waiting)?,
            _ => {}
        }
        map.serialize_entry("detail", &self.detail)?;
        map.end()
    }
}

/// Writes a time as a number of seconds.
pub(super) fn seconds<S: Serializer>(elapsed: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(elapsed.as_secs_f64())
}

impl Report {
    /// Writes the report's JSON form into a directory, to a new file named after the program. Existing files are not
    /// overwritten. If the file cannot be written, it is missing: the reader of the directory has to notice that.
    pub fn write_into(&self, directory: &Path) {
        write_beside(directory, &self.program, &self.to_json());
    }

    /// Returns the report as one JSON object, ended by a line break.
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::Explorer;
    ///
    /// let json = Explorer::new().explore(|| {}).to_json();
    /// assert!(json.contains("\"verdict\": \"pass\""));
    /// ```
    pub fn to_json(&self) -> String {
        let mut text = intermezzo_engine::serial::to_string_pretty(self)
            .expect("a report has no map with other keys than text");
        text.push('\n');
        text
    }
}
