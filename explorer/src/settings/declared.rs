//! Every setting, declared once: its field, its default, its meaning, the form of its value, and how text becomes it.
//!
//! Attributes, `intermezzo.toml`, environment variables, the flags of the command line, its help, what a checkpoint
//! must agree on and the table in the guide all follow from these declarations.

use super::members::{Member, Parts};
use super::{
    IRootOptions, JournalAt, MonitorRequest, ProgressLines, Reduction, SpinLoops, StrategyKind, Verbosity,
    partition, scope,
};
use intermezzo_breakpoint::{ArmError, Armings};
use intermezzo_engine::environment::Environment;
use intermezzo_engine::monitors;
use intermezzo_engine::scope::Scope;
use intermezzo_engine::sites::Sites;
use intermezzo_engine::strategy::Partition;
use intermezzo_engine::suggest::did_you_mean;
use intermezzo_search::value::{Form, HasForm, Range, Value, duration, number, one_of, optional, within};
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

/// Sets a field from text; the error says what would be right.
type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// Returns a field as text that `Set` takes.
type Show = fn(&Settings) -> String;

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name, in attributes and in `intermezzo.toml`.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub help: &'static str,
    /// The values that it takes, in words.
    pub accepts: &'static str,
    /// The value in a usage line: `N`, `NAME`, `BOOL`.
    pub placeholder: &'static str,
    /// The part of the help that it belongs to.
    pub group: Group,
    /// `true` if few tests need it.
    pub advanced: bool,
    /// `true` if a replay needs it too, because a schedule does not carry it.
    pub in_replays: bool,
    /// `true` if a search can only be continued from a checkpoint with the same value.
    pub(crate) in_checkpoints: bool,
    /// The least and the greatest number, where the field could hold others.
    range: Option<Range>,
    /// The values that its own text gives by name, after the value itself.
    members: &'static [Member],
    /// Names of earlier settings, and what to give this one instead.
    formerly: &'static [(&'static str, &'static str)],
    set: Set,
    show: Show,
}

/// A part of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The search itself.
    Search,
    /// Limits of an execution, and its treatment.
    Execution,
    /// The output.
    Output,
}

impl Group {
    /// Returns the heading.
    pub fn heading(self) -> &'static str {
        match self {
            Group::Search => "Search",
            Group::Execution => "Executions",
            Group::Output => "Output",
        }
    }
}

impl Setting {
    const fn new(name: &'static str, help: &'static str, form: Form, set: Set, show: Show) -> Setting {
        Setting {
            name,
            help,
            accepts: form.1,
            placeholder: form.0,
            group: Group::Search,
            advanced: false,
            in_replays: false,
            in_checkpoints: false,
            range: None,
            members: &[],
            formerly: &[],
            set,
            show,
        }
    }

    /// Returns the setting of this name.
    pub fn named(name: &str) -> Option<&'static Setting> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// Sets it from text; the error says what would be valid.
    pub(super) fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        let mut changed = settings.clone();
        for text in self.in_turn(text) {
            let Parts { head, members, .. } = Parts::of(text.trim(), self.members)?;
            if let Some(head) = head {
                self.set_head(&mut changed, head)
                    .map_err(|problem| self.wrong_member(head).unwrap_or(problem))?;
            }
            for (member, value) in members {
                member.set(&mut changed, value)?;
            }
        }
        *settings = changed;
        Ok(())
    }

    /// Returns the values in a text, of which later ones change only what they name: see [`Setting::over`].
    fn in_turn<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> + use<'t> {
        text.splitn(if self.has_members() { usize::MAX } else { 1 }, '\n')
    }

    /// Sets what comes before the members.
    fn set_head(&self, settings: &mut Settings, head: &str) -> Result<(), String> {
        within(self.range, head)?;
        (self.set)(settings, head)
    }

    /// Returns the error about what follows a value that would be right, if it is no member.
    fn wrong_member(&self, head: &str) -> Option<String> {
        let (value, rest) = head.split_once(',').filter(|_| !self.members.is_empty())?;
        self.set_head(&mut Settings::default(), value.trim()).ok()?;
        let known = self.members.iter().map(|member| format!("`{}`", member.name));
        let known = known.collect::<Vec<_>>().join(", ");
        Some(format!("`{}` is not a member: give one of {known}", rest.trim()))
    }

    /// Returns its value as text that [`Setting::set`] takes.
    pub(super) fn show(&self, settings: &Settings) -> String {
        self.show_members(settings, |_| true)
    }

    /// Returns what a search that continues from a checkpoint must have as it is.
    pub(super) fn show_for_checkpoint(&self, settings: &Settings) -> String {
        self.show_members(settings, |member| member.in_checkpoints)
    }

    /// Returns its value, and these members as far as they are not as usual with this value.
    fn show_members(&self, settings: &Settings, shown: fn(&Member) -> bool) -> String {
        let mut text = (self.show)(settings);
        if self.has_members() {
            let (mut settings, mut usual) = (settings.clone(), Settings::default());
            // A value out of range cannot be set, and has no usual members of its own.
            let _ = self.set_head(&mut usual, &text);
            for member in self.members.iter().filter(|member| shown(member)) {
                let value = (member.field)(&mut settings).show();
                if value != (member.field)(&mut usual).show() {
                    text += &format!(",{}={value}", member.name);
                }
            }
        }
        text
    }

    /// `true` if a value need not be the whole: it changes only what it names.
    pub(super) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }

    /// Returns a value that does what `weaker` and then `stronger` do. They are values of this setting.
    #[doc(hidden)]
    pub fn over(&self, weaker: &str, stronger: &str) -> String {
        match self.has_members() {
            true => format!("{weaker}\n{stronger}"),
            false => stronger.to_owned(),
        }
    }

    /// Returns the part of a value before the members, if there is one, and the members.
    #[doc(hidden)]
    pub fn head_and_members<'t>(&self, text: &'t str) -> (Option<&'t str>, String) {
        let (mut head, mut members) = (None, Vec::new());
        for text in self.in_turn(text) {
            let parts = Parts::of(text, self.members);
            let (own, tail) = parts.map_or((Some(text), ""), |parts| (parts.head, parts.tail));
            head = own.or(head);
            members.extend(Some(tail).filter(|tail| !tail.is_empty()));
        }
        (head, members.join(","))
    }

    /// Returns names that are no settings, and what to give instead: those of earlier settings, and of members.
    #[doc(hidden)]
    pub fn formerly(&self) -> impl Iterator<Item = (&'static str, String)> {
        let former = self.formerly.iter();
        let former = former.map(|&(name, instead)| (name, format!("give `{}` {instead}", self.name)));
        let members = self.members.iter().map(|member| member.name);
        let members = members.filter(|name| Setting::named(name).is_none());
        former.chain(members.map(|name| (name, format!("give `{}` `{name}=..`", self.name))))
    }
}

/// Declares the settings, and the fields that are set along with others or have no name.
///
/// A setting is its field (`as` its name, if that is another), type, default and meaning; after `=>` the form of its
/// value, and how it is read and shown, as far as the type alone does not say; and its properties.
macro_rules! declare {
    (
        settings { $(
            $(#[$more:meta])*
            $field:ident $(as $name:literal)?: $type:ty = $default:expr, $help:literal
            $(=> ($($form:tt)*))?
            $(, $property:ident: $value:expr)*;
        )* }
        others { $( $(#[$doc:meta])* $other:ident: $other_type:ty = $other_default:expr; )* }
    ) => {
        /// The settings of an exploration.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $( #[doc = concat!($help, ".")] #[doc = ""] $(#[$more])* pub $field: $type, )*
            $( $(#[$doc])* pub $other: $other_type, )*
        }

        impl Default for Settings {
            fn default() -> Self {
                Settings { $($field: $default,)* $($other: $other_default,)* }
            }
        }

        /// Every setting: those that most tests need first.
        pub(super) const SETTINGS: &[Setting] = &[$({
            let name = [$($name,)? stringify!($field)][0];
            let (form, set, show) = form!($field: $type $(, $($form)*)?);
            Setting { $($property: $value,)* ..Setting::new(name, $help, form, set, show) }
        }),*];
    };
}

/// Returns the form of a setting's value, how it is read and how it is shown: as its type says, or as given.
macro_rules! form {
    ($field:ident: $type:ty) => {
        form!($field: $type, <$type>::FORM, |s, v| s.$field.read(v), |s| s.$field.show())
    };
    ($field:ident: $type:ty, $placeholder:expr, $accepts:expr) => {
        form!($field: $type, ($placeholder, $accepts), |s, v| s.$field.read(v), |s| s.$field.show())
    };
    ($field:ident: $type:ty, $form:expr, $set:expr, $show:expr) => {{
        let (form, set, show): (Form, Set, Show) = ($form, $set, $show);
        (form, set, show)
    }};
}

declare! {
settings {
    strategy: StrategyKind = StrategyKind::DFS,
        "Search to run: `auto`, `dfs`, `random`, `pct(3)`, `pos`, `surw`, or another"
        => ("NAME", StrategyKind::VALUES),
        formerly: &[
            ("delays", "`dfs(delays=N)`"), ("depth", "`dfs(depth=N)`"), ("depth_step", "`dfs(step=N)`"),
            ("variables", "`ranked(variables=N)`"), ("variable_sets", "`ranked(sets=dynamic)`"),
            ("arrays", "`ranked(arrays=whole)`"), ("threads", "`ranked(threads=N)`"), ("epsilon", "`ranked(epsilon=P)`"),
            ("priority", "`best-first(preemptions,rare)`"), ("prefixes", "`best-first(prefixes=N)`"),
            ("iroot_attempts", "`maple(attempts=N)`"),
        ],
        in_checkpoints: true;
    reduction: Reduction = Reduction::Auto,
        "Method of leaving out executions that show nothing new"
        => (("NAME", "`auto`, `none`, `caching`, `source-dpor`, `dpor` or `ordered-atomics`; `auto,cache_bytes=0` remembers neither states nor traces, instead of as many as fit in a gibibyte"),
            |s, v| match v {
                "bpor" => Err("there is no reduction `bpor` any more: give `dpor` with a bound on `preemptions`".into()),
                _ => s.reduction.read(v),
            },
            |s| s.reduction.show()),
        members: &[Member::new("cache_bytes", |s| &mut s.cache_bytes)],
        formerly: &[("quiet_atomics", "`ordered-atomics` instead of `true`")],
        in_checkpoints: true;
    preemptions: Option<u32> = None,
        "Limits the number of preemptions in an execution",
        in_checkpoints: true;
    /// `None` means no limit; but with `auto` and no limit on time 50,000, or 200,000 if every trace is within reach.
    executions: Option<u64> = None,
        "Limits the number of executions";
    /// `Duration::MAX` means no limit. `None` means two minutes if executions are not limited either, and otherwise no
    /// limit.
    time: Option<Duration> = None,
        "Limits the time of each exploration, in seconds"
        => (("SECONDS", "seconds, `none`, or `auto`: two minutes where `executions` are not limited either"),
            |s, v| match v {
                "auto" => { s.time = None; Ok(()) }
                _ => optional(v, duration)
                    .map(|time| s.time = time.or(Some(Duration::MAX)))
                    .map_err(|problem| format!("{problem}, or `auto`")),
            },
            |s| match s.time {
                None => "auto".into(),
                Some(Duration::MAX) => "none".into(),
                Some(time) => time.show(),
            });
    /// The default is CHESS's own limit.
    steps: u64 = 20_000,
        "Limits the number of steps in an execution; one that takes more is a finding",
        group: Group::Execution, in_checkpoints: true;
    seed: u64 = 0,
        "Seed of the search's own randomness"
        => (("N", "a number; `7/123` begins with the 123rd execution of a search that draws them at random"),
            |s, v| seed(v).map(|(seed, first)| (s.seed, s.first_execution) = (seed, first)),
            |s| match s.first_execution {
                None => s.seed.to_string(),
                Some(first) => format!("{}/{first}", s.seed),
            }),
        formerly: &[("first_execution", "`SEED/FIRST`, as in `7/123`")],
        in_checkpoints: true;
    keep_going: bool = false,
        "Continues after a finding",
        in_checkpoints: true;
    // The most: more than any machine has cores.
    jobs: usize = 1,
        "Workers that explore, each on a thread of its own",
        accepts: "a number, at least 1", range: Some((1, 1024));
    checkpoint: Option<PathBuf> = None,
        "Keeps the search in this file, and continues from it if it exists; for `test` a directory, with a file for each test",
        accepts: "a file, or `none`; `a.search,every=60` writes it every 60 seconds instead of every 10",
        members: &[Member::new("every", |s| &mut s.checkpoint_every)],
        formerly: &[("checkpoint_every", "`every=SECONDS`")];
    /// `None` for all of it.
    partition: Option<Partition> = None,
        "Explores one share of the search: other processes, on other machines, explore the others"
        => (("SHARE", partition::VALUES),
            |s, v| partition::parse(v).map(|partition| s.partition = partition),
            |s| partition::show(s.partition));
    /// Monitors that were attached to the explorer in code come before these.
    monitors: Vec<MonitorRequest> = Vec::new(),
        "Adds a monitor to those on by default, by the name in `monitor list` or the path of a plugin"
        => (("NAME[:ARGS]", MONITORS),
            |s, v| MonitorRequest::parse(v).map(|monitors| s.monitors = monitors),
            |s| match MonitorRequest::list(&s.monitors) {
                list if list.is_empty() => monitors::DEFAULT.into(),
                list => list,
            }),
        in_replays: true;
    detail: Verbosity = Verbosity::Normal,
        "Level of detail of a failure"
        => ("NAME", "`quiet`, `normal` or `verbose`"),
        group: Group::Output, in_replays: true;
    progress: ProgressLines = ProgressLines::default(),
        "Shows the progress of the search on stderr, in a line every N seconds"
        => (("SECONDS", "seconds between two lines, or `none`; `5,from=1000` begins after 1000 executions"),
            |s, v| s.progress.every.read(v),
            |s| s.progress.every.show()),
        members: &[Member::new("from", |s| &mut s.progress.from)],
        group: Group::Output, advanced: true;
    /// Each line has its time. Several tests may have one file.
    log: Option<PathBuf> = None,
        "Adds lines to this file: the events of the search, and how its time was spent",
        group: Group::Output, advanced: true;
    environment: Environment = Environment::default(),
        "Actions of the environment: how often waits end early, weak operations fail, and so on, in each task"
        => (("LIST", ENVIRONMENT),
            |s, v| {
                let named = [(ADVERSARIAL, Environment::default()), (CALM, Environment::calm())];
                // An environment is calm or not whatever random numbers the test draws.
                let seed = s.environment.seed;
                s.environment = Environment { seed, ..one_of(&named, "environment", v)? };
                Ok(())
            },
            |s| if s.environment.notify_any { ADVERSARIAL } else { CALM }.into()),
        members: &[
            Member::new("spurious_wakeups", |s| &mut s.environment.spurious_wakeups),
            Member::new("timeouts", |s| &mut s.environment.timeouts),
            Member::new("weak_failures", |s| &mut s.environment.weak_failures),
            Member::new("try_lock_failures", |s| &mut s.environment.try_lock_failures),
            Member::new("notify_any", |s| &mut s.environment.notify_any),
            Member::new("arc_counts", |s| &mut s.environment.arc_counts),
            Member::new("address_reuse", |s| &mut s.environment.address_reuse),
            Member::new("stale_reads", |s| &mut s.environment.stale_reads),
            Member::new("seed", |s| &mut s.environment.seed),
        ],
        group: Group::Execution, advanced: true, in_checkpoints: true;
    spin_loops: SpinLoops = SpinLoops::Park,
        "Treatment of loops that only wait: disable the task after a failed round; or from the first round on, once the loop was seen to wait; or run every round"
        => (("NAME", "`park`, `assume` or `run`; `park,fair_yields=3` counts only every third yield of a task for fairness"),
            |s, v| {
                // `-assume` is for commands that take the assumption away, and nothing else.
                match (v, s.spin_loops) {
                    ("-assume", SpinLoops::Assume) => s.spin_loops = SpinLoops::Park,
                    ("-assume", _) => {}
                    _ => s.spin_loops.read(v)?,
                }
                Ok(())
            },
            |s| s.spin_loops.show()),
        members: &[Member::new("fair_yields", |s| &mut s.fair_yields).at_least(1)],
        formerly: &[("awaits", "`run` instead of `false`"), ("assume_awaits", "`assume` instead of `true`")],
        group: Group::Execution, advanced: true, in_checkpoints: true;
    /// Empty for everywhere. [`Settings::preempt_not_in`] has the places to leave out.
    preempt_in as "preempt": Scope = Scope::default(),
        "Places where tasks are preempted: `queue::ring,!slots.rs,Ring::push,tail`"
        => (("LIST", "paths of modules, types and functions, source files and variables, with `!` before those to leave out; or `everywhere`"),
            |s, v| scope::parse(v).map(|(only_in, not_in)| (s.preempt_in, s.preempt_not_in) = (only_in, not_in)),
            |s| scope::show(&s.preempt_in, &s.preempt_not_in)),
        formerly: &[("preempt_in", "`LIST`"), ("preempt_not_in", "`!PLACE,!PLACE`")],
        advanced: true, in_checkpoints: true;
    /// The field has the places, and [`Settings::preempt_at_races`] the rest.
    schedule_points_at as "data_points": Sites = Sites::default(),
        "Accesses to plain memory that are schedule points: those at these places, and those of data races that were found (with `keep_going`)"
        => (("LIST", "source files with lines (`ring.rs:12`), `all`, `races` for the accesses of data races, or `none`; `-races` keeps only the places"),
            |s, v| {
                match v {
                    "-races" => s.preempt_at_races = false,
                    _ => (s.schedule_points_at, s.preempt_at_races) = scope::parse_data_points(v)?,
                }
                Ok(())
            },
            |s| scope::show_data_points(&s.schedule_points_at, s.preempt_at_races)),
        formerly: &[
            ("schedule_points_at", "`LIST,races`"), ("preempt_at_races", "`none` instead of `false`, or the places without `races`"),
        ],
        advanced: true, in_checkpoints: true;
    breakpoints: Armings = Armings::default(),
        "Arms breakpoints: `lost-update skip=3`, `a.rs:10:5 before b.rs:20:9`"
        => (("LIST", "names or pairs of places, separated by commas, each with its refinements; or `none`"),
            |s, v| v.parse().map(|armings| s.breakpoints = armings).map_err(|error: ArmError| error.to_string()),
            |s| match s.breakpoints.to_string() {
                none if none.is_empty() => "none".into(),
                list => list,
            }),
        advanced: true, in_checkpoints: true;
    /// `None` if they are not measured. The search `maple` measures them anyway, with options of its own.
    iroots: Option<IRootOptions> = None,
        "Measures which iRoots are exposed (patterns of dependencies between places of two tasks), with any search"
        => ("BOOL|LIST", "`true`, `false`, or `window=20,memo=FILE`"),
        formerly: &[
            ("iroot_window", "`window=N`, or `strategy` `maple(window=N)`"),
            ("memo", "`memo=FILE`, or `strategy` `maple(memo=FILE)`"),
        ],
        advanced: true;
    /// By default such an execution is a finding, a deadlock.
    deadlocks_allowed: bool = false,
        "Lets an execution end with tasks that wait for ever",
        group: Group::Execution, advanced: true, in_checkpoints: true;
    /// The limit is for all findings together. Executions with fewer preemptions are searched, then with fewer context
    /// switches, then with fewer steps. The default takes a moment for a short test.
    minimise: u64 = 1_000,
        "Limits the number of executions that minimise findings; 0 leaves findings as they were found",
        accepts: "a number; `1000,time=60` allows a minute for it instead of 10 seconds, and `time=none` any time. If the setting `time` ends the search, a quarter of that is the limit",
        members: &[Member::new("time", |s| &mut s.minimise_time)],
        formerly: &[("minimise_time", "`time=SECONDS`")],
        advanced: true;
    /// An example is a static of std's `OnceLock`, whose first use does more than later ones. Bugs of that first use are
    /// then not found. Each of several workers runs these executions, one worker after the other.
    warm_up: u32 = 0,
        "Executions before the search that are not judged, for state that a test sets up once and keeps",
        accepts: "a number; `0,retries=5` retries an execution that departed from its prescribed choices up to five times instead of twice",
        members: &[Member::new("retries", |s| &mut s.retries)],
        advanced: true, in_replays: true, in_checkpoints: true;
    /// A task that takes longer is a finding, and ends the exploration. The time of a task that is able to run counts only
    /// while it has a processor. Works on Linux on x86-64 and aarch64. The default is far longer than tests of concurrent
    /// code compute between two operations, and shorter than users wait.
    hang: Option<Duration> = Some(Duration::from_secs(10)),
        "Limits the seconds that a task runs or is blocked without a visible operation, and those of an execution",
        accepts: "seconds, or `none`; `10,execution=60` also ends an execution that takes longer than a minute",
        members: &[Member::new("execution", |s| &mut s.execution_time)],
        group: Group::Execution, advanced: true, in_replays: true;
    journal: JournalAt = JournalAt::Usual,
        "Directory for a file with the choices of the running execution, which remains if the process is killed"
        => ("DIR", "a directory, `usual` or `none`"),
        group: Group::Execution, advanced: true;
    /// The default is that of std's threads if there are enough addresses, because untouched pages cost nothing. The
    /// minimum is enough for a panic hook, which takes some 20 KiB in a debug build.
    stack_bytes as "stack": usize = if size_of::<usize>() < 8 { 256 << 10 } else { 2 << 20 },
        "Bytes of each task's stack, and limits for the stacks of all tasks",
        accepts: "bytes, at least 32768; `tasks=4096` limits the tasks of an execution; `forgotten=268435456` limits the bytes of stacks that unfinished tasks may leave behind: further tasks are unwound", placeholder: "BYTES",
        members: &[
            Member::new("tasks", |s| &mut s.tasks).at_least(1),
            Member::new("forgotten", |s| &mut s.forgotten_bytes).not_in_checkpoints(),
        ],
        formerly: &[("forgotten_bytes", "`forgotten=BYTES`")],
        range: Some((32 << 10, 1 << 30)),
        group: Group::Execution, advanced: true, in_replays: true, in_checkpoints: true;
}
others {
    /// The bytes that a search may use to remember states and traces, in the setting `reduction`. The default is enough for
    /// some ten million states.
    cache_bytes: usize = 1 << 30;
    /// The maximum number of retries of an execution that departed from its prescribed choices, in the setting `warm_up`.
    ///
    /// An execution departs because the test does something that the schedule does not determine. If none of the retries
    /// follows the choices, that is a finding, and the search ends. With `keep_going` it continues without the executions
    /// that would have begun like that one, and the coverage says so. The default is CHESS's own number.
    retries: u32 = 2;
    /// The time between two checkpoints, or two memos of iRoots.
    checkpoint_every: Duration = Duration::from_secs(10);
    /// Only every yield of this number of a task counts for fairness.
    fair_yields: u32 = 1;
    /// The maximum time to replay and minimise findings, for all of them together; after the limit of `time`, at most a
    /// quarter of that. `None` means no limit. The default is longer than the usual executions take, unless single steps of
    /// the test are slow.
    minimise_time: Option<Duration> = Some(Duration::from_secs(10));
    /// The maximum number of tasks of an execution; one that creates more is a finding. The default is far more than a test
    /// of schedules needs: the clocks of as many tasks take some hundred megabytes, and so do their stacks.
    tasks: u32 = 4_096;
    /// The bytes of stacks that may be lost to unfinished tasks.
    ///
    /// A task that an execution leaves unfinished, after a deadlock for example, is *forgotten*, like a thread when its
    /// process ends: none of its destructors runs, and everything that it owns is lost. Beyond the limit it is *unwound* by
    /// a panic at its next operation, so that everything is dropped; a note says so. Code that was not written to unwind
    /// there may then misbehave. With 0, tasks are always unwound. Use this for a test whose destructors must run because
    /// they free something that outlives an execution. The default is enough for the stacks of some 8,000 tasks.
    forgotten_bytes: usize = 256 << 20;
    /// The number, from 1, of the first execution of a search that draws executions at random, after those from which it
    /// learns. `None` means 1. It is part of the setting `seed`.
    first_execution: Option<u64> = None;
    /// The maximum time of one execution, even if it performs operations; `None` means no limit. A longer one is a finding
    /// of the kind `hang`, with the place of the task that ran last. It is part of the setting `hang`.
    execution_time: Option<Duration> = None;
    /// The places where tasks are not preempted, in the setting `preempt`.
    preempt_not_in: Scope = Scope::default();
    /// `true` if the accesses of data races become schedule points, in a search that continues after findings. The search
    /// then starts again, to explore the consequences of their order. With several workers, a checkpoint or
    /// `ordered-atomics` this is off, and a note says so if there are races. It is part of the setting `data_points`.
    preempt_at_races: bool = true;
    /// `true` if every operation is a schedule point: a reference for tests of the engine itself, without a name.
    #[doc(hidden)]
    every_operation: bool = false;
    /// The steps, in all executions, that the long search without the bound has at a time: some tenths of a second. It has
    /// no name.
    #[doc(hidden)]
    steps_without_bound: u64 = 500_000;
    /// `true` if an execution that reaches the limit of steps is given up, and is not a finding. For drop-ins of tools that
    /// do so; it has no name.
    #[doc(hidden)]
    long_allowed: bool = false;
    /// `true` if no execution is run after the search, unless findings are minimised. For drop-ins of tools that run none,
    /// whose tests may count them; it has no name.
    #[doc(hidden)]
    as_found: bool = false;
    /// `true` if a task that has read-locked a reader-writer lock cannot read-lock it again. For drop-ins of tools in which
    /// it cannot; it has no name.
    #[doc(hidden)]
    reads_once: bool = false;
    /// `true` if an execution may use objects of an earlier one, in the state in which that left them. For drop-ins of
    /// tools that find tests which depend on that; it has no name.
    #[doc(hidden)]
    keeps_objects: bool = false;
}
}

/// The form of the setting `monitors`.
const MONITORS: &str = "names or paths separated by `;`, each with its arguments after a `:`, added to those on by default; \
                        `-NAME` removes one, `none` removes all; or `default`";

/// The values of the setting `environment`.
const ENVIRONMENT: &str = "`adversarial` or `calm`; or members to change: `spurious_wakeups=1`, `timeouts=1`, `weak_failures=1`, \
                           `try_lock_failures=0`, `notify_any=true`, `arc_counts=true`, `address_reuse=0`, `stale_reads=0`, \
                           `seed=0`";
const ADVERSARIAL: &str = "adversarial";
const CALM: &str = "calm";

/// Parses a seed, and the number of the first execution if one is given: `7`, `7/123`.
fn seed(text: &str) -> Result<(u64, Option<u64>), String> {
    let Some((seed, first)) = text.split_once('/') else {
        return Ok((number(text)?, None));
    };
    match (number(seed.trim()), number::<NonZero<u64>>(first.trim())) {
        (Ok(seed), Ok(first)) => Ok((seed, Some(first.get()))),
        _ => Err(format!(
            "`{text}` is not a seed: give a number, or `SEED/FIRST` as in `7/123`"
        )),
    }
}

/// Returns the setting of this name.
///
/// # Errors
/// If there is none; the text suggests another one if possible.
pub(super) fn find(name: &str) -> Result<&'static Setting, String> {
    find_or(name, &[])
}

/// Returns the setting of this name, where these words could be meant, too.
pub(super) fn find_or(name: &str, others: &[&str]) -> Result<&'static Setting, String> {
    if let Some(setting) = Setting::named(name) {
        return Ok(setting);
    }
    if let Some(problem) = instead_of(name) {
        return Err(problem);
    }
    let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    let hint = did_you_mean(name, known.iter().chain(others).copied());
    Err(format!(
        "there is no such setting; {hint}there are: {}",
        known.join(", ")
    ))
}

/// Returns the text that says what to give instead of a setting that there once was; `None` if there was none of this name.
pub(super) fn instead_of(name: &str) -> Option<String> {
    let mut former = SETTINGS.iter().flat_map(Setting::formerly);
    let (_, instead) = former.find(|(former, _)| *former == name)?;
    Some(format!("there is no setting of this name: {instead}"))
}
