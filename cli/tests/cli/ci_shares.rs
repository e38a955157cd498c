//! The files of docs/ci are YAML. Their commands, run as a runner or a pod would run them, explore every
//! share once and merge the reports. The guide includes the whole files (docs/guide/src/shares.md, docs/guide/src/pool.md).
//!
//! A program of the corpus, whose shares were explored before, takes the place of the project's tests.

use crate::{Ran, command, run};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The number of shares in both files.
const TOTAL: u32 = 8;

/// The stand-in for `cargo test`: it writes the report of the share that the variables name.
const SCRIPT: &str = "case \"$INTERMEZZO_PARTITION\" in\n\
    auto/8) number=$((JOB_COMPLETION_INDEX + 1));;\n\
    */8) number=${INTERMEZZO_PARTITION%/8};;\n\
    *) exit 1;;\n\
    esac\n\
    test \"$INTERMEZZO_STRATEGY $INTERMEZZO_REDUCTION $INTERMEZZO_KEEP_GOING\" = 'dfs dpor true' || exit 1\n\
    cp \"share-$number\" \"$INTERMEZZO_REPORTS/project-test.json\"\n";

/// A YAML value, limited to the forms that these files use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Yaml {
    Text(String),
    List(Vec<Yaml>),
    Map(Vec<(String, Yaml)>),
}

impl Yaml {
    pub(crate) fn at(&self, path: &[&str]) -> &Yaml {
        path.iter()
            .fold(self, |value, name| match (value, name.parse::<usize>()) {
                (Yaml::List(list), Ok(at)) => &list[at],
                (Yaml::Map(map), _) => {
                    let found = map.iter().find(|(key, _)| key == name);
                    &found.unwrap_or_else(|| panic!("there is no {name} in {map:?}")).1
                }
                _ => panic!("{path:?} leads nowhere"),
            })
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Yaml::Text(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }

    pub(crate) fn list(&self) -> &[Yaml] {
        match self {
            Yaml::List(list) => list,
            other => panic!("{other:?} is no list"),
        }
    }

    /// Returns the commands of the steps of a job.
    fn commands(&self) -> Vec<&str> {
        let run = |step: &'_ Yaml| match step {
            Yaml::Map(map) => map.iter().any(|(key, _)| key == "run"),
            _ => false,
        };
        let steps = self.at(&["steps"]).list().iter();
        steps
            .filter(|step| run(step))
            .map(|step| step.at(&["run"]).text())
            .collect()
    }
}

/// The lines of a file that are neither empty nor comments: the number of blanks before each, and the rest.
type Lines = Vec<(usize, String)>;

/// Reads a file that may have several values, each after a line of its own.
pub(crate) fn read_all(name: &str) -> Vec<Yaml> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs/ci")
        .join(name);
    fs::read_to_string(path)
        .unwrap()
        .split("\n---\n")
        .map(parsed)
        .collect()
}

/// Returns the commands of the containers of a file with a pool: the worker's, and the run's.
pub(crate) fn of_pool(name: &str) -> [String; 2] {
    let all = read_all(name);
    ["worker", "explore"].map(|wanted| match &all[..] {
        [compose] => compose.at(&["services", wanted, "command"]).text().to_owned(),
        manifests => {
            let one = manifests
                .iter()
                .find(|one| one.at(&["metadata", "name"]).text() == wanted);
            let container = one.unwrap().at(&["spec", "template", "spec", "containers", "0"]);
            container.at(&["command", "2"]).text().to_owned()
        }
    })
}

fn parsed(text: &str) -> Yaml {
    let mut lines: Lines = Vec::new();
    for line in text.lines() {
        let rest = line.trim_start();
        assert!(!line.contains('\t') && line.trim_end() == line, "{line:?}");
        let mut indent = line.len() - rest.len();
        if rest.is_empty() || rest.starts_with('#') {
            continue;
        }
        // In `- name: a`, a map that is further to the right follows the dash.
        let mut rest = rest;
        while let Some(item) = rest.strip_prefix("- ") {
            lines.push((indent, "-".into()));
            indent += 2;
            rest = item;
        }
        lines.push((indent, rest.into()));
    }
    let mut at = 0;
    let value = block(&lines, &mut at);
    assert_eq!(
        at,
        lines.len(),
        "a line is not where it belongs: {:?}",
        lines.get(at)
    );
    value
}

fn scalar(text: &str) -> Yaml {
    match text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        Some(list) => Yaml::List(list.split(',').map(|one| Yaml::Text(one.trim().into())).collect()),
        None => Yaml::Text(text.into()),
    }
}

fn block(lines: &Lines, at: &mut usize) -> Yaml {
    let indent = lines[*at].0;
    let (mut list, mut map) = (Vec::new(), Vec::new());
    while *at < lines.len() && lines[*at].0 == indent {
        let line = &lines[*at].1;
        *at += 1;
        if line == "-" {
            list.push(block(lines, at));
            continue;
        }
        let Some((key, value)) = line
            .split_once(':')
            .filter(|(key, value)| !key.contains(' ') && (value.is_empty() || value.starts_with(' ')))
        else {
            return scalar(line);
        };
        let value = match value.trim() {
            "" => block(lines, at),
            value => scalar(value),
        };
        assert!(map.iter().all(|(known, _)| known != key), "{key} is there twice");
        map.push((key.to_owned(), value));
    }
    match list.is_empty() {
        true => Yaml::Map(map),
        false => Yaml::List(list),
    }
}

fn read(name: &str) -> Yaml {
    read_all(name).remove(0)
}

/// Makes a directory with the reports that the stand-in writes.
fn project() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for number in 1..=TOTAL {
        let share = format!("{number}/{TOTAL}");
        let flags = [
            "corpus",
            "run",
            "counter",
            "--set",
            "tasks=3",
            "--reduction",
            "dpor",
            "--keep-going",
        ];
        let ran = run(&[&flags[..], &["--partition", &share, "--json"]].concat());
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        fs::write(
            directory.path().join(format!("share-{number}")),
            report.to_string(),
        )
        .unwrap();
    }
    fs::write(directory.path().join("test"), SCRIPT).unwrap();
    directory
}

/// Runs a command line of `cargo intermezzo`, with these variables.
fn run_line(directory: &Path, line: &str, variables: &[(&str, String)]) -> Ran {
    let arguments: Vec<String> = line
        .strip_prefix("cargo intermezzo ")
        .unwrap_or_else(|| panic!("{line} is no command of ours"))
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut command = command(directory, &arguments);
    command.env("CARGO", "sh");
    command.envs(variables.iter().map(|(name, value)| (*name, value.as_str())));
    Ran::of(&mut command)
}

#[track_caller]
fn covers_everything(directory: &Path, merge: &str) {
    let ran = run_line(directory, &format!("{merge} --json"), &[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let value: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["reports"][0]["coverage"]["kind"], "exhaustive");
}

#[test]
fn the_workflow_explores_each_share_once_and_merges() {
    let workflow = read("github-shares.yml");
    let (explore, merge) = (workflow.at(&["jobs", "explore"]), workflow.at(&["jobs", "merge"]));
    assert_eq!(merge.at(&["needs"]).text(), "explore");
    let directory = project();
    let numbers = explore.at(&["strategy", "matrix", "share"]).list();
    assert_eq!(numbers.len(), TOTAL as usize);
    for number in numbers {
        for line in explore.commands() {
            if line.starts_with("cargo intermezzo ") {
                let line = line.replace("${{ matrix.share }}", number.text());
                let ran = run_line(directory.path(), &line, &[]);
                assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
            }
        }
    }
    let last = merge.commands().pop().unwrap();
    covers_everything(directory.path(), last);
}

#[test]
fn the_job_explores_each_share_once() {
    let job = read("kubernetes-shares.yaml");
    assert_eq!(job.at(&["spec", "completionMode"]).text(), "Indexed");
    assert_eq!(job.at(&["spec", "completions"]).text(), TOTAL.to_string());
    let container = job.at(&["spec", "template", "spec", "containers", "0"]);
    let words = container.at(&["command"]).list();
    assert_eq!((words[0].text(), words[1].text()), ("sh", "-c"));
    let mount = container.at(&["volumeMounts", "0", "mountPath"]).text();
    let directory = project();
    for index in 0..TOTAL {
        let line = words[2]
            .text()
            .replace("$JOB_COMPLETION_INDEX", &index.to_string());
        let line = line.replace(mount, "shares");
        let variables = [("JOB_COMPLETION_INDEX", index.to_string())];
        let ran = run_line(directory.path(), &line, &variables);
        assert_eq!(ran.code, 0, "{line}: {}", ran.stderr);
    }
    covers_everything(directory.path(), "cargo intermezzo merge shares");
}

/// Both files of a pool have the same commands, and servers at the commands' addresses. The commands are run in
/// `pool.rs`, if a server is installed.
#[test]
fn the_files_of_a_pool_agree() {
    let (compose, manifests) = (read_all("pool-compose.yaml"), read_all("kubernetes-pool.yaml"));
    let commands = of_pool("pool-compose.yaml");
    assert_eq!(commands, of_pool("kubernetes-pool.yaml"));
    let services = compose[0].at(&["services"]);
    let arguments = services.at(&["nats", "command"]);
    assert_eq!(arguments.list()[0].text(), "-js");
    for wanted in ["worker", "explore"] {
        let needs = services.at(&[wanted, "depends_on"]).list();
        assert_eq!(needs[0].text(), "nats");
    }
    let named = |kind: &str, name: &str| {
        let is_it =
            |one: &&Yaml| (one.at(&["kind"]).text(), one.at(&["metadata", "name"]).text()) == (kind, name);
        manifests
            .iter()
            .find(is_it)
            .unwrap_or_else(|| panic!("there is no {kind} {name}"))
    };
    let (server, service) = (named("Deployment", "nats"), named("Service", "nats"));
    let container = server.at(&["spec", "template", "spec", "containers", "0"]);
    assert_eq!(container.at(&["args"]), arguments);
    let port = service.at(&["spec", "ports", "0", "port"]).text();
    assert_eq!(container.at(&["ports", "0", "containerPort"]).text(), port);
    for name in ["nats", "worker"] {
        let spec = named("Deployment", name).at(&["spec"]);
        let labels = spec.at(&["template", "metadata", "labels"]);
        assert_eq!(spec.at(&["selector", "matchLabels"]), labels);
    }
    assert_eq!(
        service.at(&["spec", "selector"]),
        server.at(&["spec", "selector", "matchLabels"])
    );
    named("Job", "explore");
    for line in commands {
        assert!(line.contains(&format!("--pool nats://nats:{port}/")), "{line}");
        // The address cannot be reached. An error about a wrong flag would have another message.
        let line = line.replace("nats://nats:4222", "nats://127.0.0.1:1");
        let directory = tempfile::tempdir().unwrap();
        crate::stand_in::install(directory.path());
        let ran = run_line(directory.path(), &line, &[]);
        let understood = ["cannot connect to ", "built without pools"];
        assert!(
            understood.iter().any(|says| ran.stderr.contains(says)),
            "{line}: {}",
            ran.stderr
        );
    }
}
