//! Ranked search: compares strict priorities with an enumerator of their schedules, and checks the ranks of the paper's
//! examples, and programs made to break it.

use super::{explored, explored_program};
use crate::interleavings::{Op, Program, State, check_programs};
use intermezzo_explorer::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo_explorer::sync::{Condvar, Mutex};
use intermezzo_explorer::{Coverage, Explorer, Report, Settings, choose, thread};
use quickcheck::TestResult;
use std::collections::BTreeSet;

/// The number of random programs that are compared.
const PROGRAMS: u64 = 100;

/// Schedules by strict priorities, for one order of fragments: the tasks first, then the rest of a task after each
/// preemption.
struct Strict<'a> {
    program: &'a Program,
    /// The position of each fragment, the highest priority first.
    order: &'a [usize],
    preemptions_max: usize,
    /// The task of each step, the number of preemptions, and the number of variables against which they count.
    found: &'a mut BTreeSet<(Vec<u32>, u32, u32)>,
}

/// A partial schedule.
#[derive(Clone)]
struct Schedule {
    state: State,
    path: Vec<u32>,
    /// Each task's fragment, and the variable that it accessed last.
    fragments: Vec<usize>,
    accessed: Vec<usize>,
    preempted_at: Vec<usize>,
}

impl Strict<'_> {
    fn highest(&self, schedule: &Schedule, enabled: &[usize]) -> usize {
        let place = |task: usize| {
            let fragment = schedule.fragments[task];
            self.order.iter().position(|&one| one == fragment)
        };
        *enabled.iter().min_by_key(|&&task| place(task)).unwrap()
    }

    fn go(&mut self, schedule: &Schedule) {
        let tasks = self.program.0.len();
        let enabled: Vec<usize> = (0..tasks)
            .filter(|&task| schedule.state.enabled(self.program, task))
            .collect();
        if enabled.is_empty() {
            let variables: BTreeSet<usize> = schedule.preempted_at.iter().copied().collect();
            let preemptions = schedule.preempted_at.len() as u32;
            self.found
                .insert((schedule.path.clone(), preemptions, variables.len() as u32));
            return;
        }
        let highest = self.highest(schedule, &enabled);
        self.step(schedule, highest);
        let last = schedule.path.last().map(|&last| last as usize - 1);
        if last == Some(highest) && schedule.preempted_at.len() < self.preemptions_max {
            let mut preempted = schedule.clone();
            preempted.fragments[highest] = tasks + schedule.preempted_at.len();
            preempted.preempted_at.push(schedule.accessed[highest]);
            let instead = self.highest(&preempted, &enabled);
            if instead != highest {
                self.step(&preempted, instead);
            }
        }
    }

    fn step(&mut self, schedule: &Schedule, task: usize) {
        let mut next = schedule.clone();
        next.accessed[task] = match next.state.next(self.program, task).unwrap() {
            Op::Load(at) | Op::Store(at) | Op::Add(at) => at,
            Op::Lock(at) | Op::TryLock(at) => 2 + at,
            Op::Unlock => 2 + next.state.innermost(task).unwrap(),
        };
        next.state.step(self.program, task);
        next.path.push(task as u32 + 1);
        self.go(&next);
    }
}

/// Returns every permutation of `of` items.
fn orders(of: usize) -> Vec<Vec<usize>> {
    let Some(last) = of.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let with_last = |order: Vec<usize>| {
        (0..=order.len()).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(with_last).collect()
}

/// Returns every schedule by strict priorities with at most this many preemptions, with its numbers of preemptions and
/// variables.
fn strict(program: &Program, preemptions_max: usize) -> BTreeSet<(Vec<u32>, u32, u32)> {
    let tasks = program.0.len();
    let mut found = BTreeSet::new();
    for order in orders(tasks + preemptions_max) {
        let begin = Schedule {
            state: State::begin(tasks),
            path: Vec::new(),
            fragments: (0..tasks).collect(),
            accessed: vec![0; tasks],
            preempted_at: Vec::new(),
        };
        let mut strict = Strict {
            program,
            order: &order,
            preemptions_max,
            found: &mut found,
        };
        strict.go(&begin);
    }
    found
}

fn priorities_agree(program: Program) -> TestResult {
    let few = |ops: &Vec<Op>| ops.len() <= 5;
    if !program.0.iter().all(few) {
        return TestResult::discard();
    }
    for preemptions in 0..=2 {
        let all = strict(&program, preemptions);
        for variables in 0..=preemptions {
            for sets in ["each", "dynamic"] {
                let wanted: BTreeSet<&Vec<u32>> = all
                    .iter()
                    .filter(|(_, _, at)| *at as usize <= variables)
                    .map(|(path, ..)| path)
                    .collect();
                let bounds = |threads: u32| {
                    format!(
                        "preemptions={preemptions} strategy=ranked(variables={variables},sets={sets},threads={threads})"
                    )
                };
                // More tasks than the program has: every order.
                let (seen, report) = explored_program(&bounds(9), &program);
                let found: BTreeSet<&Vec<u32>> = seen.iter().collect();
                if found != wanted {
                    return TestResult::error(format!(
                        "{}: {found:?}, where there are {wanted:?}",
                        bounds(9)
                    ));
                }
                let told = report.to_json();
                assert!(
                    !told.contains("probability") && told.contains("\"threads\""),
                    "{told}"
                );

                let (seen, report) = explored_program(&format!("{} seed=5", bounds(2)), &program);
                if let Some(stray) = seen.iter().find(|path| !wanted.contains(path)) {
                    return TestResult::error(format!("{}: {stray:?} is none of {wanted:?}", bounds(2)));
                }
                assert!(matches!(
                    report.coverage(),
                    Coverage::Bounded {
                        preemptions: None,
                        ..
                    }
                ));
            }
        }
    }
    TestResult::passed()
}

#[test]
fn strict_priorities_run_what_they_allow_and_nothing_else() {
    check_programs(PROGRAMS, priorities_agree);
}

/// Runs tasks of `each` steps. Returns the task of each step in every execution.
fn steps_each(tasks: usize, each: usize, settings: &str) -> (Vec<Vec<u32>>, Report) {
    explored(settings, || {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..tasks {
                scope.spawn(|| (0..each).for_each(|_| _ = n.fetch_add(1, SeqCst)));
            }
        });
    })
}

/// Runs tasks of one step each.
fn steps(tasks: usize, settings: &str) -> (Vec<Vec<u32>>, Report) {
    steps_each(tasks, 1, settings)
}

/// Returns every sequence of three different tasks that the path contains in this order.
fn threes(path: &[u32]) -> impl Iterator<Item = [u32; 3]> + '_ {
    let pairs = (0..path.len()).flat_map(|one| (one + 1..path.len()).map(move |two| (one, two)));
    pairs.flat_map(move |(one, two)| {
        path[two + 1..]
            .iter()
            .map(move |&three| [path[one], path[two], three])
    })
}

#[test]
fn two_tasks_take_one_order_and_its_reverse() {
    for tasks in 2..7 {
        let (seen, report) = steps(tasks, "strategy=ranked(threads=2) preemptions=0");
        let mut reverse = seen[0].clone();
        reverse.reverse();
        assert_eq!(seen[1..], [reverse], "{report}");
        assert_eq!(report.executions(), 2);
    }
}

/// Over explorations with different seeds, an order of three tasks is missed in no more than the share that was
/// requested.
#[test]
fn three_tasks_come_in_every_order_with_the_probability_claimed() {
    const SEEDS: u64 = 200;
    for tasks in [5, 6] {
        let misses = |seed: &u64| {
            let settings = format!("strategy=ranked(threads=3,epsilon=0.2) preemptions=0 seed={seed}");
            let (seen, report) = steps(tasks, &settings);
            assert!(report.to_json().contains("\"probability\": 0.8"));
            let orders: BTreeSet<[u32; 3]> = seen.iter().flat_map(|path| threes(path)).collect();
            orders.len() < tasks * (tasks - 1) * (tasks - 2)
        };
        let missed = (0..SEEDS).filter(misses).count();
        assert!(
            missed as u64 * 5 <= SEEDS,
            "{missed} of {SEEDS} with {tasks} tasks"
        );
    }
}

/// Does the same for the two tasks of one preemption: each task is preempted in favour of each other.
#[test]
fn a_preemption_comes_between_any_two_with_the_probability_claimed() {
    const SEEDS: u64 = 100;
    const TASKS: u32 = 5;
    let misses = |seed: &u64| {
        let settings = format!("strategy=ranked(threads=2,epsilon=0.2) preemptions=1 seed={seed}");
        let (seen, report) = steps_each(TASKS as usize, 2, &settings);
        assert!(report.to_json().contains("\"probability\": 0.8"));
        let between: BTreeSet<(u32, u32)> = seen
            .iter()
            .flat_map(|path| threes(path))
            .filter(|[one, two, three]| one == three && one != two)
            .map(|[one, two, _]| (one, two))
            .collect();
        between.len() < (TASKS * (TASKS - 1)) as usize
    };
    let missed = (0..SEEDS).filter(misses).count();
    assert!(missed as u64 * 5 <= SEEDS, "{missed} of {SEEDS}");
}

pub(crate) fn ranked(settings: &str, test: impl Fn() + Send + Sync) -> Report {
    let mut chosen = Settings::default();
    chosen.set("strategy", "ranked").unwrap();
    for setting in settings.split_whitespace() {
        let (name, value) = setting.split_once('=').unwrap();
        chosen.set(name, value).unwrap();
    }
    Explorer::with_settings(chosen).explore(test)
}

/// Returns the rank at which a failure was found, with its variables.
pub(crate) fn place(report: &Report) -> &str {
    let note = report
        .notes()
        .iter()
        .find_map(|note| note.strip_prefix("found in "));
    note.unwrap_or_else(|| panic!("nothing was found: {report}"))
}

/// The first figures of the paper, with the ranks of their failures.
#[test]
fn failures_have_the_ranks_of_the_paper() {
    fn two(
        one: impl Fn(&AtomicUsize, &AtomicUsize) + Send + Sync,
        other: impl Fn(&AtomicUsize, &AtomicUsize) + Send + Sync,
    ) {
        let (a, b) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            scope.spawn(|| one(&a, &b));
            scope.spawn(|| other(&a, &b));
        });
    }
    let figures: [(fn(), &str); 4] = [
        (
            || {
                two(
                    |a, _| assert_eq!(a.load(SeqCst), 0),
                    |a, _| _ = a.fetch_add(1, SeqCst),
                )
            },
            "rank 0 preemptions, 0 variables: assertion",
        ),
        (
            || {
                two(
                    |a, _| assert_eq!(a.load(SeqCst), a.load(SeqCst)),
                    |a, _| _ = a.fetch_add(1, SeqCst),
                )
            },
            "rank 1 preemption, 1 variable, after accesses to atomic 1.1: assertion",
        ),
        (
            || {
                two(
                    |a, _| assert_eq!(a.load(SeqCst), a.load(SeqCst)),
                    |a, _| [1, 0].into_iter().for_each(|to| a.store(to, SeqCst)),
                )
            },
            "rank 2 preemptions, 1 variable, after accesses to atomic 1.1: assertion",
        ),
        (
            || {
                two(
                    |a, b| {
                        let (first, second) = (a.load(SeqCst), a.load(SeqCst));
                        let third = b.load(SeqCst);
                        assert!(first == second || third != 1);
                    },
                    |a, b| {
                        a.store(1, SeqCst);
                        b.store(1, SeqCst);
                        b.store(0, SeqCst);
                    },
                )
            },
            "rank 2 preemptions, 2 variables, after accesses to atomic 1.1, atomic 2.1: assertion",
        ),
    ];
    for (figure, found) in figures {
        for sets in ["each", "dynamic"] {
            for reduction in ["none", "caching"] {
                let report = ranked(
                    &format!("strategy=ranked(sets={sets}) reduction={reduction}"),
                    figure,
                );
                assert_eq!(place(&report), found, "{report}");
                let schedule = report.findings()[0].schedule.clone();
                let again = Explorer::new()
                    .program(report.program())
                    .replay(schedule)
                    .explore(figure);
                assert_eq!(again.findings()[0].message, report.findings()[0].message);
            }
        }
    }
}

/// Three tasks in an order that two alone do not determine (the paper's figure 8).
#[test]
fn a_failure_of_three_tasks_is_found_at_three() {
    let middle = || {
        let a = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| a.fetch_add(1, SeqCst));
            scope.spawn(|| assert_ne!(a.load(SeqCst), 1));
            scope.spawn(|| a.fetch_add(1, SeqCst));
        });
    };
    for seed in 0..20 {
        let report = ranked(
            &format!("strategy=ranked(threads=3) preemptions=0 seed={seed}"),
            middle,
        );
        let found = place(&report);
        assert!(
            ["2", "3"]
                .iter()
                .any(|t| found.starts_with(&format!("rank 0 preemptions, 0 variables, {t} threads"))),
            "{report}"
        );
    }
}

/// Unusual programs, each explored to its end by every kind of ranked search.
#[test]
fn hard_programs_are_searched_to_the_end() {
    fn late() {
        let n = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                n.fetch_add(1, SeqCst);
                // Tasks that are created late have a priority in each order too.
                scope.spawn(|| {
                    n.fetch_add(1, SeqCst);
                    scope.spawn(|| n.fetch_add(1, SeqCst));
                });
            });
            scope.spawn(|| n.fetch_add(1, SeqCst));
        });
    }
    fn loops() {
        let slots: Vec<AtomicUsize> = (0..3).map(AtomicUsize::new).collect();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for slot in &slots {
                        slot.fetch_add(1, SeqCst);
                    }
                });
            }
        });
    }
    fn yields() {
        let turn = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while turn.load(SeqCst) == 0 {
                    thread::yield_now();
                }
            });
            scope.spawn(|| turn.store(1, SeqCst));
        });
    }
    fn spins() {
        let lock = AtomicUsize::new(0);
        let take = || {
            while lock.compare_exchange(0, 1, SeqCst, SeqCst).is_err() {
                intermezzo_explorer::hint::spin_loop();
            }
            lock.store(0, SeqCst);
        };
        thread::scope(|scope| {
            scope.spawn(take);
            scope.spawn(take);
        });
    }
    fn conditions() {
        let (state, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let guard = state.lock().unwrap();
                drop(changed.wait_while(guard, |state| *state == 0).unwrap());
            });
            scope.spawn(|| {
                *state.lock().unwrap() = 1;
                changed.notify_one();
            });
        });
    }
    fn tries() {
        let lock = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    if let Ok(mut held) = lock.try_lock() {
                        *held += choose(2);
                    }
                });
            }
        });
    }
    fn nothing_shared() {
        thread::scope(|scope| {
            scope.spawn(|| ());
            scope.spawn(|| ());
        });
    }
    fn sequential() {
        assert_eq!(AtomicUsize::new(1).load(SeqCst) + choose(3), 1 + choose(1));
    }
    let programs: [(&str, fn()); 9] = [
        ("late", late),
        ("loops", loops),
        ("yields", yields),
        ("spins", spins),
        ("conditions", conditions),
        ("tries", tries),
        ("nothing", nothing_shared),
        ("sequential", sequential),
        ("empty", || ()),
    ];
    for (name, program) in programs {
        let all = Explorer::new().keep_going(true).minimise(0).explore(program);
        for settings in [
            "",
            "strategy=ranked(sets=dynamic)",
            "strategy=ranked(arrays=whole)",
            "strategy=ranked(sets=dynamic,arrays=whole)",
            "reduction=caching",
            "reduction=caching strategy=ranked(sets=dynamic)",
        ] {
            let report = ranked(&format!("{settings} keep_going=true minimise=0"), program);
            assert_eq!(
                *report.coverage(),
                Coverage::Exhaustive,
                "{name} {settings}: {report}"
            );
            let same = |report: &Report| {
                let messages = report.findings().iter().map(|finding| finding.message.clone());
                (report.traces(), messages.collect::<BTreeSet<String>>())
            };
            assert_eq!(same(&report), same(&all), "{name} {settings}");
            if !settings.contains("caching") {
                assert_eq!(report.executions(), all.executions(), "{name} {settings}");
            }
        }
        for threads in [2, 3] {
            let settings = format!(
                "preemptions=2 strategy=ranked(variables=1,threads={threads}) keep_going=true minimise=0"
            );
            let report = ranked(&settings, program);
            match report.coverage() {
                Coverage::Bounded {
                    rank: Some(rank),
                    reason: None,
                    ..
                } => {
                    let most = threads.min(report.max_tasks()).max(2);
                    assert_eq!(rank.threads, Some(most), "{name}: {report}");
                }
                // There was no choice.
                coverage => assert_eq!((coverage, all.executions()), (&Coverage::Exhaustive, 1)),
            }
        }
    }
}

/// Within a rank, sets of variables known to be shared come first; of those, the sets from the first rounds of a loop.
#[test]
fn shared_variables_and_first_rounds_come_first() {
    use std::sync::atomic::AtomicU32;
    let report = ranked("preemptions=1 keep_going=true minimise=0", || {
        let mine = AtomicUsize::new(0);
        let slots: Vec<AtomicUsize> = (0..3).map(AtomicUsize::new).collect();
        let (last, others) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Not a schedule point: the progress of the first task.
        let at = AtomicU32::new(0);
        let next = || at.store(at.load(SeqCst) + 1, SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| {
                mine.fetch_add(1, SeqCst);
                next();
                for slot in &slots {
                    slot.fetch_add(1, SeqCst);
                    next();
                }
                last.fetch_add(1, SeqCst);
                next();
                others.load(SeqCst);
                at.store(0, SeqCst);
            });
            scope.spawn(|| {
                others.fetch_add(1, SeqCst);
                let at = at.load(SeqCst);
                slots.iter().for_each(|slot| _ = slot.fetch_add(1, SeqCst));
                last.fetch_add(1, SeqCst);
                assert_eq!(at, 0);
            });
        });
    });
    let place = |message: &str| {
        let at = message.find("left: ").expect("the assertion's words") + "left: ".len();
        message[at..=at].to_owned()
    };
    let found: Vec<String> = report
        .findings()
        .iter()
        .map(|finding| place(&finding.message))
        .collect();
    // The first slot, the variable after the loop, the other slots, and last the variable that only one task uses.
    assert_eq!(found, ["2", "5", "3", "4", "1"], "{report}");
}

/// A task that yields without end comes after the others once it has yielded a hundred times.
#[test]
fn a_task_that_keeps_yielding_loses_its_priority() {
    let settings = "strategy=ranked(threads=2) preemptions=0 spin_loops=run,fair_yields=1000000";
    let (_, report) = explored(settings, || {
        let turn = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                while turn.load(SeqCst) == 0 {
                    thread::yield_now();
                }
            });
            scope.spawn(|| turn.store(1, SeqCst));
        });
    });
    assert_eq!(report.executions(), 2, "{report}");
    // A round is a load and a yield.
    assert!(
        (100..=210).contains(&report.max_steps()),
        "{}",
        report.max_steps()
    );
}

/// A search that is stopped reports the ranks that are complete, and the current one.
#[test]
fn a_stopped_search_reports_the_complete_ranks() {
    let program = || {
        let slots: Vec<AtomicUsize> = (0..4).map(AtomicUsize::new).collect();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| slots.iter().for_each(|slot| _ = slot.fetch_add(1, SeqCst)));
            }
        });
    };
    let all = |settings: &str| ranked(&format!("{settings} keep_going=true"), program);
    let upto = |settings: &str| all(settings).executions();
    let second = upto("preemptions=2 strategy=ranked(variables=1)");
    let report = all(&format!("executions={}", second + 3));
    assert_eq!(
        report.coverage().to_string(),
        format!(
            "every schedule with at most 1 preemption, and every one with at most 2 preemptions after accesses to 1 variable \
             was run (the limit of {} executions was reached)",
            second + 3
        )
    );
    assert_eq!(
        all("preemptions=2 strategy=ranked(variables=1)")
            .coverage()
            .to_string(),
        "every schedule with at most 1 preemption, and every one with any number of preemptions after accesses to 1 variable \
         was run: a failure that is left is beyond these bounds"
    );
    assert_eq!(
        all("preemptions=1 strategy=ranked(threads=2)")
            .coverage()
            .to_string(),
        "every schedule with at most 1 preemption and 2 tasks in every order of priorities was run: a failure that is left is \
         beyond these bounds"
    );
}
