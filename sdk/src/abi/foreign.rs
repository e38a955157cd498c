//! The engine's handle on the monitor of a plugin.

use super::call::{Line, host};
use super::data::{Allocated, Attribute, DataAccess, ExecutionInfo, Point, Released, Said, SyncAccess, Text};
use super::table::{
    ARGUMENTS_BYTES_MAX, Call, Entry, MESSAGE_BYTES, MonitorTable, NAME_BYTES_MAX, OK, TABLE_BYTES,
};
use crate::{
    Allocation, Context, DataVarAccess, EventAttribute, Execution, Interests, Monitor, Release,
    SchedulePoint, SyncVar, SyncVarAccess, UserEvent,
};
use std::ffi::{c_char, c_void};
use std::fmt;
use std::mem::offset_of;

/// The reason why an entry created no monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The monitor could not be created, with the plugin's own message.
    Failed(String),
    /// The plugin's table is of another version of the contract than its entry.
    Version {
        /// The version of the table.
        found: u32,
        /// The version of the entry.
        entry: u32,
    },
    /// The plugin's table has this many bytes, and not those of its version.
    Size {
        /// The bytes of the table.
        found: u32,
        /// The version of the entry, and of the table.
        version: u32,
    },
    /// The table contains an impossible value.
    Impossible(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Failed(message) => write!(f, "the monitor could not be made: {message}"),
            Refusal::Version { found, entry } => {
                let age = if found > entry { "newer" } else { "older" };
                write!(
                    f,
                    "the plugin's table is of version {found} of the contract, which is {age} than version {entry} of its \
                     entry: build it against the intermezzo-sdk, or the intermezzo.h, of the intermezzo that loads it"
                )
            }
            Refusal::Size { found, version } => write!(
                f,
                "the plugin's table has {found} bytes, where version {version} of the contract has {}: set `size` to \
                 `sizeof(IntermezzoMonitorTable)`, and build against an unchanged intermezzo.h for this machine",
                size_of_table(*version)
            ),
            Refusal::Impossible(problem) => write!(f, "{problem}: fix the plugin"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A monitor that an [`Entry`] created.
pub struct Foreign {
    table: MonitorTable,
    name: String,
    plugin_version: Option<String>,
    interests: Interests,
    /// Boxed: the plugin knows its address.
    line: Box<Line>,
}

// SAFETY: the contract says that a monitor's functions may be called from different threads in turn. `Foreign` is not
// `Sync`, so they are not called at the same time.
unsafe impl Send for Foreign {}

/// Returns the bytes of a monitor's table in a version that is loaded.
fn size_of_table(version: u32) -> usize {
    match version {
        ..7 => offset_of!(MonitorTable, follows_stale_reads),
        _ => size_of::<MonitorTable>(),
    }
}

/// Room for the table of any version.
#[repr(C, align(16))]
struct Room([u8; TABLE_BYTES]);

impl Foreign {
    /// Creates a monitor with these arguments, by an entry of this version of the contract.
    ///
    /// # Errors
    /// If the entry creates no monitor, or one that does not keep the contract.
    ///
    /// # Panics
    /// If [`ENTRIES`](super::ENTRIES) does not have the version.
    ///
    /// # Safety
    /// The plugin of the entry must keep the contract where that cannot be checked here. Its code must stay loaded as long
    /// as the monitor lives.
    pub unsafe fn make(entry: Entry, version: u32, arguments: &str) -> Result<Foreign, Refusal> {
        let host = host(version).expect("a version that is loaded");
        if arguments.len() > ARGUMENTS_BYTES_MAX {
            let problem = format!(
                "arguments of {} bytes: give at most {ARGUMENTS_BYTES_MAX}",
                arguments.len()
            );
            return Err(Refusal::Failed(problem));
        }
        let mut room = Room([0; TABLE_BYTES]);
        let mut message = [0u8; MESSAGE_BYTES];
        // SAFETY: table and room are as the contract says, and the caller guarantees that the plugin keeps to it.
        let answer = unsafe {
            let table = (&raw mut room).cast::<MonitorTable>();
            let capacity = message.len();
            entry(
                host,
                Text::new(arguments),
                table,
                message.as_mut_ptr().cast::<c_char>(),
                capacity,
            )
        };
        if answer != OK {
            return Err(Refusal::Failed(words(&message)));
        }
        let number = |at: usize| u32::from_ne_bytes(room.0[at..at + 4].try_into().expect("four bytes"));
        match (number(0), number(4)) {
            (_, found) if found != version => {
                return Err(Refusal::Version {
                    found,
                    entry: version,
                });
            }
            (found, _) if found as usize != size_of_table(version) => {
                return Err(Refusal::Size { found, version });
            }
            _ => {}
        }
        // SAFETY: the room is large enough and aligned, and every bit pattern is a table: integers, pointers, and
        // functions that may be null. The fields that an older version does not have are 0, as the room was.
        let table = unsafe { (&raw const room).cast::<MonitorTable>().read() };
        match Foreign::check(&table) {
            Ok((name, plugin_version, interests)) => Ok(Foreign {
                table,
                line: Box::new(Line::new(&name)),
                name,
                plugin_version,
                interests,
            }),
            Err(problem) => {
                // There is a monitor, even though it is unusable.
                destroy(&table);
                Err(Refusal::Impossible(problem))
            }
        }
    }

    /// Returns the name, the version and the interests, if they are valid.
    fn check(table: &MonitorTable) -> Result<(String, Option<String>, Interests), String> {
        let text = |text: Text, what: &str| {
            // SAFETY: the contract says that it is there for as long as the monitor is.
            let text = unsafe { text.read(NAME_BYTES_MAX) };
            match text.map_err(|problem| format!("the {what} in the plugin's table is {problem}"))? {
                Some(text) if text.is_empty() || text.contains(char::is_control) => Err(format!(
                    "the {what} in the plugin's table is empty, or has control characters: {text:?}"
                )),
                text => Ok(text.map(str::to_owned)),
            }
        };
        let name = text(table.name, "name")?.ok_or("the name in the plugin's table is a null pointer")?;
        let plugin_version = text(table.plugin_version, "plugin's version")?;
        let interests = Interests::from_bits(table.interests).ok_or_else(|| {
            format!(
                "the interests in the plugin's table, {:#x}, have unknown bits",
                table.interests
            )
        })?;
        for (field, found) in [
            ("reduction_compatible", table.reduction_compatible),
            ("follows_stale_reads", table.follows_stale_reads),
        ] {
            if found > 1 {
                return Err(format!(
                    "`{field}` in the plugin's table is {found}, neither 0 nor 1"
                ));
            }
        }
        if table.reserved != 0 {
            return Err(format!(
                "`reserved` in the plugin's table is {}, not 0",
                table.reserved
            ));
        }
        Ok((name, plugin_version, interests))
    }

    /// Returns the plugin's own version, for people.
    pub fn plugin_version(&self) -> Option<&str> {
        self.plugin_version.as_deref()
    }

    /// Calls a callback with its argument, if the plugin has that callback.
    fn tell<T>(
        &self,
        callback: Option<unsafe extern "C" fn(*mut c_void, *const T, *mut Call)>,
        about: &T,
        cx: &mut Context<'_>,
    ) {
        if let Some(callback) = callback {
            // SAFETY: as the contract says: the struct is there until the callback returns, as is the call.
            self.line
                .during(cx, |call| unsafe { callback(self.table.instance, about, call) });
        }
    }
}

fn destroy(table: &MonitorTable) {
    if let Some(destroy) = table.destroy {
        // SAFETY: once, and after all other calls, as the contract says.
        unsafe { destroy(table.instance) };
    }
}

/// Returns the message up to its zero byte.
fn words(message: &[u8]) -> String {
    let end = message
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(message.len());
    match String::from_utf8_lossy(&message[..end]).trim() {
        "" => "the plugin does not say why".into(),
        words => words.to_owned(),
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        destroy(&self.table);
    }
}

impl Monitor for Foreign {
    fn name(&self) -> &str {
        &self.name
    }

    fn interests(&self) -> Interests {
        self.interests
    }

    fn reduction_compatible(&self) -> bool {
        self.table.reduction_compatible == 1
    }

    fn follows_stale_reads(&self) -> bool {
        self.table.follows_stale_reads == 1
    }

    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        if let Some(callback) = self.table.on_execution_begin {
            // SAFETY: as the contract says.
            unsafe { callback(self.table.instance, &ExecutionInfo::from(execution)) };
        }
    }

    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        self.tell(self.table.on_schedule_point, &Point::from(next), cx);
    }

    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        self.tell(self.table.on_sync_var_access, &SyncAccess::from(access), cx);
    }

    fn on_aggregate_sync_var_access(
        &mut self,
        access: &SyncVarAccess,
        vars: &[SyncVar],
        cx: &mut Context<'_>,
    ) {
        let Some(callback) = self.table.on_aggregate_sync_var_access else {
            return self.on_sync_var_access(access, cx);
        };
        let access = SyncAccess::from(access);
        // SAFETY: as the contract says: all of it is there until the callback returns.
        self.line.during(cx, |call| unsafe {
            callback(self.table.instance, &access, vars.as_ptr(), vars.len(), call);
        });
    }

    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.tell(self.table.on_data_var_access, &DataAccess::from(access), cx);
    }

    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        self.tell(self.table.on_allocation, &Allocated::from(allocation), cx);
    }

    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.tell(self.table.on_release, &Released::from(release), cx);
    }

    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {
        self.tell(self.table.on_event_attribute, &Attribute::from(attribute), cx);
    }

    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {
        self.tell(self.table.on_user_event, &Said::from(event), cx);
    }

    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        self.tell(self.table.on_execution_end, &ExecutionInfo::from(execution), cx);
    }

    fn on_shutdown(&mut self, cx: &mut Context<'_>) {
        if let Some(callback) = self.table.on_shutdown {
            // SAFETY: as the contract says.
            self.line
                .during(cx, |call| unsafe { callback(self.table.instance, call) });
        }
    }
}
