//! `view`, and the flag `--view` of other commands.

use crate::{Ran, command, run, run_in, token};
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Runs with recordings requested by the environment.
fn run_recording(directory: &Path, arguments: &[&str]) -> Ran {
    Ran::of(command(directory, arguments).env("INTERMEZZO_RECORD", "1"))
}

/// Returns a directory with the report of a deadlock, `report.json`, with or without recordings.
fn with_report(records: bool) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let arguments = ["corpus", "run", "abba", "--json"];
    let ran = match records {
        true => run_recording(directory.path(), &arguments),
        false => run_in(directory.path(), &arguments),
    };
    let text = ran.ends_with(1).stdout;
    assert_eq!(text.contains("intermezzo-recording/1"), records);
    fs::write(directory.path().join("report.json"), text).unwrap();
    directory
}

/// Returns the contents of a page.
pub(super) fn contents(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"contents\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_program_of_the_corpus_becomes_a_page() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.html");
    let out = page.to_str().unwrap();
    // The second run overwrites the page of the first.
    for _ in 0..2 {
        let ran = run(&["corpus", "run", "work_stealing_queue", "--view", out]).ends_with(1);
        assert!(
            ran.stderr.starts_with("wrote ") && ran.stderr.contains("1 finding, 2 executions"),
            "{}",
            ran.stderr
        );
    }
    let shown = contents(&fs::read_to_string(&page).unwrap());
    let finding = &shown["reports"][0]["findings"][0];
    let executions = finding["executions"].as_array().unwrap();
    assert_eq!(
        (&executions[0]["passes"], &executions[1]["passes"]),
        (&false.into(), &true.into())
    );
    let lines = &shown["sources"]["corpus/src/programs/work_stealing_queue.rs"]["lines"];
    assert!(lines.as_object().unwrap().len() > 20, "{}", shown["sources"]);

    let schedule = finding["schedule"].as_str().unwrap();
    run(&["replay", schedule, "--view", out]).ends_with(1);
    let again = contents(&fs::read_to_string(&page).unwrap());
    let of = |shown: &Value| shown["reports"][0]["findings"][0]["executions"][0]["recording"].clone();
    assert_eq!(of(&shown), of(&again), "a replay records the same");
}

#[test]
fn a_report_becomes_every_format() {
    let directory = with_report(true);
    for (format, file, begins) in [
        ("html", "report.html", "<!doctype html>"),
        ("perfetto", "report.perfetto.json", "{\"otherData\""),
        ("shiviz", "report.shiviz.log", "(?<event>"),
        ("sarif", "report.sarif", "{\n  \"version\": \"2.1.0\""),
        ("junit", "report.junit.xml", "<?xml version=\"1.0\""),
        ("dot", "report.dot", "// made by cargo intermezzo view"),
    ] {
        let arguments = ["view", "report.json", "--format", format, "--json"];
        let said = run_in(directory.path(), &arguments).ends_with(0).json();
        let text = fs::read_to_string(directory.path().join(file)).unwrap();
        assert!(text.starts_with(begins), "{text:.80}");
        assert_eq!((&said["file"], &said["format"]), (&file.into(), &format.into()));
        assert_eq!(said["bytes"], text.len());
        // An earlier output is overwritten, and the output to stdout has the same bytes.
        run_in(directory.path(), &arguments).ends_with(0);
        let printed = run_in(
            directory.path(),
            &["view", "report.json", "--format", format, "--out", "-"],
        );
        assert_eq!(printed.ends_with(0).stdout, text);
        // A file of another program is only overwritten with `--force`.
        fs::write(directory.path().join(file), "my diary").unwrap();
        run_in(directory.path(), &arguments[..4]).refused(&[file, "left alone", "--force"]);
        assert_eq!(
            fs::read_to_string(directory.path().join(file)).unwrap(),
            "my diary"
        );
        // Other commands do not have this flag.
        let with_page = ["corpus", "run", "racy", "--view", file];
        run_in(directory.path(), &with_page).refused(&[file, "left alone; give another path, or remove it"]);
        run_in(directory.path(), &[&arguments[..4], &["--force"]].concat()).ends_with(0);
        assert_eq!(fs::read_to_string(directory.path().join(file)).unwrap(), text);
    }
}

#[test]
fn a_directory_of_reports_becomes_a_list_of_tests() {
    let directory = tempfile::tempdir().unwrap();
    let reports = directory.path().join("all reports");
    fs::create_dir(&reports).unwrap();
    for (program, code) in [("counter", 0), ("abba", 1)] {
        let ran = run_in(directory.path(), &["corpus", "run", program, "--json"]).ends_with(code);
        fs::write(reports.join(format!("{program}.json")), ran.stdout).unwrap();
    }
    // These files in the directory are not reports.
    fs::write(reports.join("abba.1.schedule.json"), "{}").unwrap();
    fs::write(reports.join("notes.txt"), "mine").unwrap();
    let ran = run_in(directory.path(), &["view", "all reports"]).ends_with(0);
    assert!(
        ran.stdout.starts_with("wrote all reports.html") && ran.stdout.contains("2 reports, 1 finding"),
        "{}",
        ran.stdout
    );
    let page = fs::read_to_string(directory.path().join("all reports.html")).unwrap();
    let shown = contents(&page);
    let told = shown["reports"].as_array().unwrap().iter().map(|report| {
        let text = |name: &str| report[name].as_str().unwrap().to_owned();
        (text("program"), text("verdict"), text("view"))
    });
    let row = |program: &str, verdict: &str| {
        let view = format!("cargo intermezzo view 'all reports/{program}.json'");
        (format!("corpus::{program}"), verdict.to_owned(), view)
    };
    assert_eq!(
        told.collect::<Vec<_>>(),
        [row("abba", "fail"), row("counter", "pass")]
    );
    fs::write(reports.join("cut.json"), "{").unwrap();
    run_in(directory.path(), &["view", "all reports"]).refused(&["cut.json", "was cut off"]);
}

#[test]
fn missing_data_is_not_shown() {
    let directory = with_report(false);
    run_in(directory.path(), &["view", "report.json"]).ends_with(0);
    let page = fs::read_to_string(directory.path().join("report.html")).unwrap();
    let finding = &contents(&page)["reports"][0]["findings"][0];
    assert_eq!(finding["executions"][0]["partial"], true);
    for format in ["shiviz", "dot"] {
        run_in(directory.path(), &["view", "report.json", "--format", format])
            .refused(&["INTERMEZZO_RECORD=1"]);
    }
    assert!(
        token(
            &serde_json::from_str(&fs::read_to_string(directory.path().join("report.json")).unwrap())
                .unwrap()
        )
        .starts_with("imz1.")
    );
}

#[test]
fn refusals_say_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let in_it = |arguments: &[&str]| run_in(directory.path(), arguments);
    in_it(&["view", "none.json"]).refused(&["none.json", "--reports DIR"]);
    in_it(&["view", "."]).refused(&["is a directory without reports", "--reports DIR"]);
    fs::write(
        directory.path().join("cut.json"),
        "{\"format\": \"intermezzo-report/1\",",
    )
    .unwrap();
    in_it(&["view", "cut.json"]).refused(&[
        "cut.json",
        "line 1 column",
        "not JSON, or was cut off",
        "--reports DIR",
    ]);
    fs::write(directory.path().join("bytes.json"), b"{\"\xff").unwrap();
    in_it(&["view", "bytes.json"]).refused(&["bytes.json", "from byte 2"]);
    fs::write(directory.path().join("diary.html"), "my diary").unwrap();
    // Refused before the search rather than after it.
    let arguments = ["corpus", "run", "counter", "--view", "diary.html"];
    in_it(&arguments).refused(&["diary.html", "left alone"]);
    let arguments = ["corpus", "run", "counter", "--view", "none/page.html"];
    in_it(&arguments).refused(&["cannot write \"none/page.html\""]);
    let arguments = ["corpus", "run", "counter", "--schedule-out", "none/s.json"];
    in_it(&arguments).refused(&["cannot write \"none/s.json\""]);
}
