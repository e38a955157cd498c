//! Random programs whose operations may fail: weak exchanges and `try_lock`, with locks, other atomics and choices.
//!
//! Wakeup trees lose no trace. They run each trace once, and no other reduction takes over, in all but a few programs. The
//! reference is a search of every schedule; its outcomes are also those with every operation a schedule point.
//!
//! `EXPLORED_FATES`, `EXPLORED_SEED` and `EXPLORED_FROM` choose the programs; `EXPLORED_FATES_MAX` is the largest number of
//! executions of the reference.

use crate::adversities::UNTIMED;
use crate::program::{Op, Program};
use crate::run::{explore, explore_by};
use crate::{explorer, same_outcomes, variable};
use intermezzo_explorer::{Reduction, Report};
use quickcheck::{Arbitrary, Gen};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The default number of random programs of a suite.
const PROGRAMS: u64 = 100;

/// The default maximum number of executions of the reference. With every operation a schedule point it has
/// `EVERY_TIMES` as many.
const EXECUTIONS_MAX: u64 = 400;
/// The factor by which that maximum grows with every operation a schedule point.
const EVERY_TIMES: u64 = 20;

/// Of this many programs, one may run a trace twice or be taken over by another reduction.
const ODD_AMONG: u64 = 50;

/// The operations that are drawn.
#[derive(Clone, Copy)]
struct Drawn {
    exchanges: bool,
    tries: bool,
    choices: bool,
}

/// The counts of a suite.
#[derive(Debug, Default)]
struct Tally {
    compared: u64,
    /// Programs that were compared with every operation a schedule point.
    with_every_operation: u64,
    too_large: u64,
    executions: u64,
    traces: u64,
    /// Programs in which a trace runs twice or another reduction takes over.
    odd: Vec<String>,
    /// Programs for which a search has other outcomes.
    differ: Vec<String>,
}

impl Tally {
    fn add(&mut self, more: Tally) {
        self.compared += more.compared;
        self.with_every_operation += more.with_every_operation;
        self.too_large += more.too_large;
        self.executions += more.executions;
        self.traces += more.traces;
        self.odd.extend(more.odd);
        self.differ.extend(more.differ);
    }
}

fn below(g: &mut Gen, bound: usize) -> usize {
    usize::arbitrary(g) % bound
}

/// Draws a program.
fn draw(g: &mut Gen, drawn: Drawn) -> Program {
    let tasks = 2 + below(g, 2);
    let most = [0, 0, 4, 2][tasks];
    let mut program = vec![Vec::new(); tasks + 1];
    for (task, ops) in program.iter_mut().enumerate() {
        let (least, most) = if task == 0 { (0, 1) } else { (1, most) };
        let count = least + below(g, most - least + 1);
        while ops.len() < count {
            operation(g, drawn, ops);
        }
    }
    for task in (1..=tasks).rev() {
        let at = if below(g, 6) == 0 {
            below(g, program[0].len() + 1)
        } else {
            0
        };
        program[0].insert(at, Op::Spawn(task));
    }
    Program(program)
}

fn operation(g: &mut Gen, drawn: Drawn, ops: &mut Vec<Op>) {
    let which = below(g, 2);
    let value = |g: &mut Gen| below(g, 2) as u8;
    if drawn.choices && below(g, 5) == 0 {
        ops.push(Op::Choose);
    }
    if !ops.is_empty() && below(g, 6) == 0 {
        ops.push(Op::OnlyIf(value(g)));
    }
    match below(g, 10) {
        0 | 1 if drawn.tries => ops.push(Op::TryLock(which)),
        2 if drawn.tries => ops.extend([Op::TryLock(which), Op::Release]),
        3 if drawn.tries => ops.push(Op::Lock(which)),
        4 if drawn.tries => ops.extend([Op::Lock(which), Op::Release]),
        5 | 6 if drawn.exchanges => ops.push(Op::Exchange(which, value(g), value(g))),
        7 => ops.push(Op::Load(which)),
        8 => ops.push(Op::Add(which, 1)),
        _ => ops.push(Op::Store(which, value(g))),
    }
}

/// Returns what `dpor` did other than running each trace once.
fn oddity(report: &Report) -> Option<String> {
    let (executions, redundant) = (report.executions(), report.redundant());
    if report.reduction() != "dpor" {
        return Some(format!("the reduction at work was {}", report.reduction()));
    }
    let ends_well = report.findings().is_empty();
    (redundant > 0 || ends_well && Some(executions) != report.traces()).then(|| {
        let traces = report.traces();
        format!("{executions} executions, of which {redundant} are redundant, for {traces:?} traces")
    })
}

/// Compares `dpor`, by one worker and by two, with every schedule. Returns what it did other than running each trace once.
fn compare(program: &Program, tally: &mut Tally) -> Result<Option<String>, String> {
    let with = |reduction| explorer((reduction, None), UNTIMED);
    let most = variable("EXPLORED_FATES_MAX").unwrap_or(EXECUTIONS_MAX);
    let (plain, wanted) = explore(program, with(Reduction::None).executions(most), true);
    if plain.executions() >= most {
        tally.too_large += 1;
        return Ok(None);
    }
    tally.compared += 1;
    let every_most = EVERY_TIMES * most;
    let with_every = with(Reduction::None).every_operation(true).executions(every_most);
    let (every, outcomes) = explore(program, with_every, true);
    if every.executions() < every_most {
        same_outcomes(&plain, &wanted, &outcomes)?;
        tally.with_every_operation += 1;
    }
    let mut odd = None;
    for jobs in [1, 2] {
        let (report, outcomes, _) = explore_by(jobs, program, with(Reduction::Dpor), true);
        same_outcomes(&report, &outcomes, &wanted).map_err(|problem| format!("by {jobs}: {problem}"))?;
        let (found, traces) = (report.traces(), plain.traces());
        if found != traces {
            return Err(format!("by {jobs}: {found:?} traces, where there are {traces:?}"));
        }
        if jobs == 1 {
            odd = oddity(&report);
            tally.executions += report.executions();
            tally.traces += traces.unwrap_or(0);
        }
    }
    Ok(odd)
}

#[allow(clippy::print_stdout, reason = "figures for a run by hand")]
fn suite(name: &str, drawn: Drawn) {
    let programs = variable("EXPLORED_FATES").unwrap_or(PROGRAMS);
    let seed = variable("EXPLORED_SEED").unwrap_or(crate::SEED);
    let from = variable("EXPLORED_FROM").unwrap_or(0);
    let next = AtomicU64::new(from);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let number = next.fetch_add(1, SeqCst);
            if number >= from + programs {
                return tally;
            }
            let program = draw(&mut Gen::from_size_and_seed(8, seed << 32 | number), drawn);
            let text = |what: String| format!("{name} {number}: {:?}\n  {what}", program.0);
            match compare(&program, &mut tally) {
                Err(what) => tally.differ.push(text(what)),
                Ok(odd) => tally.odd.extend(odd.map(text)),
            }
        }
    };
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            all.add(thread.join().expect("comparing does not panic"));
        }
    });
    println!("{name}: {all:#?}");
    assert!(
        all.compared * 2 > programs && all.with_every_operation > 0,
        "{} and {} of {programs} programs compared",
        all.compared,
        all.with_every_operation
    );
    assert!(all.differ.is_empty(), "{}", all.differ.join("\n"));
    assert!(
        all.odd.len() as u64 <= 1 + programs / ODD_AMONG,
        "{}",
        all.odd.join("\n")
    );
}

const NOTHING: Drawn = Drawn {
    exchanges: false,
    tries: false,
    choices: false,
};

#[test]
fn fates_of_exchanges() {
    suite(
        "exchanges",
        Drawn {
            exchanges: true,
            ..NOTHING
        },
    );
}

#[test]
fn fates_of_tries() {
    suite(
        "tries",
        Drawn {
            tries: true,
            ..NOTHING
        },
    );
}

#[test]
fn fates_of_both() {
    suite(
        "both",
        Drawn {
            exchanges: true,
            tries: true,
            ..NOTHING
        },
    );
}

#[test]
fn fates_and_choices() {
    suite(
        "choices",
        Drawn {
            exchanges: true,
            tries: true,
            choices: true,
        },
    );
}
