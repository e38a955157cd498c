//! Reads the reports that the tests of a project wrote.

use super::refusal::Refusal;
use crate::files::{self, Kind};
use crate::output;
use crate::problem::Problem;
use crate::view;
use anstyle::AnsiColor;
use intermezzo::refinement::REFINEMENT_FORMAT;
use intermezzo::report::names::in_text;
use intermezzo::report::{TOKEN_MAX, VarNames, covered};
use intermezzo::{
    BreakpointFigures, Coverage, Environment, FindingDetail, Limit, NamedPlace, Schedule, TestBinary,
    TextStyle, Verbosity, Verdict, WeakMemory,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// The name of the format of explorations' reports.
const FORMAT: &str = "intermezzo-report/1";

/// The fields of a report that are read; the rest is passed on unchanged.
pub(crate) struct ProjectReport {
    /// The name of its file, without the extension.
    name: String,
    /// The whole report, as it was written.
    pub(crate) text: Box<RawValue>,
    pub(crate) program: String,
    /// The package and the target of the test, as far as they are known.
    pub(crate) binary: TestBinary,
    /// The test's name, with its package and target if another report has a test of the same name.
    pub(super) shown_name: String,
    /// `true` if the test declares an expected finding, and had it.
    pub(super) expected_finding: bool,
    pub(super) verdict: Verdict,
    pub(crate) executions: u64,
    /// `true` if it fails only because of findings that the project's baseline lists.
    pub(super) known: bool,
    /// Seconds that the exploration took, if the report says so.
    pub(super) seconds: Option<f64>,
    pub(super) coverage: Coverage,
    pub(super) weak_memory: Option<WeakMemory>,
    pub(super) limits: Vec<Limit>,
    pub(crate) findings: Vec<FindingJson>,
    notes: Vec<String>,
    /// The description of the search.
    search: Vec<String>,
    pub(crate) breakpoints: Vec<BreakpointFigures>,
    /// `true` if it is the report of a refinement test, whose schedules do not name the test.
    pub(super) refinement: bool,
    /// The arguments that a replay needs in addition to the token, each quoted for a shell.
    replay_with: Vec<String>,
    /// For a refinement test: `true` if a schedule was replayed.
    pub(super) replayed: bool,
    /// For a refinement test: the test's path in its crate, if it is known.
    test: Option<String>,
}

#[derive(Deserialize)]
struct ReportJson {
    program: String,
    #[serde(default)]
    package: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    expected_finding: bool,
    verdict: String,
    executions: u64,
    elapsed_seconds: Option<f64>,
    coverage: Coverage,
    weak_memory: Option<WeakMemory>,
    #[serde(default)]
    limits: Vec<Limit>,
    findings: Vec<FindingJson>,
    notes: Vec<String>,
    #[serde(default)]
    breakpoints: Vec<BreakpointFigures>,
    /// The description of the search; reports of refinement tests have many searches.
    strategy: Option<String>,
    reduction: Option<String>,
    seed: Option<u64>,
    environment: Option<Environment>,
    #[serde(default)]
    replay_with: Vec<String>,
    #[serde(default)]
    replayed: bool,
    test: Option<String>,
}

impl ReportJson {
    fn search(&self) -> Vec<String> {
        let mut search = Vec::new();
        if let (Some(strategy), Some(reduction), Some(seed)) = (&self.strategy, &self.reduction, self.seed) {
            search.push(format!(
                "search: strategy {strategy}, reduction {reduction}, seed {seed}"
            ));
        }
        search.extend(
            self.environment
                .iter()
                .map(|environment| format!("environment: {environment}")),
        );
        search
    }
}

/// The fields of a finding that are read.
#[derive(Deserialize)]
pub(crate) struct FindingJson {
    pub(crate) kind: String,
    #[serde(default)]
    severity: String,
    message: String,
    #[serde(default)]
    suggestion: Option<String>,
    schedule: String,
    #[serde(default)]
    pub(crate) count: u64,
    #[serde(default)]
    pub(crate) places: Vec<NamedPlace>,
    #[serde(default)]
    names: VarNames,
    /// The finding as data. Reports of objects have none.
    #[serde(default)]
    pub(super) detail: Option<FindingDetail>,
}

impl FindingJson {
    /// `true` if it is more than a warning.
    pub(crate) fn is_error(&self) -> bool {
        self.severity != "warning"
    }

    /// Returns its kind, and the first line of its message. Variables have the names that the source gives them.
    pub(super) fn headline(&self) -> String {
        let first = self.message.lines().next().unwrap_or_default();
        format!("{}: {}", self.kind, in_text(first, &self.names))
    }
}

#[derive(Deserialize)]
struct Header {
    format: String,
}

/// Reads the files that tests wrote into this directory, in order of their names: reports, and reasons why a test has none.
pub(super) fn read_all(directory: &Path) -> Result<(Vec<ProjectReport>, Vec<Refusal>), Problem> {
    let help = "run the command again";
    let trouble = |error| Problem::file("read the reports in", directory, &error, help);
    let (mut reports, mut refusals) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(directory).map_err(trouble)? {
        let path = entry.map_err(trouble)?.path();
        if path.extension() != Some(OsStr::new("json")) {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|error| Problem::file("read", &path, &error, help))?;
        if let Some(refusal) = Refusal::read(&text) {
            refusals.push(refusal);
            continue;
        }
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        reports.push(ProjectReport::parse(name, text)?);
    }
    reports.sort_by(|left, right| {
        let key = |report: &ProjectReport| {
            let TestBinary { package, target } = report.binary.clone();
            (report.program.clone(), package, target, report.name.clone())
        };
        key(left).cmp(&key(right))
    });
    for at in 0..reports.len() {
        let ProjectReport { program, binary, .. } = &reports[at];
        let like = |other: &ProjectReport| other.program == *program && other.binary != *binary;
        if !binary.is_unknown() && reports.iter().any(like) {
            reports[at].shown_name = format!("{program} ({binary})");
        }
    }
    refusals.sort_by(|left, right| left.program.cmp(&right.program));
    Ok((reports, refusals))
}

impl ProjectReport {
    pub(super) fn parse(name: String, text: String) -> Result<ProjectReport, Problem> {
        let cut = |error| {
            Problem::usage(format!(
                "the report {name:?} is cut or altered ({error}): run the tests again"
            ))
        };
        let header: Header = serde_json::from_str(&text).map_err(cut)?;
        let refinement = header.format == REFINEMENT_FORMAT;
        if header.format != FORMAT && !refinement {
            return Err(Problem::usage(format!(
                "the report {name:?} has the format {:?}, but {FORMAT:?} is needed: \
                 use a cargo-intermezzo of the version of intermezzo that the project depends on",
                header.format
            )));
        }
        let report: ReportJson = serde_json::from_str(&text).map_err(cut)?;
        let verdict = match report.verdict.as_str() {
            "pass" => Verdict::Pass,
            "fail" => Verdict::Fail,
            _ => Verdict::Inconclusive,
        };
        let search = report.search();
        Ok(ProjectReport {
            text: RawValue::from_string(text.trim().to_owned()).map_err(cut)?,
            name,
            shown_name: report.program.clone(),
            program: report.program,
            binary: TestBinary {
                package: report.package,
                target: report.target,
            },
            expected_finding: report.expected_finding,
            verdict,
            executions: report.executions,
            known: false,
            seconds: report.elapsed_seconds,
            coverage: report.coverage,
            weak_memory: report.weak_memory,
            limits: report.limits,
            findings: report.findings,
            notes: report.notes,
            search,
            breakpoints: report.breakpoints,
            refinement,
            replay_with: report.replay_with,
            replayed: report.replayed,
            test: report.test,
        })
    }

    /// `true` if it passes, and has a warning.
    pub(super) fn warns(&self) -> bool {
        self.verdict.is_pass() && self.findings.iter().any(|finding| !finding.is_error())
    }

    /// Returns the path in its crate of a test of an object. Its report is named after the object.
    pub(super) fn test_of_object(&self) -> Option<&str> {
        self.test.as_deref().filter(|_| self.refinement)
    }

    /// Returns the word for its verdict, and the word's colour.
    pub(super) fn word(&self) -> (&'static str, AnsiColor) {
        match self.known {
            true => ("known", AnsiColor::Yellow),
            false => output::word(self.verdict),
        }
    }

    /// Returns the report in a line, and for each finding its description and the command that replays it.
    pub(super) fn summary(&self, style: &TextStyle) -> String {
        let mut line = format!("{}: ", self.shown_name);
        if !matches!(self.coverage, Coverage::Replayed { .. }) {
            line.push_str(&output::count(self.executions, "execution"));
            line.push_str("; ");
        }
        let (any, passes) = (!self.findings.is_empty(), self.verdict.is_pass());
        line.push_str(&covered(
            &self.coverage,
            self.weak_memory.as_ref(),
            &self.limits,
            any,
            passes,
        ));
        let mut text = output::beside(self.word(), &line, style);
        text.push_str(&self.described(style));
        if style.detail == Verbosity::Quiet {
            return text;
        }
        let mut say = |line: &str| text.push_str(&output::indented(line, output::BESIDE, style));
        if style.detail == Verbosity::Verbose {
            for remark in &self.search {
                say(remark);
            }
        }
        for note in &self.notes {
            say(&format!("note: {note}"));
        }
        // For a replay the user already has the schedule.
        if !matches!(self.coverage, Coverage::Replayed { .. }) {
            self.next_steps(style, &mut text);
        }
        text
    }

    /// Returns the description of each finding, and the commands that replay them.
    pub(super) fn findings_and_replay(&self, style: &TextStyle) -> String {
        let mut text = self.described(style);
        self.next_steps(style, &mut text);
        text
    }

    /// Returns the description of each finding.
    fn described(&self, style: &TextStyle) -> String {
        let mut text = String::new();
        let mut say = |line: &str| text.push_str(&output::indented(line, output::BESIDE, style));
        for finding in &self.findings {
            let is_warning = finding.severity == "warning";
            let word = match is_warning {
                true => "warning",
                false if self.expected_finding => "expected",
                false => "error",
            };
            // A test that fails prints its errors in full; of a test that passes, cargo shows nothing.
            let most = match is_warning && style.detail != Verbosity::Quiet {
                true => usize::MAX,
                false => 1,
            };
            let message = in_text(&finding.message, &finding.names);
            let mut lines = message.lines().take(most);
            let first = lines.next().unwrap_or_default();
            say(&format!("{word}[{}]: {first}", finding.kind));
            lines.for_each(|line| say(&format!("  {line}")));
            let advice = finding.suggestion.as_ref().filter(|_| most > 1);
            advice.inspect(|advice| say(&format!("help: {advice}")));
        }
        text
    }

    /// Adds the commands that replay findings. Several findings may belong to one execution.
    fn next_steps(&self, style: &TextStyle, text: &mut String) {
        let mut schedules: Vec<&str> = Vec::new();
        for finding in &self.findings {
            if !schedules.contains(&finding.schedule.as_str()) {
                schedules.push(&finding.schedule);
            }
        }
        let Some(first) = schedules.first() else { return };
        if self.refinement && self.test.is_none() {
            let how = "replay it, in the test, with the scenario that it shows:";
            text.push_str(&output::indented(how, output::BESIDE, style));
            text.push_str(&output::command(&format!(".replay(\"{first}\")"), style));
            return;
        }
        let is_long = |schedule: &&str| schedule.len() > TOKEN_MAX;
        if schedules.iter().any(is_long) && self.binary.is_program() {
            let how = "the schedule is too long to print; rerun with `--reports DIR` to write it to a file";
            text.push_str(&output::indented(how, output::BESIDE, style));
        } else if schedules.iter().any(is_long) {
            let how = "replay it from a file, as its schedule is long; this writes one into a directory:";
            text.push_str(&output::indented(how, output::BESIDE, style));
            let test = self.program.split_once("::").map_or("", |(_, test)| test);
            text.push_str(&output::command(
                &format!("cargo intermezzo test --reports failures {test}"),
                style,
            ));
        }
        schedules.retain(|schedule| !is_long(schedule));
        let replay =
            |schedule| view::replay(schedule, &self.program, self.test.as_deref(), &self.replay_with);
        let commands: Vec<String> = schedules.into_iter().filter_map(replay).collect();
        if commands.is_empty() {
            return;
        }
        let how = "replay it; with --view page.html it becomes a page:";
        text.push_str(&output::indented(how, output::BESIDE, style));
        for command in commands {
            text.push_str(&output::command(&command, style));
        }
    }

    /// Writes the report, and a schedule file for each finding, into this directory.
    pub(super) fn write(&self, directory: &Path) -> Result<(), Problem> {
        files::write(
            &directory.join(format!("{}.json", self.name)),
            Kind::Report,
            &format!("{}\n", self.text),
        )?;
        for (finding, number) in self.findings.iter().zip(1..) {
            let schedule = Schedule::from_token(&finding.schedule).map_err(|error| {
                Problem::usage(format!(
                    "the schedule of finding {number} of {}: {error}",
                    self.program
                ))
            })?;
            let text = schedule.to_json(Some((&finding.kind, &finding.message)));
            let path = directory.join(format!("{}.{number}.schedule.json", self.name));
            files::write(&path, Kind::Schedule, &text)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use intermezzo::Explorer;

    /// The report of a refinement test can be read.
    #[test]
    fn a_refinement_report_is_read_back() {
        use intermezzo::sync::Mutex;
        let report = intermezzo::refinement::refine(|| Mutex::new(0))
            .name("a counter")
            .op("add", (), |n: &Mutex<u8>, ()| {
                let before = *n.lock().unwrap();
                *n.lock().unwrap() = before + 1;
                before
            })
            .run();
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a-counter.json"), report.to_json()).unwrap();
        let (reports, _) = read_all(directory.path()).unwrap();
        let summary = reports[0].summary(&TextStyle::default());
        assert_eq!(reports[0].verdict, Verdict::Fail);
        assert!(
            summary.contains("a counter") && summary.contains(".replay(\"imz1."),
            "{summary}"
        );
        let out = tempfile::tempdir().unwrap();
        reports[0].write(out.path()).unwrap();
        let schedule = Schedule::read(&out.path().join("a-counter.1.schedule.json")).unwrap();
        assert_eq!(schedule, report.failure.unwrap().schedule);
    }

    /// A replay is reported as a replay, and not as a search: with its outcome, and with the departures from the schedule.
    #[test]
    fn a_replay_is_reported_as_one() {
        let explorer = || Explorer::new().program("a::b");
        let found = explorer().explore(|| assert!(intermezzo::choose(2) == 0));
        let schedule = &found.findings()[0].schedule;
        let replay = |test: fn()| explorer().replay(schedule.clone()).explore(test);
        let fails = replay(|| assert!(intermezzo::choose(2) == 0));
        let passes = replay(|| _ = intermezzo::choose(2));
        let departs = replay(|| _ = intermezzo::choose(3));
        for (report, words, json) in [
            (
                fails,
                "fail          a::b: the schedule was replayed as recorded\n              error[assertion]",
                r#"{"kind":"replayed","as_recorded":true}"#,
            ),
            (
                passes,
                "pass          a::b: the schedule was replayed as recorded, and nothing was found\n",
                r#"{"kind":"replayed","as_recorded":true}"#,
            ),
            (
                departs,
                "inconclusive  a::b: the schedule was replayed, and went another way than recorded\n              error[divergence]",
                r#"{"kind":"replayed","as_recorded":false}"#,
            ),
        ] {
            let read = ProjectReport::parse("a--b".into(), report.to_json()).unwrap();
            for detail in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
                let summary = read.summary(&TextStyle::default().detail(detail));
                assert!(summary.starts_with(words), "{summary}");
                let coverage = words.lines().next().unwrap().split_once(": ").unwrap().1;
                let text = report.text(&TextStyle::default().detail(detail));
                assert!(text.contains(&format!(": {coverage}\n")), "{text}");
            }
            let report: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
            assert_eq!(
                report["coverage"],
                serde_json::from_str::<serde_json::Value>(json).unwrap()
            );
        }
    }

    /// cargo shows no output of a test that passes, so a warning is shown completely here.
    #[test]
    fn warnings_are_shown_completely() {
        let report = Explorer::new().program("a::b").explore(|| ());
        let mut json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        json["findings"] = serde_json::json!([
            {"kind": "misuse", "severity": "warning", "message": "one\ntwo\nthree", "suggestion": "four", "schedule": ""},
        ]);
        let read = ProjectReport::parse("a--b".into(), json.to_string()).unwrap();
        let summary = |detail| read.summary(&TextStyle::default().detail(detail));
        let whole = "\n              warning[misuse]: one\n                two\n                three\n              help: four\n";
        let normal = summary(Verbosity::Normal);
        assert!(normal.contains(whole), "{normal}");
        let quiet = summary(Verbosity::Quiet);
        assert!(
            quiet.contains("one") && !quiet.contains("two") && !quiet.contains("four"),
            "{quiet}"
        );
    }

    /// The fields that are read are those that `Report::to_json` writes.
    #[test]
    fn a_report_is_read_back() {
        let test = || assert!(intermezzo::choose(2) == 0, "one\ntwo");
        let report = Explorer::new().program("a::b").keep_going(true).explore(test);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a--b.json");
        fs::write(&path, report.to_json()).unwrap();
        fs::write(directory.path().join("other.txt"), "not a report").unwrap();

        let (reports, _) = read_all(directory.path()).unwrap();
        let [read] = &reports[..] else {
            panic!("{} reports", reports.len())
        };
        assert_eq!(
            (read.program.as_str(), read.verdict, &read.coverage),
            ("a::b", Verdict::Fail, report.coverage())
        );
        let token = report.findings()[0].schedule.token();
        let summary = read.summary(&TextStyle::default());
        assert!(
            summary.starts_with("fail          a::b: 2 executions; every schedule was run\n"),
            "{summary}"
        );
        assert!(
            summary.contains(": one\n") && !summary.contains("two"),
            "{summary}"
        );
        assert!(
            summary.contains(&format!("cargo intermezzo replay {token}\n")),
            "{summary}"
        );

        let quiet = read.summary(&TextStyle::default().detail(Verbosity::Quiet));
        assert!(quiet.lines().count() == 2 && !quiet.contains("imz1."), "{quiet}");
        let verbose = read.summary(&TextStyle::default().detail(Verbosity::Verbose));
        for says in [
            "search: strategy dfs, reduction none, seed 0",
            "environment: in each task at most 1",
        ] {
            assert!(verbose.contains(says) && !summary.contains(says), "{verbose}");
        }

        let out = tempfile::tempdir().unwrap();
        read.write(out.path()).unwrap();
        assert_eq!(
            fs::read_to_string(out.path().join("a--b.json")).unwrap(),
            report.to_json()
        );
        let schedule = Schedule::read(&out.path().join("a--b.1.schedule.json")).unwrap();
        assert_eq!(schedule, report.findings()[0].schedule);

        for (text, says) in [
            ("{\"format\": 1", "cut or altered"),
            ("{\"format\": \"x/1\"}", "cargo-intermezzo of the version"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read_all(directory.path()).err().unwrap().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
