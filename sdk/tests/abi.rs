//! A monitor behind the line receives and reports the same as on this side of it. A violation of the contract is
//! reported.

use intermezzo_sdk::abi::{self, Foreign, HostTable, MonitorTable, Refusal, Text, VERSION, enter, rehearsal};
use intermezzo_sdk::*;
use std::ffi::{c_char, c_void};
use std::fmt::Write;

/// A monitor that records its events and the engine's answers, and reports all of it in the end.
struct Recorder {
    log: String,
    allocated: Vec<Location>,
    panic_in: String,
}

impl Recorder {
    fn new(arguments: &str) -> Result<Recorder, String> {
        match arguments {
            "refuse" => Err("not today".into()),
            "panic" => panic!("in the constructor"),
            _ => Ok(Recorder {
                log: String::new(),
                allocated: Vec::new(),
                panic_in: arguments.into(),
            }),
        }
    }

    fn note(&mut self, callback: &str, what: &dyn std::fmt::Debug, event: EventId, cx: &mut Context<'_>) {
        assert!(self.panic_in != callback, "in {callback}");
        let before = EventId {
            task: TaskId(0),
            index: 1,
        };
        let next = EventId {
            index: event.index + 1,
            ..event
        };
        writeln!(
            self.log,
            "{:?} {:?} {:?} {:?} {:?} {:?}",
            cx.held_back_at(3),
            cx.held_back_at(30_000),
            cx.point_of(event),
            cx.status(event),
            cx.status(next),
            cx.prescribed(),
        )
        .unwrap();
        writeln!(
            self.log,
            "{callback} {what:?} {} {:?} {:?} {:?} {} {:?} {:?} {} {:?} {:?}",
            cx.task_name(event.task),
            cx.enabled(),
            cx.enabled_at(3),
            cx.disabled_at(30_000),
            cx.happens_before(before, event),
            cx.clock(event).map(|clock| clock.as_slice().to_vec()),
            cx.accesses().last().copied(),
            cx.accesses().len(),
            cx.disabled(),
            cx.clock(EventId {
                task: TaskId(7),
                index: 7
            }),
        )
        .unwrap();
    }
}

impl Monitor for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }
    fn interests(&self) -> Interests {
        Interests::ALL
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn follows_stale_reads(&self) -> bool {
        true
    }
    fn on_execution_begin(&mut self, execution: &Execution<'_>) {
        assert!(self.panic_in != "on_execution_begin", "in on_execution_begin");
        self.log = format!("{execution:?}");
    }
    fn on_schedule_point(&mut self, next: &SchedulePoint, cx: &mut Context<'_>) {
        self.note("on_schedule_point", next, next.event, cx);
    }
    fn on_sync_var_access(&mut self, access: &SyncVarAccess, cx: &mut Context<'_>) {
        self.log.push_str(&cx.var_name(access.var));
        self.log.push_str(&cx.source_name(access.var));
        self.log.push_str(&cx.var_kind(access.var));
        self.log.push_str(&cx.made_at(access.var));
        self.log.push_str(&cx.site_name(access.site));
        self.note("on_sync_var_access", access, access.event, cx);
    }
    fn on_aggregate_sync_var_access(
        &mut self,
        access: &SyncVarAccess,
        vars: &[SyncVar],
        cx: &mut Context<'_>,
    ) {
        self.note("on_aggregate_sync_var_access", &(access, vars), access.event, cx);
    }
    fn on_data_var_access(&mut self, access: &DataVarAccess, cx: &mut Context<'_>) {
        self.log.push_str(&cx.location_name(access.location));
        self.note("on_data_var_access", access, access.after, cx);
    }
    fn on_allocation(&mut self, allocation: &Allocation, cx: &mut Context<'_>) {
        assert!(
            !cx.is_held_by_static(allocation.location),
            "it is known at the end"
        );
        self.allocated.push(allocation.location);
        self.note("on_allocation", allocation, allocation.after, cx);
    }
    fn on_release(&mut self, release: &Release, cx: &mut Context<'_>) {
        self.note("on_release", release, release.after, cx);
    }
    fn on_event_attribute(&mut self, attribute: &EventAttribute<'_>, cx: &mut Context<'_>) {
        self.note("on_event_attribute", attribute, attribute.event, cx);
    }
    fn on_user_event(&mut self, event: &UserEvent<'_>, cx: &mut Context<'_>) {
        self.note("on_user_event", event, event.after, cx);
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let last = execution.accesses.last().unwrap().event;
        let held = self
            .allocated
            .drain(..)
            .map(|location| cx.is_held_by_static(location));
        let held: Vec<bool> = held.collect();
        self.log.push_str(&format!("held: {held:?}"));
        self.note("on_execution_end", execution, last, cx);
        let report = MonitorFinding::new(FindingKind::LockOrder, self.log.clone());
        cx.report(
            report
                .warning()
                .events([last, last])
                .sites([SiteId(3)])
                .deeds([Deed {
                    after: last,
                    site: SiteId(3),
                    what: "écrit".into(),
                }])
                .suggest("été"),
        );
        cx.report(MonitorFinding::new(FindingKind::Plugin("own".into()), ""));
    }
}

unsafe extern "C" fn recorder(
    host: *const HostTable,
    arguments: Text,
    monitor: *mut MonitorTable,
    message: *mut c_char,
    capacity: usize,
) -> u32 {
    // SAFETY: the arguments are passed on unchanged.
    unsafe {
        enter(
            host,
            arguments,
            monitor,
            message,
            capacity,
            "1.2.3",
            Recorder::new,
        )
    }
}

fn make(entry: abi::Entry, arguments: &str) -> Result<Foreign, Refusal> {
    // SAFETY: the entries of this file keep to the contract where that matters, and stay where they are.
    unsafe { Foreign::make(entry, VERSION, arguments) }
}

fn refusal(entry: abi::Entry, arguments: &str) -> String {
    match make(entry, arguments) {
        Ok(_) => panic!("it was not refused"),
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn a_monitor_hears_and_says_the_same_on_both_sides() {
    let mut foreign = make(recorder, "").unwrap();
    assert_eq!(
        (foreign.name(), foreign.plugin_version()),
        ("recorder", Some("1.2.3"))
    );
    assert_eq!(foreign.interests(), Interests::ALL);
    assert!(foreign.reduction_compatible() && foreign.follows_stale_reads());
    let mut script = rehearsal();
    // Longer than any room for a name at the first attempt, and more tasks than in a list.
    let long = script.var(&"long ".repeat(100));
    for _ in 0..40 {
        let child = script.fork(testing::Script::MAIN);
        script.load(child, long, MemoryOrder::Relaxed, 9);
    }
    let held = script.allocate(testing::Script::MAIN, "held", BlockKind::Heap, 8);
    script.allocate(testing::Script::MAIN, "not held", BlockKind::Heap, 8);
    script.hold_by_static(held).hold_back(TaskId(1));
    for (kind, taken) in ChoiceKind::ALL.into_iter().cycle().zip(0..20) {
        script.prescribe(Choice {
            kind,
            preempts: taken % 2 == 0,
            alternatives: 20,
            taken,
        });
    }
    let here = script.play(&mut Recorder::new("").unwrap());
    assert_eq!(here.len(), 2);
    assert!(here[0].message.contains("true, false]"), "{}", here[0].message);
    assert!(here[0].message.lines().count() > 200);
    assert!(
        here[0].message.contains("Some([TaskId(1)]) None Some("),
        "{}",
        here[0].message
    );
    assert!(here[0].message.contains("Some(Committed) Some(Ready) [Choice {"));
    assert!(
        here[0]
            .message
            .contains("kind: Ended, preempts: true, alternatives: 20, taken: 6 }")
    );
    assert_eq!(script.play(&mut foreign), here);
    // The next execution has nothing of the last.
    assert_eq!(script.play(&mut foreign), here);
}

#[test]
fn a_panic_in_a_callback_is_a_finding_and_the_last_thing_the_monitor_says() {
    for callback in [
        "on_execution_begin",
        "on_schedule_point",
        "on_sync_var_access",
        "on_aggregate_sync_var_access",
        "on_data_var_access",
        "on_allocation",
        "on_release",
        "on_event_attribute",
        "on_user_event",
        "on_execution_end",
    ] {
        let mut foreign = make(recorder, callback).unwrap();
        let reports = rehearsal().play(&mut foreign);
        assert_eq!(reports.len(), 1, "{callback}: {reports:#?}");
        let said =
            format!("the monitor `recorder` panicked in `{callback}`: in {callback} (sdk/tests/abi.rs:");
        assert!(reports[0].message.starts_with(&said), "{}", reports[0].message);
        assert_eq!(reports[0].kind, FindingKind::Plugin("recorder".into()));
        assert_eq!(rehearsal().play(&mut foreign), []);
    }
}

#[test]
fn constructors_that_fail_say_why() {
    assert_eq!(
        refusal(recorder, "refuse"),
        "the monitor could not be made: not today"
    );
    let panicked = refusal(recorder, "panic");
    assert!(
        panicked.contains("its constructor panicked: in the constructor (sdk/tests/abi.rs:"),
        "{panicked}"
    );
    let long = "x".repeat(abi::ARGUMENTS_BYTES_MAX + 1);
    assert!(refusal(recorder, &long).contains("give at most 65536"));
}

#[test]
fn an_engine_of_another_version_is_refused_by_the_plugin() {
    let mut message = [0 as c_char; 64];
    let mut table = [0u64; 512];
    for host in [[0, VERSION], [u32::MAX, VERSION + 1]] {
        // SAFETY: a host's table is read beyond its first two numbers only if these are as they should be.
        let answer = unsafe {
            recorder(
                host.as_ptr().cast(),
                Text::NULL,
                table.as_mut_ptr().cast(),
                message.as_mut_ptr(),
                message.len(),
            )
        };
        assert_eq!(answer, abi::FAILED);
        assert_eq!(table, [0; 512]);
        // SAFETY: it ends with a zero.
        let message = unsafe { std::ffi::CStr::from_ptr(message.as_ptr()) }
            .to_str()
            .unwrap();
        assert!(message.starts_with("the engine speaks version"), "{message}");
        assert_eq!(message.len(), 63);
    }
}

/// A way to spoil something, and the message that it must cause.
type Case<T> = (fn(&mut T), &'static str);

/// A table that says little, and can be spoilt.
const PLAIN: MonitorTable = MonitorTable {
    size: size_of::<MonitorTable>() as u32,
    version: VERSION,
    interests: 0,
    reduction_compatible: 0,
    name: Text::new("plain"),
    plugin_version: Text::NULL,
    instance: std::ptr::null_mut(),
    destroy: None,
    on_execution_begin: None,
    on_schedule_point: None,
    on_sync_var_access: None,
    on_aggregate_sync_var_access: None,
    on_data_var_access: None,
    on_allocation: None,
    on_release: None,
    on_event_attribute: None,
    on_user_event: None,
    on_execution_end: None,
    on_shutdown: None,
    follows_stale_reads: 0,
    reserved: 0,
};

thread_local! {
    static TABLE: std::cell::Cell<MonitorTable> = const { std::cell::Cell::new(PLAIN) };
    static FINDING: std::cell::Cell<Option<abi::Finding>> = const { std::cell::Cell::new(None) };
    static HOST: std::cell::Cell<*const HostTable> = const { std::cell::Cell::new(std::ptr::null()) };
    static CALL: std::cell::Cell<*mut abi::Call> = const { std::cell::Cell::new(std::ptr::null_mut()) };
}

unsafe extern "C" fn given(
    host: *const HostTable,
    _: Text,
    monitor: *mut MonitorTable,
    _: *mut c_char,
    _: usize,
) -> u32 {
    HOST.set(host);
    // SAFETY: an engine has room for it.
    unsafe { monitor.write(TABLE.get()) };
    abi::OK
}

#[test]
fn a_table_that_cannot_be_is_refused_with_a_message() {
    let cases: [Case<MonitorTable>; 13] = [
        (
            |table| table.version = VERSION + 1,
            "version 8 of the contract, which is newer than version 7 of its entry",
        ),
        (
            |table| table.version = VERSION - 1,
            "version 6 of the contract, which is older than version 7 of its entry",
        ),
        (|table| table.size -= 8, "the plugin's table has"),
        (|table| table.size += 8, "the plugin's table has"),
        (|table| table.interests = 128, "0x80, have unknown bits"),
        (|table| table.reduction_compatible = 2, "neither 0 nor 1"),
        (
            |table| table.follows_stale_reads = 2,
            "`follows_stale_reads` in the plugin's table is 2, neither 0 nor 1",
        ),
        (
            |table| table.reserved = 1,
            "`reserved` in the plugin's table is 1, not 0",
        ),
        (
            |table| table.name = Text::NULL,
            "name in the plugin's table is a null pointer",
        ),
        (|table| table.name.length = 0, "empty"),
        (|table| table.name = Text::new("a\nb"), "control characters"),
        (
            |table| {
                table.name = Text {
                    bytes: c"\xff".as_ptr(),
                    length: 1,
                }
            },
            "not UTF-8 from byte 0 on",
        ),
        (
            |table| {
                table.plugin_version = Text {
                    bytes: c"".as_ptr(),
                    length: usize::MAX,
                }
            },
            "the plugin's version in the plugin's table is longer than 128 bytes",
        ),
    ];
    for (spoil, says) in cases {
        let mut table = PLAIN;
        spoil(&mut table);
        TABLE.set(table);
        let refused = refusal(given, "");
        assert!(refused.contains(says), "{refused}");
    }
    TABLE.set(PLAIN);
    assert!(make(given, "").is_ok());
}

/// A plugin that was compiled with the header of an older version finds the table of that version, and fills one.
#[test]
fn a_plugin_of_an_older_version_gets_the_table_of_its_version() {
    let host_5 = std::mem::offset_of!(HostTable, held_back_at);
    let size = std::mem::offset_of!(MonitorTable, follows_stale_reads) as u32;
    for (version, host_bytes) in [(5, host_5), (6, size_of::<HostTable>())] {
        // SAFETY: as in `make`.
        let make = |entry| unsafe { Foreign::make(entry, version, "") };
        let table = MonitorTable {
            version,
            size,
            ..PLAIN
        };
        TABLE.set(table);
        let monitor = make(given).unwrap();
        assert_eq!((monitor.name(), monitor.follows_stale_reads()), ("plain", false));
        // SAFETY: the table is a static.
        let host = unsafe { &*HOST.get() };
        assert_eq!((host.version, host.size as usize), (version, host_bytes));
        TABLE.set(MonitorTable {
            size: PLAIN.size,
            ..table
        });
        let refused = make(given).map(|_| ()).unwrap_err();
        assert_eq!(refused, Refusal::Size { found: 160, version });
        let needed = format!("where version {version} of the contract has 152");
        assert!(refused.to_string().contains(&needed), "{refused}");
        TABLE.set(PLAIN);
        let refused = make(given).map(|_| ()).unwrap_err();
        assert_eq!(
            refused,
            Refusal::Version {
                found: 7,
                entry: version
            }
        );
        let newer = format!("which is newer than version {version} of its entry");
        assert!(refused.to_string().contains(&newer), "{refused}");
        // A plugin of this version refuses an engine of an older one.
        let refused = make(recorder).map(|_| ()).unwrap_err().to_string();
        let speaks = format!("the engine speaks version {version} of the contract");
        assert!(refused.contains(&speaks), "{refused}");
    }
}

unsafe extern "C" fn report_given(_: *mut c_void, _: *const abi::ExecutionInfo, call: *mut abi::Call) {
    CALL.set(call);
    let finding = FINDING.get();
    let finding = finding.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the host's table is there while the monitor is.
    unsafe { ((*HOST.get()).report)(call, finding) };
}

/// A deed without words.
const NOTHING: abi::FindingDeed = abi::FindingDeed {
    size: size_of::<abi::FindingDeed>() as u32,
    site: SiteId(0),
    after: EventId {
        task: TaskId(0),
        index: 1,
    },
    what: Text::NULL,
};

/// One of another version.
const CUT: abi::FindingDeed = abi::FindingDeed { size: 8, ..NOTHING };

#[test]
fn a_malformed_report_is_told_as_such() {
    let sound = abi::Finding {
        size: size_of::<abi::Finding>() as u32,
        severity: 0,
        kind: Text::new("plugin/own"),
        message: Text::new("something"),
        suggestion: Text::NULL,
        events: std::ptr::null(),
        event_count: 0,
        sites: std::ptr::null(),
        site_count: 0,
        deeds: std::ptr::null(),
        deed_count: 0,
    };
    TABLE.set(MonitorTable {
        on_execution_end: Some(report_given),
        ..PLAIN
    });
    let mut monitor = make(given, "").unwrap();
    let mut told = |finding| {
        FINDING.set(finding);
        let reports = rehearsal().play(&mut monitor);
        assert_eq!(reports.len(), 1);
        reports.into_iter().next().unwrap()
    };
    let cases: [Case<abi::Finding>; 11] = [
        (|finding| finding.size = 8, "the struct says that it has 8 bytes"),
        (|finding| finding.severity = 2, "2 is not a severity"),
        (
            |finding| finding.kind = Text::new("own"),
            "`plugin/own` for your own",
        ),
        (|finding| finding.kind = Text::NULL, "its kind is a null pointer"),
        (
            |finding| finding.message = Text::NULL,
            "its message is a null pointer",
        ),
        (|finding| finding.event_count = 1, "its 1 events cannot be there"),
        (|finding| finding.site_count = 1, "its 1 places cannot be there"),
        (|finding| finding.deed_count = 1, "its 1 deeds cannot be there"),
        (
            |finding| (finding.deeds, finding.deed_count) = (&NOTHING, 1),
            "a deed is a null pointer",
        ),
        (
            |finding| (finding.deeds, finding.deed_count) = (&CUT, 1),
            "a deed says that it has 8 bytes",
        ),
        (
            |finding| finding.message.length = usize::MAX,
            "its message is longer than",
        ),
    ];
    for (spoil, says) in cases {
        let mut finding = sound;
        spoil(&mut finding);
        let report = told(Some(finding));
        assert!(report.message.contains(says), "{}", report.message);
        assert!(
            report
                .message
                .starts_with("the monitor `plain` reported something, but ")
        );
    }
    assert!(told(None).message.contains("null pointer"));
    assert_eq!(
        told(Some(sound)),
        MonitorFinding::new(FindingKind::Plugin("own".into()), "something").warning()
    );
    // After the callback no engine can be asked, and nothing is touched.
    // SAFETY: the monitor is still there, and with it what the call points to.
    unsafe {
        let host = &*HOST.get();
        assert_eq!((host.report)(CALL.get(), &sound), abi::FAILED);
        assert_eq!((host.enabled)(CALL.get(), std::ptr::null_mut(), 0), 0);
        assert_eq!(
            (host.task_name)(std::ptr::null_mut(), TaskId(0), std::ptr::null_mut(), 0),
            0
        );
        assert_eq!(
            (host.clock)(CALL.get(), sound_event(), std::ptr::null_mut(), 0),
            abi::NONE
        );
        assert_eq!(
            (host.held_back_at)(CALL.get(), 0, std::ptr::null_mut(), 0),
            abi::NONE
        );
        assert_eq!((host.point_of)(CALL.get(), sound_event()), abi::NONE);
        assert_eq!((host.status)(CALL.get(), sound_event()), 0);
        assert_eq!((host.prescribed)(CALL.get(), std::ptr::null_mut(), 0), 0);
    }
}

fn sound_event() -> EventId {
    EventId {
        task: TaskId(0),
        index: 1,
    }
}
