//! The end of a run of `test`: a line for each test, those first that need attention.

use super::cargo::Ran;
use super::known::KnownFindings;
use super::refusal::Refusal;
use super::reports::ProjectReport;
use crate::output;
use anstyle::AnsiColor;
use intermezzo::report::lines;
use intermezzo::{Coverage, Limit, TextStyle, Verbosity, Verdict};
use std::collections::BTreeMap;

/// The largest number of passing tests of one complete coverage that have a line each. More tests share one line.
const ROWS_MAX: usize = 3;

/// The smallest number of columns for a finding's text, even if that makes the line too long.
const SAYS_MIN: usize = 40;

/// The state of a test, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Fails,
    CannotRun,
    Inconclusive,
    /// Its findings are in the baseline.
    Known,
    Warns,
    Passes(Depth),
}

/// The part of the schedules that a passing test has run, in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Depth {
    Some,
    /// Those within a bound on something other than preemptions.
    Within,
    Preemptions(u32),
    Fair,
    All,
    /// The finding that the test declares was found.
    Expected,
}

/// A line of the table.
struct Row {
    word: (&'static str, AnsiColor),
    name: String,
    executions: Option<u64>,
    seconds: Option<f64>,
    says: String,
}

/// Returns the summary of a run.
pub(super) fn summary(ran: &Ran, known: Option<&KnownFindings>, style: &TextStyle) -> String {
    let mut reports: Vec<&ProjectReport> = ran.reports.iter().collect();
    // The sort is stable, so tests of one state stay in order of their names.
    reports.sort_by_key(|report| state(report));
    let mut text = match style.detail {
        Verbosity::Verbose => reports.iter().map(|report| report.summary(style)).collect(),
        _ => table(&reports, ran, style),
    };
    if let Some(known) = known {
        text.push_str(&known.gone_lines(ran, style));
    }
    text.push_str(&counts(ran));
    text
}

/// Returns the table, and below it the limits of the exploration.
fn table(reports: &[&ProjectReport], ran: &Ran, style: &TextStyle) -> String {
    let first = reports.partition_point(|report| state(report) < State::CannotRun);
    let mut lines: Vec<(Row, String)> = Vec::new();
    for report in &reports[..first] {
        lines.push((row(report), details(report, ran, style)));
    }
    for refusal in &ran.refusals {
        lines.push((refused(refusal), String::new()));
    }
    let mut rest = &reports[first..];
    while let Some(report) = rest.first() {
        let alike = rest.partition_point(|other| state(other) == state(report));
        let (these, others) = rest.split_at(alike);
        rest = others;
        let is_whole = state(report) >= State::Passes(Depth::Fair);
        if is_whole && these.len() > ROWS_MAX {
            lines.push((together(these), String::new()));
            continue;
        }
        for report in these {
            lines.push((row(report), details(report, ran, style)));
        }
    }
    let mut text = in_columns(&lines, style);
    if style.detail != Verbosity::Quiet {
        text.push_str(&unexplored(reports, style));
    }
    text
}

fn state(report: &ProjectReport) -> State {
    match report.verdict {
        Verdict::Fail if report.known => State::Known,
        Verdict::Fail => State::Fails,
        Verdict::Inconclusive => State::Inconclusive,
        Verdict::Pass if report.warns() => State::Warns,
        Verdict::Pass => State::Passes(depth(report)),
    }
}

fn depth(report: &ProjectReport) -> Depth {
    match &report.coverage {
        _ if report.expected_finding => Depth::Expected,
        Coverage::Exhaustive => Depth::All,
        Coverage::Bounded {
            preemptions: Some(most),
            delays: None,
            depth: None,
            rank: None,
            ..
        } => Depth::Preemptions(*most),
        Coverage::Bounded {
            preemptions: None,
            delays: None,
            depth: None,
            rank: None,
            reason,
        } => match is_fairness(report, reason.as_deref()) {
            true => Depth::Fair,
            false => Depth::Some,
        },
        Coverage::Bounded { .. } => Depth::Within,
        Coverage::Sampled { .. } | Coverage::Replayed { .. } => Depth::Some,
    }
}

/// `true` if schedules were left out for no other reason than fair scheduling.
fn is_fairness(report: &ProjectReport, reason: Option<&str>) -> bool {
    let mut narrowing = report.limits.iter().filter(|limit| limit.narrows());
    let only = (narrowing.next(), narrowing.next());
    let (Some(fairness @ Limit::Fairness { .. }), None) = only else {
        return false;
    };
    reason == Some(&fairness.to_string())
}

/// Returns the coverage in a word or two.
fn coverage(report: &ProjectReport) -> String {
    let most = |bound: u32, word: &str| format!("at most {}", output::count(bound.into(), word));
    match (depth(report), &report.coverage) {
        (Depth::Expected, _) => "fails, as expected".into(),
        (Depth::All, _) => "every schedule".into(),
        (Depth::Fair, _) => "every fair schedule".into(),
        (Depth::Preemptions(0), _) => "no preemption".into(),
        (Depth::Preemptions(bound), _) => most(bound, "preemption"),
        (
            _,
            Coverage::Bounded {
                delays: Some(bound), ..
            },
        ) => most(*bound, "delay"),
        (
            _,
            Coverage::Bounded {
                depth: Some(bound), ..
            },
        ) => {
            format!("the first {}", output::count((*bound).into(), "choice"))
        }
        (_, Coverage::Bounded { rank: Some(rank), .. }) => rank.to_string(),
        (_, Coverage::Sampled { .. }) => "sampled".into(),
        _ => "some schedules".into(),
    }
}

fn row(report: &ProjectReport) -> Row {
    let errors: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| finding.is_error())
        .collect();
    let says = match (report.verdict, &errors[..]) {
        (Verdict::Pass, _) => coverage(report),
        // The reason why there is no verdict.
        (_, []) => match &report.coverage {
            Coverage::Bounded {
                reason: Some(reason), ..
            } => reason.clone(),
            coverage => coverage.to_string(),
        },
        (_, [first]) => first.headline(),
        (_, [first, others @ ..]) => format!("{}, and {} more", first.headline(), others.len()),
    };
    Row {
        word: report.word(),
        name: report.shown_name.clone(),
        executions: Some(report.executions),
        seconds: report.seconds,
        says,
    }
}

fn refused(refusal: &Refusal) -> Row {
    Row {
        word: ("not run", AnsiColor::Yellow),
        name: refusal.program.clone(),
        executions: None,
        seconds: None,
        // The problem of the whole run, which is printed last, gives the reason.
        says: "cannot be run with its settings".into(),
    }
}

/// Returns the one row of several tests of the same coverage.
fn together(reports: &[&ProjectReport]) -> Row {
    let seconds: Vec<f64> = reports.iter().filter_map(|report| report.seconds).collect();
    Row {
        word: output::word(Verdict::Pass),
        name: output::count(reports.len() as u64, "test"),
        executions: Some(reports.iter().map(|report| report.executions).sum()),
        seconds: (!seconds.is_empty()).then(|| seconds.iter().sum()),
        says: match depth(reports[0]) {
            Depth::Expected => "fail, as expected".into(),
            _ => coverage(reports[0]),
        },
    }
}

/// Returns the findings of a test for which cargo shows no output, because it counts as passed.
fn details(report: &ProjectReport, ran: &Ran, style: &TextStyle) -> String {
    let is_silent = ran.passed || report.verdict.is_pass();
    let concerns = report.warns() || !report.verdict.is_pass() && !report.known;
    match is_silent && concerns && style.detail != Verbosity::Quiet {
        true => report.findings_and_replay(style),
        false => String::new(),
    }
}

fn in_columns(rows: &[(Row, String)], style: &TextStyle) -> String {
    let cells = |row: &Row| {
        let executions = row.executions.map(|count| output::count(count, "execution"));
        let seconds = row.seconds.map(|seconds| match seconds {
            ..10.0 => format!("{seconds:.1} s"),
            _ => format!("{seconds:.0} s"),
        });
        [executions.unwrap_or_default(), seconds.unwrap_or_default()]
    };
    let all: Vec<_> = rows.iter().map(|(row, _)| cells(row)).collect();
    let widest = |column: usize| all.iter().map(|cells| cells[column].len()).max().unwrap_or(0);
    let names = rows.iter().map(|(row, _)| row.name.chars().count());
    let (names, executions, seconds) = (names.max().unwrap_or(0), widest(0), widest(1));
    let mut text = String::new();
    for ((row, details), cells) in rows.iter().zip(&all) {
        let (word, colour) = row.word;
        let room = output::BESIDE - 2;
        let painted = output::painted(word, colour);
        let gap = " ".repeat(room.saturating_sub(word.len()));
        let begin = format!(
            "{gap}  {:names$}  {:>executions$}  {:>seconds$}  ",
            row.name, cells[0], cells[1]
        );
        let left = style.columns().saturating_sub(word.len() + begin.chars().count());
        let says = match style.detail {
            // With `--quiet`, the whole text is shown, because no other output has it.
            Verbosity::Quiet => row.says.clone(),
            _ => lines::cut(&row.says, left.max(SAYS_MIN)),
        };
        text.push_str((painted + &begin + &says).trim_end());
        text.push('\n');
        text.push_str(details);
    }
    text
}

/// Returns the limits of the passing tests, each once.
fn unexplored(reports: &[&ProjectReport], style: &TextStyle) -> String {
    let passing: Vec<&&ProjectReport> = reports.iter().filter(|report| report.verdict.is_pass()).collect();
    // Each sentence, with the tests to which it applies.
    let mut said: Vec<(&str, String, Vec<usize>)> = Vec::new();
    let mut say = |about: &'static str, what: String, test: usize| match said
        .iter_mut()
        .find(|(_, known, _)| *known == what)
    {
        Some((.., tests)) => tests.push(test),
        None => said.push((about, what, vec![test])),
    };
    let mut accesses = 0;
    for (at, report) in passing.iter().enumerate() {
        if report.expected_finding {
            continue;
        }
        if let Coverage::Bounded {
            reason: Some(reason), ..
        } = &report.coverage
        {
            say("not every schedule", reason.clone(), at);
        }
        let weak = match report.weak_memory.as_ref().map(|part| &part.coverage) {
            Some(Coverage::Bounded { reason, .. }) => reason.clone(),
            Some(coverage @ Coverage::Sampled { .. }) => Some(coverage.to_string()),
            _ => None,
        };
        if let Some(why) = weak {
            say("not every schedule under weak memory", why, at);
        }
        for limit in report.limits.iter().filter(|limit| !limit.narrows()) {
            match limit {
                Limit::PlainMemory { accesses: these } => accesses += these,
                _ => say("not explored", limit.to_string(), at),
            }
        }
    }
    let unwatched = |report: &ProjectReport| {
        let mut limits = report.limits.iter();
        limits.any(|limit| matches!(limit, Limit::PlainMemory { .. }))
    };
    let tests: Vec<usize> = (0..passing.len()).filter(|&at| unwatched(passing[at])).collect();
    if !tests.is_empty() {
        said.push(("not explored", Limit::PlainMemory { accesses }.to_string(), tests));
    }
    // Limits of the same tests share a sentence. Each reason has a sentence of its own.
    let mut together: BTreeMap<(&str, Vec<usize>, usize), Vec<String>> = BTreeMap::new();
    for (at, (about, what, tests)) in said.into_iter().enumerate() {
        let alone = if about == "not explored" { 0 } else { at };
        together.entry((about, tests, alone)).or_default().push(what);
    }
    let mut text = String::new();
    for ((about, tests, _), what) in together {
        let which = match &tests[..] {
            all if all.len() == passing.len() => String::new(),
            &[one] => format!(" ({})", passing[one].shown_name),
            several => format!(" ({})", output::count(several.len() as u64, "test")),
        };
        let sentence = format!("{about}{which}: {}", what.join(", "));
        text.push_str(&output::indented(&sentence, 0, style));
    }
    if crate::unmodified::CAN_WATCH && passing.iter().any(|report| would_be_watched(report)) {
        let hint = "--races looks for data races in plain memory as well";
        text.push_str(&output::indented(hint, 0, style));
    }
    text
}

/// `true` if the test is not written for intermezzo, and accesses to plain memory would be seen with `--races`.
fn would_be_watched(report: &ProjectReport) -> bool {
    let has = |is: fn(&Limit) -> bool| report.limits.iter().any(is);
    // If addresses differ between executions, or reference counts are not seen, `--races` does not see memory either.
    has(|limit| matches!(limit, Limit::Unmodified { watched: false, .. }))
        && !has(|limit| matches!(limit, Limit::Addresses { .. } | Limit::ArcCounts))
}

/// Returns the last line, with the number of tests for each verdict.
fn counts(ran: &Ran) -> String {
    let known = ran.reports.iter().filter(|report| report.known).count();
    let of = |verdict| {
        let reports = ran.reports.iter().filter(|report| !report.known);
        reports.filter(|report| report.verdict == verdict).count()
    };
    let mut line = format!(
        "{}: {} passed, {} failed, {} inconclusive",
        output::count(
            ran.reports.len() as u64,
            match ran.of_program {
                true => "explored program",
                false => "explored test",
            }
        ),
        of(Verdict::Pass),
        of(Verdict::Fail),
        of(Verdict::Inconclusive)
    );
    if known > 0 {
        line.push_str(&format!(", {known} with known findings"));
    }
    if !ran.refusals.is_empty() {
        line.push_str(&format!(", {} not run", ran.refusals.len()));
    }
    line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo::sync::Mutex;
    use intermezzo::sync::atomic::{AtomicU32, Ordering::Relaxed};
    use intermezzo::{Explorer, Report, Strategy, thread};

    /// Returns a run of tests with these reports, whose times are as given.
    fn ran(reports: &[(&str, Report, f64)]) -> Ran {
        let read = |(name, report, seconds): &(&str, Report, f64)| {
            let mut json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
            json["program"] = (*name).into();
            json["elapsed_seconds"] = (*seconds).into();
            ProjectReport::parse((*name).to_owned(), json.to_string()).unwrap()
        };
        let reports: Vec<ProjectReport> = reports.iter().map(read).collect();
        let passed = reports.iter().all(|report| report.verdict.is_pass());
        let refusal =
            "{\"format\":\"intermezzo-refusal/1\",\"program\":\"my_queue::drop\",\"reason\":\"why\"}";
        Ran {
            passed,
            of_program: false,
            of_harness: Vec::new(),
            refusals: Vec::from_iter(Refusal::read(refusal).filter(|_| !passed)),
            reports,
        }
    }

    fn two_tasks(locks: u32) {
        let lock = Mutex::new(0);
        let add = || (0..locks).for_each(|_| *lock.lock().unwrap() += 1);
        thread::scope(|scope| {
            scope.spawn(add);
            add();
        });
    }

    fn two_adders(additions: u32) {
        let n = AtomicU32::new(0);
        let add = || (0..additions).for_each(|_| _ = n.fetch_add(1, Relaxed));
        thread::scope(|scope| {
            scope.spawn(add);
            add();
        });
    }

    fn shown(ran: &Ran, detail: Verbosity) -> String {
        summary(ran, None, &TextStyle::default().detail(detail))
    }

    fn crossed_locks() {
        let locks = [Mutex::new(()), Mutex::new(())];
        let take = |first: &Mutex<()>, second: &Mutex<()>| {
            let _first = first.lock().unwrap();
            let _second = second.lock().unwrap();
        };
        thread::scope(|scope| {
            scope.spawn(|| take(&locks[0], &locks[1]));
            take(&locks[1], &locks[0]);
        });
    }

    /// The guide shows this table.
    #[test]
    fn tests_that_need_attention_are_first() {
        let all = [
            (
                "my_queue::close::twice",
                Explorer::new()
                    .strategy(Strategy::auto())
                    .explore(|| two_adders(1)),
                0.0,
            ),
            (
                "my_queue::full",
                Explorer::new().preemptions(0).explore(|| two_tasks(1)),
                12.3,
            ),
            (
                "my_queue::pop::both",
                Explorer::new().executions(2).explore(|| two_tasks(2)),
                0.25,
            ),
            (
                "my_queue::push::slow",
                Explorer::new().executions(0).explore(|| ()),
                0.0,
            ),
            ("my_queue::transfer", Explorer::new().explore(crossed_locks), 0.04),
        ];
        let all = ran(&all);
        let text = shown(&all, Verbosity::Normal);
        let guide = include_str!("../../../docs/guide/src/failure.md");
        assert!(guide.contains(&text), "the guide does not show:\n{text}");
        // cargo has already shown the failure and the command that replays it.
        assert!(!text.contains("cargo intermezzo replay"), "{text}");
        let quiet = shown(&all, Verbosity::Quiet);
        assert_eq!(quiet.lines().count(), 7, "{quiet}");
        let verbose = shown(&all, Verbosity::Verbose);
        assert!(
            verbose.starts_with("fail          my_queue::transfer: "),
            "{verbose}"
        );
        assert!(verbose.contains("cargo intermezzo replay imz1."), "{verbose}");
    }

    #[test]
    fn gaps_in_the_coverage_of_weak_memory_are_shown() {
        let limited = Explorer::new().strategy(Strategy::auto()).executions(8);
        let ran = ran(&[("ring::full", limited.explore(|| two_adders(9)), 0.1)]);
        let text = shown(&ran, Verbosity::Normal);
        assert!(text.contains("not every schedule: "), "{text}");
        assert!(text.contains("not every schedule under weak memory: "), "{text}");
        assert!(
            text.contains("not explored: loads that read later stores"),
            "{text}"
        );
        let verbose = shown(&ran, Verbosity::Verbose);
        let words = verbose.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("; under weak memory: 2 schedules sampled"),
            "{verbose}"
        );
    }

    #[test]
    fn completely_covered_tests_share_a_line() {
        let whole = Explorer::new().explore(|| two_tasks(1));
        let cut = Explorer::new().executions(2).explore(|| two_tasks(2));
        let of = |names: &[&'static str]| {
            let mut all: Vec<_> = names.iter().map(|&name| (name, whole.clone(), 3.5)).collect();
            all.push(("z::cut", cut.clone(), 0.1));
            ran(&all)
        };
        let few = shown(&of(&["a", "b", "c"]), Verbosity::Normal);
        assert_eq!(few.matches("  every schedule\n").count(), 3, "{few}");
        let many = of(&["a", "b", "c", "d"]);
        let text = shown(&many, Verbosity::Normal);
        assert!(
            text.starts_with("pass          z::cut   2 executions  0.1 s  some schedules\n"),
            "{text}"
        );
        let together = "\npass          4 tests  8 executions   14 s  every schedule\n";
        assert!(text.contains(together), "{text}");
        assert!(text.contains("\nnot every schedule (z::cut): "), "{text}");
        assert!(shown(&many, Verbosity::Verbose).contains("pass          d: 2 executions"));
    }

    /// cargo does not show warnings, because the test passes.
    #[test]
    fn warnings_are_shown_completely() {
        let report = Explorer::new().explore(|| ());
        let mut json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        json["findings"] = serde_json::json!([
            {"kind": "misuse", "severity": "warning", "message": "one\ntwo", "schedule": "imz1.x"},
        ]);
        let mut ran = ran(&[]);
        ran.reports = vec![ProjectReport::parse("a".into(), json.to_string()).unwrap()];
        let text = shown(&ran, Verbosity::Normal);
        let whole = "\n              warning[misuse]: one\n                two\n";
        assert!(text.contains(whole) && text.contains("replay imz1.x\n"), "{text}");
    }
}
