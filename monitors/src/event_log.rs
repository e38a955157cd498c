//! A log with a line for each event. Read this monitor first.
//!
//! It receives every event, so it has an example of each callback of the contract. Lines go to the given writer. The
//! columns are the callback, the event, its task, the operation, its object, values, and the source place.
//!
//! ```text
//! execution 1
//! point  0.2    main      store                   atomic 0.1                          src/a.rs:3:11
//! access 0.2    main      store (Release)         atomic 0.1        read 0, written 1 src/a.rs:3:11
//! ```
//!
//! **Differs** from the other monitors: it has no verdict. If the writer fails, it says so once, as a warning, and
//! writes no more.
//!
//! **Reduction compatible**: it has no verdict. It writes about the executions that are run.

use crate::arguments::{self, Argument, SWITCH, switch};
use intermezzo_sdk::{
    Allocation, Context, DataVarAccess, EventAttribute, EventId, Execution, FindingKind, Interests,
    MemoryOrder, Monitor, MonitorFinding, Release, SchedulePoint, SiteId, SyncVar, SyncVarAccess, UserEvent,
};
use std::io::{self, Write};

const NAME: &str = "event-log";

/// The beginning of each log.
pub(crate) const BEGINNING: &str = "execution ";

/// Writes every event to a writer. See the [module](self).
#[derive(Debug)]
pub struct EventLog<W: Write> {
    writer: W,
    /// `true` if schedule points are written too. They add nothing to the accesses that follow them.
    points: bool,
    /// `true` if accesses to plain memory are written.
    data: bool,
    /// The error of a failed write.
    error: Option<io::Error>,
    /// `true` if the error was reported.
    told: bool,
}

/// The columns of a line.
struct Line<'a> {
    about: &'a str,
    event: EventId,
    what: String,
    to: String,
    values: String,
    site: Option<SiteId>,
}

impl<W: Write> EventLog<W> {
    /// Creates a log that writes everything to this writer.
    pub fn new(writer: W) -> EventLog<W> {
        EventLog {
            writer,
            points: true,
            data: true,
            error: None,
            told: false,
        }
    }

    /// Creates a log with arguments: `points=false` leaves out schedule points, `data=false` accesses to plain
    /// memory.
    ///
    /// # Errors
    /// If there is no such argument, or it cannot have that value.
    pub fn with_arguments(writer: W, arguments: &str) -> Result<EventLog<W>, String> {
        let known = [
            Argument {
                name: "points",
                values: SWITCH,
                set: |to: &mut EventLog<W>, value| switch(&mut to.points, value),
            },
            Argument {
                name: "data",
                values: SWITCH,
                set: |to: &mut EventLog<W>, value| switch(&mut to.data, value),
            },
        ];
        arguments::with(EventLog::new(writer), NAME, &known, arguments)
    }

    fn write(&mut self, text: &str) {
        if self.error.is_none() {
            self.error = self.writer.write_all(text.as_bytes()).err();
        }
    }

    fn line(&mut self, line: Line<'_>, cx: &Context<'_>) {
        let text = format!(
            "{:10} {:6} {:10} {:24} {:20} {:24} {}",
            line.about,
            line.event.to_string(),
            cx.task_name(line.event.task),
            line.what,
            line.to,
            line.values,
            line.site.map(|site| cx.site_name(site)).unwrap_or_default(),
        );
        self.write(text.trim_end());
        self.write("\n");
    }
}

fn var(var: SyncVar, cx: &Context<'_>) -> String {
    match var {
        SyncVar::NONE => String::new(),
        var => cx.var_name(var),
    }
}

impl<W: Write + Send> Monitor for EventLog<W> {
    fn name(&self) -> &str {
        NAME
    }

    fn interests(&self) -> Interests {
        let mut interests = Interests::SYNC_ACCESSES
            | Interests::USER_EVENTS
            | Interests::ATTRIBUTES
            | Interests::ALLOCATIONS;
        if self.points {
            interests = interests | Interests::SCHEDULE_POINTS;
        }
        if self.data {
            interests = interests | Interests::DATA_ACCESSES;
        }
        interests
    }

    fn reduction_compatible(&self) -> bool {
        true
    }

    fn follows_stale_reads(&self) -> bool {
        true
    }

    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        self.write(&format!("{BEGINNING}{}\n", execution.number));
    }

    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        let line = Line {
            about: "point",
            event: next.event,
            what: next.op.name().into(),
            to: var(next.var, cx),
            values: String::new(),
            site: Some(next.site),
        };
        self.line(line, cx);
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        self.on_aggregate_sync_var_access(access, &[access.var], cx);
    }

    fn on_aggregate_sync_var_access(
        &mut self,
        access: &SyncVarAccess,
        vars: &[SyncVar],
        cx: &mut Context<'_>,
    ) {
        let names: Vec<String> = vars.iter().map(|&each| var(each, cx)).collect();
        let line = Line {
            about: "access",
            event: access.event,
            what: match access.order {
                MemoryOrder::None => access.op.name().into(),
                order => format!("{} ({order:?})", access.op.name()),
            },
            to: names.join(", "),
            values: format!("read {}, written {}", access.read, access.written),
            site: Some(access.site),
        };
        self.line(line, cx);
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        let line = Line {
            about: "data",
            event: access.after,
            what: access.name().into(),
            to: cx.location_name(access.location),
            values: format!("bytes {}, from {}", access.size, access.offset),
            site: Some(access.site),
        };
        self.line(line, cx);
    }

    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        let line = Line {
            about: "allocation",
            event: allocation.after,
            what: format!("{:?}", allocation.kind).to_lowercase(),
            to: cx.location_name(allocation.location),
            values: format!("bytes {}", allocation.size),
            site: Some(allocation.site),
        };
        self.line(line, cx);
    }

    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        let line = Line {
            about: "release",
            event: release.after,
            what: String::new(),
            to: cx.location_name(release.location),
            values: String::new(),
            site: Some(release.site),
        };
        self.line(line, cx);
    }

    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {
        let line = Line {
            about: "attribute",
            event: attribute.event,
            what: attribute.name.into(),
            to: attribute.value.into(),
            values: String::new(),
            site: None,
        };
        self.line(line, cx);
    }

    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {
        let line = Line {
            about: "said",
            event: event.after,
            what: event.text.into(),
            to: String::new(),
            values: String::new(),
            site: None,
        };
        self.line(line, cx);
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let how = if execution.complete {
            "complete"
        } else {
            "cut short"
        };
        self.write(&format!("end after {} events, {how}\n", execution.accesses.len()));
        self.tell_error(cx);
    }

    fn on_shutdown(&mut self, cx: &mut Context<'_>) {
        self.write("shutdown\n");
        if self.error.is_none() {
            self.error = self.writer.flush().err();
        }
        self.tell_error(cx);
    }
}

impl<W: Write> EventLog<W> {
    fn tell_error(&mut self, cx: &mut Context<'_>) {
        if let Some(error) = &self.error
            && !self.told
        {
            let message = format!("the log of events is not complete: {error}");
            cx.report(MonitorFinding::new(FindingKind::Plugin(NAME.into()), message).warning());
            self.told = true;
        }
    }
}
