//! Tests of the guarantees of tokens and files: every schedule is read back unchanged, and any other text is refused
//! with a reason, and never replayed as a different schedule.

mod refusals;

use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::*;

/// The seed of all random numbers of these tests, so that a failure can be reproduced.
const SEED: u64 = 0x696e_7465_726d_657a;

/// SplitMix64 (Steele et al., OOPSLA 2014): uniform, unlike quickcheck's numbers, which prefer the extremes.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

fn choice(kind: ChoiceKind, preempts: bool, alternatives: u32, taken: u32) -> Choice {
    Choice {
        kind,
        preempts,
        alternatives,
        taken,
    }
}

fn schedule(program: &str, environment: Environment, choices: Vec<Choice>) -> Schedule {
    let program = program.to_owned();
    Schedule {
        program,
        binary: TestBinary::default(),
        monitors: Vec::new(),
        warm_up: 0,
        environment,
        steps: 20_000,
        fair_yields: 1,
        all_listed: false,
        awaits: true,
        known_loops: Vec::new(),
        data_points: Vec::new(),
        breakpoints: Default::default(),
        choices,
    }
}

fn with_choices(like: &Schedule, choices: &[Choice]) -> Schedule {
    schedule(&like.program, like.environment, choices.to_vec())
}

/// The distribution of a search's choices: the proportions of them that do not take alternative 0.
#[derive(Clone, Copy)]
enum Walk {
    /// A depth-first search bounded to two preemptions.
    Bounded,
    /// Every alternative with the same probability.
    Random,
}

/// Returns a schedule like that of an execution with `tasks` tasks, in which the number of enabled tasks changes now
/// and then.
fn walk(walk: Walk, tasks: u32, choices: usize, dice: &mut Dice) -> Schedule {
    let mut preemptions = 0;
    let mut enabled = tasks;
    let mut preempts = true;
    let mut decide = |_| {
        if dice.below(8) == 0 {
            enabled = 2 + dice.below(tasks as usize - 1) as u32;
            preempts = dice.below(4) != 0;
        }
        if dice.below(40) == 0 {
            let taken = u32::from(dice.below(4) == 0);
            return choice(ChoiceKind::Wake, false, 2, taken);
        }
        let any = dice.below(enabled as usize) as u32;
        let taken = match walk {
            Walk::Random => any,
            Walk::Bounded if dice.below(15) == 0 && preemptions < 2 => any,
            Walk::Bounded => 0,
        };
        preemptions += u32::from(preempts && taken > 0);
        choice(ChoiceKind::Task, preempts, enabled, taken)
    };
    let choices = (0..choices).map(&mut decide).collect();
    let environment = Environment {
        seed: 0x5eed,
        ..Environment::default()
    };
    schedule("queue::tests::no_value_is_lost", environment, choices)
}

/// Any schedule: extremes, long runs, names in other scripts.
#[derive(Clone, Debug)]
struct Any(Schedule);

impl Arbitrary for Any {
    fn arbitrary(g: &mut Gen) -> Any {
        let environment = Environment {
            spurious_wakeups: u32::arbitrary(g),
            timeouts: u32::arbitrary(g),
            weak_failures: u32::arbitrary(g),
            try_lock_failures: u32::arbitrary(g),
            notify_any: bool::arbitrary(g),
            arc_counts: bool::arbitrary(g),
            address_reuse: u32::arbitrary(g),
            stale_reads: u32::arbitrary(g),
            seed: u64::arbitrary(g),
        };
        let environment = if bool::arbitrary(g) {
            environment
        } else {
            Environment::default()
        };

        let mut choices = Vec::new();
        for _ in 0..u8::arbitrary(g) % 40 {
            let kind = *g.choose(&ChoiceKind::ALL).expect("there are kinds");
            let alternatives = *g.choose(&[2, 2, 3, 4, 7, u32::MAX]).expect("there are numbers");
            let alternatives = if u8::arbitrary(g) > 200 {
                u32::arbitrary(g).max(2)
            } else {
                alternatives
            };
            let preempts = bool::arbitrary(g);
            let length = *g.choose(&[1, 1, 1, 2, 3, 8, 40, 300]).expect("there are lengths");
            choices.extend((0..length).map(|_| {
                let taken = if u8::arbitrary(g) < 32 {
                    u32::arbitrary(g) % alternatives
                } else {
                    0
                };
                choice(kind, preempts, alternatives, taken)
            }));
        }
        let mut schedule = schedule(&String::arbitrary(g), environment, choices);
        if bool::arbitrary(g) {
            schedule.steps = u64::arbitrary(g);
        }
        if bool::arbitrary(g) {
            schedule.fair_yields = u32::arbitrary(g);
            schedule.all_listed = bool::arbitrary(g);
            schedule.awaits = bool::arbitrary(g);
            let armed = g.choose(&[
                "",
                "a",
                "a skip=3/0 hits=1, b limit=0.25s",
                "a.rs:1:2 before b.rs:3, deadlock c.rs:4",
            ]);
            schedule.breakpoints = armed.expect("there is one").parse().expect("it can be");
            schedule.data_points = if bool::arbitrary(g) {
                vec![u64::arbitrary(g), u64::MAX]
            } else {
                Vec::new()
            };
            schedule.known_loops = if bool::arbitrary(g) {
                Vec::arbitrary(g)
            } else {
                Vec::new()
            };
        }
        if bool::arbitrary(g) {
            schedule.binary = TestBinary {
                package: String::arbitrary(g),
                target: String::arbitrary(g),
            };
            schedule.warm_up = u32::arbitrary(g);
            let monitors = g.choose(&["", "data-race", "data-race;leak:rc=false", "./a.so:b=c,d:e"]);
            schedule.monitors = MonitorRequest::parse(monitors.expect("there is one")).expect("it can be");
        }
        Any(schedule)
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Any>> {
        let whole = self.0.clone();
        let halves = [whole.choices.len() / 2, whole.choices.len().saturating_sub(1)];
        let shorter = move |length| Any(with_choices(&whole, &whole.choices[..length]));
        let is_empty = self.0.choices.is_empty();
        Box::new(halves.into_iter().filter(move |_| !is_empty).map(shorter))
    }
}

fn quickcheck(tests: u64, property: fn(Any) -> bool) {
    let g = Gen::from_size_and_seed(100, SEED);
    let passed = QuickCheck::new().rng(g).tests(tests).quicktest(property);
    assert_eq!(passed.expect("the property holds"), tests);
}

/// Returns a schedule small enough to read: an update lost between two tasks.
fn small() -> Schedule {
    let choices = vec![
        choice(ChoiceKind::Task, true, 2, 0),
        choice(ChoiceKind::Task, true, 2, 1),
        choice(ChoiceKind::Task, false, 3, 0),
    ];
    schedule("no_update_is_lost", Environment::default(), choices)
}

#[test]
fn tokens_come_back() {
    quickcheck(1000, |Any(schedule)| {
        let token = schedule.token();
        token.is_ascii() && Schedule::from_token(&token).as_ref() == Ok(&schedule)
    });
}

#[test]
fn files_come_back() {
    quickcheck(100, |Any(schedule)| {
        let plain = schedule.to_json(None);
        let with_finding = schedule.to_json(Some(("panic", "line 1\nline \"2\"")));
        Schedule::from_json(&plain).as_ref() == Ok(&schedule)
            && Schedule::from_json(&with_finding).as_ref() == Ok(&schedule)
            && schedule.to_json(None) == plain
    });
}

#[test]
fn runs_come_back_at_every_length() {
    let run = [choice(ChoiceKind::Task, true, 3, 0)];
    let behind = choice(ChoiceKind::Value, false, 5, 4);
    let comes_back = |schedule: &Schedule| Schedule::from_token(&schedule.token()).as_ref() == Ok(schedule);
    for length in (0..=1100).chain([100_000]) {
        let mut schedule = with_choices(&small(), &run.repeat(length));
        assert!(comes_back(&schedule), "length {length}");
        schedule.choices.push(behind);
        assert!(comes_back(&schedule), "length {length} and one");
    }
}

#[test]
fn the_formats_do_not_change_by_themselves() {
    let schedule = small();
    assert_eq!(schedule.token(), "imz1.AQARbm9fdXBkYXRlX2lzX2xvc3QkagqQPnVSEw");
    assert_eq!(
        schedule.to_json(Some(("assertion", "left: 1, right: 2"))),
        r#"{
  "format": "intermezzo-schedule/1",
  "program": "no_update_is_lost",
  "environment": {
    "spurious_wakeups": 1,
    "timeouts": 1,
    "weak_failures": 1,
    "try_lock_failures": 0,
    "notify_any": true,
    "arc_counts": true,
    "seed": 0
  },
  "finding": {
    "kind": "assertion",
    "message": "left: 1, right: 2"
  },
  "steps": 20000,
  "choices": [
    {"kind":"task","of":2,"taken":0,"preempts":true},
    {"kind":"task","of":2,"taken":1,"preempts":true},
    {"kind":"task","of":3,"taken":0,"preempts":false}
  ],
  "checksum": "b581b84e"
}
"#
    );
    let nothing_decided = with_choices(&schedule, &[]).to_json(None);
    assert!(
        nothing_decided.contains(
            "
  \"choices\": [],
"
        ),
        "{nothing_decided}"
    );
}

/// A schedule of an earlier version is refused if the environment made choices in it, because its bounds were
/// different.
#[test]
fn choices_of_the_environment_are_said_by_version_3() {
    for kind in ChoiceKind::ALL {
        let made = schedule("p", Environment::default(), vec![choice(kind, false, 2, 1)]);
        assert_eq!(Schedule::from_token(&made.token()), Ok(made.clone()));
        let file = made.to_json(None);
        let by_environment = file.contains("intermezzo-schedule/3");
        assert_eq!(by_environment, kind.is_bounded_by_task(), "{kind:?}");
        assert_eq!(by_environment, made.token().starts_with("imz3."), "{kind:?}");
        if by_environment {
            let old = file.replace("intermezzo-schedule/3", "intermezzo-schedule/2");
            let refusal = Schedule::from_json(&old).unwrap_err();
            assert_eq!(
                refusal,
                ScheduleError::OtherBounds {
                    carrier: Carrier::File,
                    found: 2,
                }
            );
            assert!(refusal.to_string().contains("for each task"), "{refusal}");
        }
    }
}

/// Some schedules are written in version 2, because version 1 cannot represent them. Version 1 is still read.
#[test]
fn what_version_1_cannot_say_is_said_by_version_2() {
    let mut schedule = small();
    schedule.binary = TestBinary {
        package: "queue".into(),
        target: "test suite".into(),
    };
    schedule.monitors = MonitorRequest::parse("data-race;leak:rc=false").unwrap();
    schedule.warm_up = 1;
    let token =
        "imz2.AgARbm9fdXBkYXRlX2lzX2xvc3QFcXVldWUKdGVzdCBzdWl0ZRdkYXRhLXJhY2U7bGVhazpyYz1mYWxzZQEkagqQn7dATg";
    assert_eq!(schedule.token(), token);
    assert_eq!(Schedule::from_token(token).as_ref(), Ok(&schedule));
    let json = schedule.to_json(None);
    let says = r#"{
  "format": "intermezzo-schedule/2",
  "program": "no_update_is_lost",
  "package": "queue",
  "target": "test suite",
  "monitors": "data-race;leak:rc=false",
  "warm_up": 1,
  "environment": {"#;
    assert!(json.starts_with(says), "{json}");
    assert_eq!(Schedule::from_json(&json).as_ref(), Ok(&schedule));
    let altered = json.replace("\"queue\"", "\"stack\"");
    let error = Schedule::from_json(&altered).unwrap_err();
    assert!(matches!(error, ScheduleError::ChecksumMismatch { .. }), "{error}");

    let old = Schedule::from_token("imz1.AQARbm9fdXBkYXRlX2lzX2xvc3QkagqQPnVSEw").unwrap();
    assert_eq!(old, small());
    let renamed = token.replacen("imz2", "imz1", 1);
    let error = Schedule::from_token(&renamed).unwrap_err();
    assert!(matches!(error, ScheduleError::OutOfRange { .. }), "{error}");
}

/// A test is identified by its name, its package and its target, as far as both sides know them.
#[test]
fn a_schedule_is_of_one_test() {
    let binary = |package: &str, target: &str| TestBinary {
        package: package.into(),
        target: target.into(),
    };
    let mut schedule = small();
    let name = schedule.program.clone();
    assert_eq!(schedule.for_test(&name, &binary("one", "lib")), Ok(()));
    schedule.binary = binary("one", "lib");
    assert_eq!(schedule.for_test(&name, &TestBinary::default()), Ok(()));
    assert_eq!(schedule.for_test(&name, &binary("one", "lib")), Ok(()));
    for other in [binary("two", "lib"), binary("one", "bin one")] {
        let error = schedule.for_test(&name, &other).unwrap_err();
        let says = format!("is of \"{name}\" in one, lib, but the one in {other} is to be run");
        assert!(error.to_string().contains(&says), "{error}");
    }
    // A program is not the same as the tests in it.
    let whole = binary("one", "bin one").program().unmodified(false);
    assert_eq!((whole.cargo_target(), whole.is_program()), ("main bin one", true));
    schedule.binary = whole.clone();
    assert_eq!(schedule.for_test(&name, &whole), Ok(()));
    assert!(
        schedule
            .for_test(&name, &binary("one", "bin one").unmodified(false))
            .is_err()
    );
    schedule.binary = binary("one", "lib");
    let error = schedule.for_test("another", &binary("one", "lib")).unwrap_err();
    assert!(matches!(error, ScheduleError::OtherProgram { .. }), "{error}");
}

#[test]
fn tokens_are_short() {
    let mut dice = Dice(SEED);
    let mut length = |how, tasks, choices| walk(how, tasks, choices, &mut dice).token().len();
    let bounded = [(2, 30), (3, 60), (3, 100), (4, 200)].map(|(tasks, n)| length(Walk::Bounded, tasks, n));
    let random = [(2, 30), (3, 60), (3, 100), (4, 200)].map(|(tasks, n)| length(Walk::Random, tasks, n));
    assert_eq!((bounded, random), ([68, 84, 95, 109], [73, 100, 111, 173]));
}

#[test]
fn preemptions_are_those_choices_that_preempt() {
    assert_eq!(small().preemptions(), 1);
    assert_eq!(walk(Walk::Random, 3, 100, &mut Dice(SEED)).preemptions(), 43);
    assert_eq!(with_choices(&small(), &[]).preemptions(), 0);
}

#[test]
fn a_user_names_a_schedule_by_token_or_by_path() {
    let schedule = small();
    let directory = std::env::temp_dir().join(format!("intermezzo-schedule-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    let path = directory.join("imz1.json");
    std::fs::write(&path, schedule.to_json(None)).expect("a temporary file");
    let by_path = Schedule::parse(path.to_str().expect("a plain path"));
    let read = Schedule::read(&path);
    std::fs::write(&path, "{").expect("a temporary file");
    let broken = Schedule::read(&path);
    // The file is sparse, so that it takes no space on disk.
    let file = std::fs::File::create(&path).expect("a temporary file");
    file.set_len(1 << 40).expect("a sparse file");
    let too_large = Schedule::read(&path);
    std::fs::remove_dir_all(&directory).expect("the directory is ours");

    assert_eq!(by_path.as_ref(), Ok(&schedule));
    assert_eq!(read.as_ref(), Ok(&schedule));
    let bytes_max = 256 << 20;
    let error = Box::new(ScheduleError::TooLarge { bytes_max });
    assert_eq!(
        too_large,
        Err(ScheduleError::InFile {
            path: path.clone(),
            error
        })
    );
    assert!(matches!(broken, Err(ScheduleError::InFile { path: named, .. }) if named == path));
    assert_eq!(
        Schedule::parse(&format!(" {}\n", schedule.token())).as_ref(),
        Ok(&schedule)
    );
    assert_eq!(schedule.for_program("no_update_is_lost"), Ok(()));
}

/// Breakpoints that only a later version might write are refused, and not replayed as something else.
#[test]
fn breakpoints_that_cannot_be_are_refused() {
    let mut armed = small();
    armed.breakpoints = "swap hits=1".parse().unwrap();
    let text = armed.to_json(None).replace("hits=1", "twist=1");
    let error = Schedule::from_json(&text).unwrap_err();
    assert!(matches!(error, ScheduleError::Breakpoints(_)), "{error}");
    assert!(error.to_string().contains("nothing is called `twist`"), "{error}");
}
