//! `test --pool`, `worker` and `pool status`, with their own NATS server. The verdict and the counts are those of one
//! process, even if workers or the server end during the run.
//!
//! A script takes the place of cargo, and another one that of the test binary. It explores a program of the corpus.

#[path = "../../../pool/tests/common/mod.rs"]
mod common;

use crate::{Ran, command};
use common::Server;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The replacement for `cargo`. It builds nothing, and runs the test binary.
const CARGO: &str = "case \"$*\" in\n\
    *--no-run*) echo '{\"package_id\":\"path+file:///p/queue#0.1.0\",\"manifest_path\":\"HERE/Cargo.toml\",\
    \"target\":{\"name\":\"queue\",\"kind\":[\"lib\"]},\"executable\":\"HERE/tests\"}';;\n\
    *) HERE/tests;;\n\
    esac\n";

/// The replacement for the test binary. It notes each of its runs.
const TESTS: &str = "#!/bin/sh\n\
    test \"$1\" = --list && { echo 'works: test'; exit 0; }\n\
    test -n \"$INTERMEZZO_SETTINGS\" && { echo '{\"format\":\"intermezzo-settings/2\",\"program\":\"queue::works\",\
    \"config\":null,\"layers\":[{\"setting\":\"keep_going\",\"value\":\"GOES_ON\",\"from\":\"default\"}]}' \
    > \"$INTERMEZZO_SETTINGS/works.json\"; exit 0; }\n\
    test \"$1\" = works || exit 7\n\
    echo \"$INTERMEZZO_PARTITION\" >> HERE/ran\n\
    BEFORE\n\
    exec \"$CLI\" intermezzo corpus run PROGRAM --minimise 0 --json \
    ${INTERMEZZO_EXECUTIONS:+--executions $INTERMEZZO_EXECUTIONS} \
    ${INTERMEZZO_PARTITION:+--partition $INTERMEZZO_PARTITION} > \"$INTERMEZZO_REPORTS/works.json\"\n";

/// A project, a server, and workers.
struct Scene {
    // Dropped first, because workers must end before the server.
    workers: Vec<Child>,
    server: Server,
    directory: TempDir,
    program: String,
    /// Environment variables of every command.
    environment: Vec<(&'static str, &'static str)>,
}

/// A search that takes some seconds in a debug build, with `--keep-going`.
const LONG: &str = "counter --set tasks=4 --set increments=3 --reduction none --keep-going";

/// A shorter search, of a program with a bug.
const BUGGY: &str = "balance --reduction none --keep-going";

/// Returns the path of a file with a certificate or a key.
macro_rules! certificate {
    ($name:literal) => {
        concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../pool/tests/certificates/",
            $name,
            ".pem"
        )
    };
}

/// Arguments of a server that uses TLS and requires certificates of clients.
const TLS: [&str; 7] = [
    "--tlsverify",
    "--tlscert",
    certificate!("server"),
    "--tlskey",
    certificate!("server-key"),
    "--tlscacert",
    certificate!("authority"),
];

impl Scene {
    fn new(program: &str) -> Option<Scene> {
        Scene::with(program, "")
    }

    /// Creates a scene in which a line of shell runs before each search.
    fn with(program: &str, before: &str) -> Option<Scene> {
        Some(Scene::on(Server::start()?, program, before))
    }

    fn on(server: Server, program: &str, before: &str) -> Scene {
        let directory = tempfile::tempdir().unwrap();
        let here = directory.path().to_str().unwrap();
        let goes_on = program.contains("--keep-going").to_string();
        fs::write(directory.path().join("test"), CARGO.replace("HERE", here)).unwrap();
        let tests = TESTS
            .replace("HERE", here)
            .replace("GOES_ON", &goes_on)
            .replace("BEFORE", before)
            .replace("PROGRAM", program);
        fs::write(directory.path().join("tests"), tests).unwrap();
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(directory.path().join("tests"), executable).unwrap();
        Scene {
            workers: Vec::new(),
            server,
            directory,
            program: program.to_owned(),
            environment: Vec::new(),
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn address(&self) -> String {
        self.server.address("queue").to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(self.path(), arguments);
        command
            .envs(self.environment.iter().copied())
            .env("CARGO", "sh")
            .env("CLI", env!("CARGO_BIN_EXE_cargo-intermezzo"));
        command
    }

    fn join(&mut self) {
        let mut worker = self.command(&["worker", "--pool", &self.address()]);
        let log = fs::File::options()
            .append(true)
            .create(true)
            .open(self.path().join("worker.log"));
        worker.stdout(Stdio::null()).stderr(log.unwrap());
        self.workers.push(worker.spawn().unwrap());
    }

    /// Ends the worker that joined first, without warning.
    fn kill_worker(&mut self) {
        let mut worker = self.workers.remove(0);
        worker.kill().unwrap();
        worker.wait().unwrap();
    }

    /// Submits the project's tests.
    fn submit(&self, more: &[&str]) -> Child {
        let address = self.address();
        let test = ["test", "--json", "--split-after", "0.3", "--pool", &address];
        let mut test = self.command(&[&test[..], more].concat());
        test.stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn status(&self) -> Value {
        let ran = Ran::of(&mut self.command(&["pool", "status", "--json", "--pool", &self.address()]));
        ran.ends_with(0).json()
    }

    /// Returns the report of one process without a pool.
    fn alone(&self) -> Value {
        let program: Vec<&str> = self.program.split_whitespace().collect();
        let run = [&["corpus", "run"], &program[..], &["--minimise", "0", "--json"]].concat();
        Ran::of(&mut self.command(&run)).json()
    }

    /// Returns the shares that were run. The whole search is an empty text.
    fn ran(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path().join("ran")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn wait_for(&self, what: &str, holds: impl Fn(&Scene) -> bool) {
        let begin = Instant::now();
        while !holds(self) {
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "{what}: {}",
                self.status()
            );
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().expect("no signal ended it"),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Checks that the report of a run equals that of one process.
#[track_caller]
fn is_like_alone(ran: &Ran, alone: &Value) {
    assert_eq!(
        ran.code,
        i32::from(alone["verdict"] == "fail"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let json = ran.json();
    let reports = json["reports"].as_array().unwrap();
    assert_eq!(reports.len(), 1, "{}", ran.stderr);
    for field in ["verdict", "coverage", "executions", "traces", "limits"] {
        assert_eq!(reports[0][field], alone[field], "{field}: {}", ran.stderr);
    }
    let kinds = |report: &Value| {
        let findings = report["findings"].as_array().unwrap().iter();
        findings
            .map(|one| (one["kind"].clone(), one["message"].clone(), one["count"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(kinds(&reports[0]), kinds(alone));
}

#[test]
fn a_run_has_the_report_of_one_process() {
    for (program, workers) in [(BUGGY, 0), (BUGGY, 3), (LONG, 0), (LONG, 3)] {
        let Some(mut scene) = Scene::new(program) else {
            return;
        };
        let alone = scene.alone();
        for _ in 0..workers {
            scene.join();
        }
        if workers > 0 {
            scene.wait_for("workers", |scene| {
                scene.status()["workers"].as_array().unwrap().len() == workers
            });
        }
        let ran = ended(scene.submit(&[]));
        is_like_alone(&ran, &alone);
        let shares = scene.ran();
        match workers {
            // No worker is idle, so the search is not divided.
            0 => assert_eq!(shares, [""]),
            _ if program == LONG => assert!(shares.contains(&"8/8".to_owned()), "{shares:?}"),
            _ => {}
        }
        // No run and no item is left in the pool.
        let status = scene.status();
        assert_eq!(
            (&status["runs"], &status["stray"]),
            (&serde_json::json!([]), &0.into())
        );
    }
}

#[test]
fn workers_that_are_killed_lose_nothing() {
    let Some(mut scene) = Scene::new(LONG) else { return };
    let alone = scene.alone();
    let mut pause = 7_u64;
    let kills = std::env::var("KILLED_WORKERS").map_or(2, |number| number.parse().unwrap());
    let mut killed = 0;
    while killed < kills {
        while scene.workers.len() < 3 {
            scene.join();
        }
        let submitted = scene.submit(&[]);
        let mut submitted = Some(submitted);
        for _ in 0..3 {
            pause = pause
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            thread::sleep(Duration::from_millis(300 + (pause >> 33) % 1_700));
            scene.kill_worker();
            scene.join();
            killed += 1;
        }
        is_like_alone(&ended(submitted.take().unwrap()), &alone);
    }
}

#[test]
fn a_server_that_is_killed_keeps_the_run() {
    let Some(mut scene) = Scene::new(LONG) else { return };
    let alone = scene.alone();
    let kills = std::env::var("KILLED_SERVERS").map_or(1, |number| number.parse().unwrap());
    scene.join();
    for number in 0..kills {
        let submitted = scene.submit(&[]);
        thread::sleep(Duration::from_millis(900 + 350 * number));
        scene.server.restart(Duration::from_millis(800));
        is_like_alone(&ended(submitted), &alone);
    }
}

/// If a worker is stopped for longer than the server waits, another one explores its item, which counts once.
#[test]
fn a_worker_that_comes_back_late_counts_once() {
    let Some(mut scene) = Scene::new(LONG) else { return };
    let alone = scene.alone();
    scene.join();
    scene.wait_for("a worker", |scene| {
        scene.status()["workers"].as_array().unwrap().len() == 1
    });
    let submitted = scene.submit(&[]);
    scene.wait_for("shares", |scene| scene.ran().len() > 3);
    let signal = |name: &str| {
        let worker = scene.workers[0].id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &worker])
                .status()
                .unwrap()
                .success()
        );
    };
    signal("-STOP");
    thread::sleep(Duration::from_secs(7));
    signal("-CONT");
    is_like_alone(&ended(submitted), &alone);
}

/// The first failure ends a test that does not keep going, and the rest of it is dropped.
#[test]
fn the_first_failure_ends_a_test() {
    let Some(mut scene) = Scene::new("balance --reduction none") else {
        return;
    };
    scene.join();
    let ran = ended(scene.submit(&[])).ends_with(1);
    let report = &ran.json()["reports"][0];
    assert_eq!(report["verdict"], "fail");
    assert!(ran.stderr.contains("found by "), "{}", ran.stderr);
}

#[test]
fn other_code_takes_no_part() {
    let Some(mut scene) = Scene::with(LONG, "sleep 3") else {
        return;
    };
    let Some(other) = Scene::with(LONG, "sleep 2") else {
        return;
    };
    let submitted = scene.submit(&[]);
    let mut worker = other.command(&["worker", "--idle-time", "4", "--pool", &scene.address()]);
    worker.stderr(Stdio::piped());
    scene.workers.push(worker.spawn().unwrap());
    scene.wait_for("a refusal", |scene| {
        let status = scene.status();
        let workers = status["workers"].as_array().unwrap().iter();
        let mut refuses = workers.flat_map(|worker| worker["refuses"].as_array().unwrap());
        refuses.any(|refused| {
            refused[1]
                .as_str()
                .unwrap()
                .contains("the code of lib of package queue differs")
        })
    });
    ended(submitted).ends_with(0);
    assert!(other.ran().is_empty());
    let ran = ended(scene.workers.remove(0)).ends_with(0);
    assert!(ran.stderr.contains("takes no part in run "), "{}", ran.stderr);
}

/// A process without a report leads to no verdict, and the end of its output is shown.
#[test]
fn a_process_that_ends_without_a_report_is_reported() {
    let Some(scene) = Scene::with(BUGGY, "echo gone wrong; exit 3") else {
        return;
    };
    let ran = ended(scene.submit(&[])).ends_with(1);
    for says in [
        "queue::works, share whole",
        "wrote no report (exit status: 3)",
        "gone wrong",
    ] {
        assert!(ran.stderr.contains(says), "{says}: {}", ran.stderr);
    }
}

#[test]
fn a_test_that_cannot_be_divided_is_reported() {
    let Some(mut scene) = Scene::with(LONG, "test -n \"$INTERMEZZO_PARTITION\" && exit 3") else {
        return;
    };
    scene.join();
    let ran = ended(scene.submit(&[]));
    is_like_alone(&ran, &scene.alone());
    assert!(!scene.ran().is_empty());
    // The message comes from the one of the two that took the item.
    let log = fs::read_to_string(scene.path().join("worker.log")).unwrap_or_default();
    let said = [ran.stderr, log].concat();
    let says = "queue::works is explored by one worker: its process wrote no report (exit status: 3)";
    assert!(said.contains(says), "{said}");
}

/// The server accepts only clients with a certificate of the authority.
#[test]
fn certificates_are_named_by_the_environment() {
    let Some(server) = Server::with(&TLS) else { return };
    let mut scene = Scene::on(server, BUGGY, "");
    let mut status = scene.command(&["pool", "status", "--pool", &scene.address()]);
    Ran::of(&mut status).refused(&["error: "]);
    scene.environment = vec![("NATS_CA", certificate!("authority"))];
    let mut status = scene.command(&["pool", "status", "--pool", &scene.address()]);
    Ran::of(&mut status).refused(&["error: "]);
    scene.environment.extend([
        ("NATS_CERT", certificate!("client")),
        ("NATS_KEY", certificate!("client-key")),
    ]);
    scene.join();
    let ran = ended(scene.submit(&[]));
    is_like_alone(&ran, &scene.alone());
    let tls = scene.address().replace("nats://", "tls://");
    let mut status = scene.command(&["pool", "status", "--pool", &tls]);
    Ran::of(&mut status).ends_with(0);
}

#[test]
fn settings_that_do_not_fit_a_pool_are_refused() {
    let Some(scene) = Scene::new(BUGGY) else { return };
    for (flags, says) in [
        (
            &["--partition", "1/2"][..],
            "--partition cannot be used with --pool: the pool divides",
        ),
        (
            &["--jobs", "2"],
            "--jobs cannot be used with --pool: give more workers",
        ),
        (&["--monitor", "./a.so"], "the file of a plugin"),
        (&["--nextest"], "--nextest cannot be used with --pool"),
    ] {
        let ran = ended(scene.submit(flags)).ends_with(2);
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
    for address in ["nats://127.0.0.1:1/a", "http://a/b", "nats://127.0.0.1"] {
        let ran = Ran::of(&mut scene.command(&["pool", "status", "--pool", address]));
        ran.refused(&["error: "]);
    }
}

/// The commands of the files in docs/ci, with this server.
#[test]
fn the_commands_of_the_recipes_explore() {
    let Some(mut scene) = Scene::new(BUGGY) else {
        return;
    };
    let server = scene.address();
    let server = server.rsplit_once('/').unwrap().0;
    let [worker, explore] = crate::ci_shares::of_pool("pool-compose.yaml").map(|line| {
        let line = line.replace("nats://nats:4222", server);
        line.strip_prefix("cargo intermezzo ").unwrap().to_owned()
    });
    let mut worker = scene.command(&worker.split_whitespace().collect::<Vec<_>>());
    scene.workers.push(worker.stderr(Stdio::null()).spawn().unwrap());
    let ran = Ran::of(&mut scene.command(&explore.split_whitespace().collect::<Vec<_>>()));
    assert!(ran.ends_with(1).stdout.contains("1 explored test"));
}
