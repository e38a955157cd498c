//! A monitor that records all its calls, in words.

use intermezzo_explorer::Explorer;
use intermezzo_sdk::{
    Allocation, Context, DataVarAccess, EventAttribute, Execution, Interests, Monitor, Release, SyncVar,
    SyncVarAccess, SyncVarOp,
};
use std::sync::{Arc, Mutex};

/// The lines of each execution.
pub(crate) type Noted = Arc<Mutex<Vec<Vec<String>>>>;

/// A monitor that records all calls for these interests.
pub(crate) struct Recorder {
    noted: Noted,
    interests: Interests,
}

impl Recorder {
    /// Makes a recorder, and the list that it fills.
    pub(crate) fn new(interests: Interests) -> (Recorder, Noted) {
        let noted = Noted::default();
        let recorder = Recorder {
            noted: noted.clone(),
            interests,
        };
        (recorder, noted)
    }

    fn note(&self, line: String) {
        self.noted
            .lock()
            .unwrap()
            .last_mut()
            .expect("an execution has begun")
            .push(line);
    }
}

/// Returns the line number of a source place.
fn line(site: &str) -> &str {
    site.rsplit(':').nth(1).unwrap_or(site)
}

impl Monitor for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }
    fn interests(&self) -> Interests {
        self.interests
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_execution_begin(&mut self, _: &Execution<'_>) {
        self.noted.lock().unwrap().push(Vec::new());
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        let SyncVarAccess {
            event,
            op,
            read,
            written,
            ..
        } = *access;
        let var = cx.var_name(access.var);
        let second = match access.other_var() {
            SyncVar::NONE => String::new(),
            other => format!(" and {}", cx.var_name(other)),
        };
        // A variable's number means nothing to a reader.
        let written = if op == SyncVarOp::CondvarWait { 0 } else { written };
        self.note(format!("{event} {op} {var}{second} {read} {written}"));
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let end = access.offset + access.size;
        let what = if access.is_write { "writes" } else { "reads" };
        let own = match access.var {
            SyncVar::NONE => String::new(),
            var => format!(" of {}", cx.var_name(var)),
        };
        self.note(format!(
            "{} {what} {} {}..{end}{own}",
            access.after,
            cx.location_name(access.location),
            access.offset
        ));
    }
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        let counts = cx.var_name(allocation.var);
        let counts = if counts.is_empty() {
            counts
        } else {
            format!(" with {counts}")
        };
        self.note(format!(
            "{} gets {}, {} bytes{counts}",
            allocation.after,
            cx.location_name(allocation.location),
            allocation.size
        ));
    }
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        assert!(line(&cx.site_name(release.site)).parse::<u32>().is_ok());
        let location = cx.location_name(release.location);
        self.note(format!("{} gives {location} back", release.after));
    }
    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, _: &mut Context<'_>) {
        let EventAttribute { event, name, value } = attribute;
        self.note(format!("{event} {name}={value}"));
    }
}

/// Returns the lines that a recorder with these interests writes for each execution.
pub(crate) fn recorded(
    explorer: Explorer,
    interests: Interests,
    test: impl Fn() + Send + Sync,
) -> Vec<Vec<String>> {
    let (recorder, noted) = Recorder::new(interests);
    let report = explorer.monitor(recorder).minimise(0).explore(test);
    assert!(report.verdict().is_pass(), "{report}");
    std::mem::take(&mut *noted.lock().unwrap())
}

/// Returns the lines of all executions that contain this word, each once, in order of appearance.
pub(crate) fn lines_with(recorded: &[Vec<String>], word: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in recorded.iter().flatten().filter(|line| line.contains(word)) {
        if !lines.contains(line) {
            lines.push(line.clone());
        }
    }
    lines
}
