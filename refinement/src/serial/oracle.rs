//! The behaviour of operations one at a time, determined on demand: the object is run in the required order.
//!
//! Scenarios have too many orders of operations to run all (four tasks of four have 63 million), and a history asks
//! for few: those that keep its real time and its results. Each run is kept as a path of a tree, so that orders with
//! the same beginning share it.
//!
//! The runs are executions of one exploration, on a thread of its own, whose search waits for the next order. An
//! object may make choices besides the order (a choice, tasks of its own); these are tried in all ways. If their
//! outcomes differ, the object is not deterministic.

use super::{OneByOne, Unknown};
use crate::history::Outcome;
use crate::locks::held;
use crate::observations::Undetermined;
use crate::run::record::{Mark, Record, TextId};
use crate::scenario::{Place, Scenario};
use hashbrown::HashMap;
use intermezzo_explorer::search::{ChoicePoint, Plan, SoFar, Status, Strategy};
use intermezzo_explorer::trace::Trace;
use intermezzo_explorer::{Coverage, Environment, Explorer, Report, Strategy as Chosen};
use intermezzo_sdk::{Context, Execution, Interests, Monitor};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// Most ways in which one order is run, if the object makes choices of its own.
const WAYS_MAX: usize = 1_000;

/// The histories of one order.
type Histories = Vec<Vec<Mark>>;

/// The side that knows the behaviour of operations one at a time, because it has them run on demand.
pub(crate) struct Oracle {
    wanted: Sender<Vec<Place>>,
    came: Receiver<Histories>,
    /// The known outcomes: for each beginning, those of the operations after it.
    known: Vec<HashMap<Place, KnownOutcome>>,
    /// The number of orders that were run, and their maximum.
    pub(crate) orders: u64,
    orders_max: u64,
    /// `true` if an operation was seen to wait.
    pub(crate) some_wait: bool,
    /// The same operations with different outcomes, if there are any.
    pub(crate) undetermined: Option<Undetermined>,
}

/// An operation's outcome, and the beginning that it makes.
struct KnownOutcome {
    outcome: Outcome,
    then: usize,
}

/// The runs' end of an oracle.
pub(crate) struct Runs {
    wanted: Receiver<Vec<Place>>,
    came: Sender<Histories>,
}

impl Oracle {
    /// Creates an oracle that may run `orders_max` orders of operations, and the other end to run them.
    pub(crate) fn new(orders_max: u64) -> (Oracle, Runs) {
        let (wants, wanted) = channel();
        let (comes, came) = channel();
        let oracle = Oracle {
            wanted: wants,
            came,
            known: vec![HashMap::new()],
            orders: 0,
            orders_max,
            some_wait: false,
            undetermined: None,
        };
        (oracle, Runs { wanted, came: comes })
    }

    /// Runs operations in this order, and records their outcomes.
    pub(crate) fn run(&mut self, order: &[Place]) -> Result<(), Unknown> {
        if self.orders == self.orders_max {
            let most = self.orders_max;
            return Err(Unknown(format!("it takes more than {most} orders of operations")));
        }
        self.orders += 1;
        let gone = |_| Unknown("an operation fails even when it runs alone".into());
        self.wanted.send(order.to_vec()).map_err(|_| gone(()))?;
        let histories = self.came.recv().map_err(|_| gone(()))?;
        for marks in histories {
            self.take_up(&marks);
        }
        Ok(())
    }

    fn take_up(&mut self, marks: &[Mark]) {
        let mut at = 0;
        let mut before = Vec::new();
        for pair in marks.chunks(2) {
            let &Mark::Call(place) = &pair[0] else {
                unreachable!("one at a time, each returns before the next is called")
            };
            let outcome = match pair.get(1) {
                Some(Mark::Return(_, text)) => Outcome::Returned(*text),
                _ => Outcome::Waits,
            };
            let fresh = self.known.len();
            let known = self.known[at]
                .entry(place)
                .or_insert(KnownOutcome { outcome, then: fresh });
            if known.outcome != outcome {
                self.undetermined.get_or_insert(Undetermined {
                    before,
                    operation: place,
                    outcomes: [known.outcome, outcome],
                });
                return;
            }
            at = known.then;
            if at == fresh {
                self.known.push(HashMap::new());
            }
            match outcome {
                Outcome::Returned(text) => before.push((place, text)),
                _ => self.some_wait = true,
            }
        }
    }

    fn find(&self, before: &[(Place, TextId)], next: Place) -> Option<Outcome> {
        let mut at = 0;
        for (place, _) in before {
            at = self.known[at].get(place)?.then;
        }
        self.known[at].get(&next).map(|known| known.outcome)
    }
}

impl OneByOne for Oracle {
    fn outcomes(
        &mut self,
        before: &[(Place, TextId)],
        next: Place,
        ahead: &[Place],
    ) -> Result<Vec<Outcome>, Unknown> {
        if let Some(outcome) = self.find(before, next) {
            return Ok(vec![outcome]);
        }
        let order = before.iter().map(|(place, _)| *place).chain([next]);
        let order: Vec<Place> = order.chain(ahead.iter().copied()).collect();
        self.run(&order)?;
        if self.undetermined.is_some() {
            return Err(Unknown("the object is not deterministic".into()));
        }
        let outcome = self.find(before, next);
        outcome.map_or(
            Err(Unknown("the object did not do the same again".into())),
            |outcome| Ok(vec![outcome]),
        )
    }
}

impl Runs {
    /// Runs the requested orders, by `serial`, until the oracle is gone.
    pub(crate) fn serve(self, program: &str, scenario: &Scenario, serial: impl Fn() + Send + Sync) -> Report {
        let histories = Arc::new(Mutex::new(Vec::new()));
        let orders = Orders {
            runs: self,
            performers: scenario.performers(),
            lengths: scenario.tasks.iter().map(Vec::len).collect(),
            histories: Arc::clone(&histories),
            turns: Vec::new(),
            log: Vec::new(),
            prescribed: 0,
            begun: false,
            ways: 0,
        };
        Explorer::new()
            .program(program)
            .environment(Environment::calm())
            .strategy(Chosen::custom(orders))
            .set("deadlocks_allowed", true)
            .minimise(0)
            .monitors("none")
            .monitor(Hearing(histories))
            .explore(serial)
    }
}

/// A choice that an execution made.
#[derive(Clone, Copy)]
struct Made {
    /// `true` if it decided which task's turn it was.
    turn: bool,
    taken: u32,
    alternatives: u32,
}

/// A search that runs the requested orders.
struct Orders {
    runs: Runs,
    performers: Vec<u32>,
    lengths: Vec<usize>,
    histories: Arc<Mutex<Histories>>,
    /// The tasks in the order of their turns, by number, from 0.
    turns: Vec<usize>,
    /// The choices of the execution, the first of them prescribed.
    log: Vec<Made>,
    prescribed: usize,
    begun: bool,
    ways: usize,
}

impl Orders {
    /// Prepares the next way to run the same order: the choices up to the last one, apart from the order, that has an
    /// alternative left.
    fn next_way(&mut self, plan: &mut Plan) -> bool {
        if self.ways == WAYS_MAX {
            return false;
        }
        let more = |made: &Made| !made.turn && made.taken + 1 < made.alternatives;
        let Some(at) = self.log.iter().rposition(more) else {
            return false;
        };
        self.log.truncate(at + 1);
        self.log[at].taken += 1;
        let mut choices = plan.choices()[..=at].to_vec();
        choices[at].taken += 1;
        plan.replace(&choices);
        self.prescribed = at + 1;
        self.ways += 1;
        true
    }

    /// Returns the next of the tasks that have operations left.
    fn turn(&self) -> u32 {
        let taken = self.log.iter().filter(|made| made.turn).count();
        let mut left = self.lengths.clone();
        for &task in self.turns.iter().take(taken) {
            left[task] -= 1;
        }
        let waiting = (0..left.len()).filter(|&task| left[task] > 0);
        let next = self.turns.get(taken);
        // Beyond the order, the first task.
        let at = next.and_then(|next| waiting.clone().position(|task| task == *next));
        at.unwrap_or(0) as u32
    }
}

impl Strategy for Orders {
    fn next(&mut self, plan: &mut Plan, _: &Trace) -> bool {
        if self.begun && self.next_way(plan) {
            return true;
        }
        if self.begun {
            let came = std::mem::take(&mut *held(&self.histories));
            if self.runs.came.send(came).is_err() {
                return false;
            }
        }
        let Ok(order) = self.runs.wanted.recv() else {
            return false;
        };
        let tasks = order.iter().map(|place| self.performers[place.index()] as usize);
        self.turns = tasks.filter_map(|performer| performer.checked_sub(1)).collect();
        self.log.clear();
        self.ways = 1;
        (self.begun, self.prescribed) = (true, 0);
        plan.replace(&[]);
        true
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        let turn = Record::with(|record| record.turn);
        let taken = if turn { self.turn() } else { 0 };
        self.log.push(Made {
            turn,
            taken,
            alternatives: point.alternatives,
        });
        Some(taken)
    }

    fn retry(&mut self) {
        self.log.truncate(self.prescribed);
    }

    fn coverage(&self, _: bool) -> Coverage {
        Coverage::Exhaustive
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("orders")
    }
}

/// A monitor that collects the history of each execution at its end.
struct Hearing(Arc<Mutex<Histories>>);

impl Monitor for Hearing {
    fn name(&self) -> &str {
        "refinement"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        false
    }
    fn on_execution_end(&mut self, execution: &Execution<'_>, cx: &mut Context<'_>) {
        let stuck = !execution.complete && cx.enabled().is_empty();
        let marks = Record::with(|record| (!record.panicked).then(|| record.marks.clone()));
        if let Some(marks) = marks.filter(|_| execution.complete || stuck) {
            held(&self.0).push(marks);
        }
    }
}
