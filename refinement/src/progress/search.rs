//! The search: executions with few preemptions, and the solo runs from each of their moments.
//!
//! Executions come in the order of their preemptions, as in preemption bounding. A moment is a decision between tasks that
//! no earlier execution reached, so each moment is used once. After each execution come the runs from its new moments,
//! which are executions with the same beginning. When a solo run is over, with or without success, the execution continues
//! to some end, so that no task is left unfinished.
//!
//! An operation that waits is found at once, without a run, because its task is not enabled. The same holds for loops that
//! only wait, whose tasks are parked.

use super::watch::Watch;
use crate::locks::held;
use crate::scenario::Place;
use crate::settings::Progress;
use intermezzo_explorer::Coverage;
use intermezzo_explorer::schedule::{Choice, ChoiceKind};
use intermezzo_explorer::search::{
    ChoicePoint, IterativePreemptionBounding, Needs, Plan, SoFar, Status, Strategy,
};
use intermezzo_explorer::trace::{Analysis, Trace};
use intermezzo_sdk::{SyncVarOp, TaskId};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// The number of steps that each task takes in its turn, where all continue: in step, they may undo each other's work
/// for ever.
const TURNS: [u64; 3] = [1, 2, 3];

/// The number of steps that a task takes in its turn when a run is over and the execution only has to end.
const LAST_TURN: u64 = 64;

/// The tasks that continue.
#[derive(Clone, Copy)]
enum Who {
    /// The task that the search of executions picks.
    Any,
    /// This task alone.
    Alone(TaskId),
    /// All but the one that is stopped, in turns of `turn` steps.
    Others { stopped: Option<TaskId>, turn: u64 },
    /// The task that the replayed schedule names.
    Recorded,
}

/// A run to make: from the moment before this choice on.
struct Run {
    at: usize,
    who: Who,
}

/// The moment before this choice.
struct Moment {
    at: usize,
    /// The tasks that are inside an operation.
    inside: Vec<TaskId>,
    /// The tasks that are about to begin one.
    outside: Vec<TaskId>,
}

/// A run that has reached its moment.
struct Begun {
    events: usize,
    /// The operation of the task that continues alone, or is stopped.
    place: Option<Place>,
    returned: u32,
}

/// Steps of one task, one after the other, inside one operation.
#[derive(Default)]
struct Streak {
    task: Option<TaskId>,
    place: Option<Place>,
    /// The step and the event after which it began.
    step: u64,
    events: usize,
}

/// Executions with few preemptions, and solo runs from their moments.
pub(super) struct SoloRuns {
    watch: Arc<Mutex<Watch>>,
    executions: IterativePreemptionBounding,
    /// The largest number of steps within which an operation must return.
    steps_max: u64,
    /// The choices of the last execution that was not a run.
    base: Vec<Choice>,
    /// The moments that are new in it.
    moments: Vec<Moment>,
    runs: VecDeque<Run>,
    /// The current run.
    run: Run,
    begun: Option<Begun>,
    streak: Streak,
    /// The step of the last return of an operation, and the number of returns.
    last_return: (u64, u32),
    /// The step at which the turn of the current task began.
    turn_from: u64,
    over: bool,
    first: bool,
    /// The choices of the execution to run, if it is only one.
    recorded: Option<Vec<Choice>>,
}

impl SoloRuns {
    /// Creates a search of the one execution that makes these choices, in which operations must return within
    /// `steps_max` steps.
    pub(super) fn replaying(watch: Arc<Mutex<Watch>>, steps_max: u64, recorded: Vec<Choice>) -> SoloRuns {
        let mut search = SoloRuns::new(watch, steps_max, 0);
        search.run.who = Who::Recorded;
        search.recorded = Some(recorded);
        search
    }

    /// Returns the choice that was recorded here; `None` if there was none like it. With any task chosen, an
    /// operation may prove to be stuck.
    fn as_recorded(&mut self, watch: &mut Watch, point: &ChoicePoint<'_>) -> Option<u32> {
        let recorded = self
            .recorded
            .as_deref()
            .unwrap_or_default()
            .get(point.choices)
            .copied();
        if point.kind == ChoiceKind::Task && !self.over {
            self.look_for_stuck(watch, point);
            if watch.progress() == Progress::LockFree {
                self.look_for_going_round(watch, point, |_| String::new());
            }
        }
        match recorded {
            _ if point.alternatives == 1 => Some(0),
            Some(choice) if (choice.kind, choice.alternatives) == (point.kind, point.alternatives) => {
                Some(choice.taken)
            }
            Some(_) => None,
            None => {
                self.over = true;
                Some(if point.kind == ChoiceKind::Task {
                    self.finish(point)
                } else {
                    0
                })
            }
        }
    }

    /// Fails if no operation has returned for too long while the running task is inside one.
    fn look_for_going_round(
        &mut self,
        watch: &mut Watch,
        point: &ChoicePoint<'_>,
        case: impl Fn(&Watch) -> String,
    ) -> bool {
        if self.last_return.1 != watch.returned() {
            self.last_return = (point.step, watch.returned());
        }
        let Some(place) = watch.operation(point.running) else {
            return false;
        };
        if point.step - self.last_return.0 <= self.steps_max {
            return false;
        }
        let why = format!(
            "{}no operation returned within {} steps, and {} runs in a loop",
            case(watch),
            self.steps_max,
            watch.name(place)
        );
        let moment = self.begun.as_ref().map_or(watch.events, |begun| begun.events);
        watch.fail(point.running, point.pending(point.running), moment, why);
        true
    }

    /// Creates a search of runs from moments of executions with at most `preemptions_max` preemptions, in which
    /// operations must return within `steps_max` steps.
    pub(super) fn new(watch: Arc<Mutex<Watch>>, steps_max: u64, preemptions_max: u32) -> SoloRuns {
        SoloRuns {
            watch,
            executions: IterativePreemptionBounding::new(preemptions_max),
            steps_max,
            base: Vec::new(),
            moments: Vec::new(),
            runs: VecDeque::new(),
            run: Run { at: 0, who: Who::Any },
            begun: None,
            streak: Streak::default(),
            last_return: (0, 0),
            turn_from: 0,
            over: false,
            first: true,
            recorded: None,
        }
    }

    fn begin(&mut self, run: Run) {
        self.run = run;
        self.begun = None;
        self.streak = Streak::default();
        self.last_return = (0, 0);
        self.turn_from = 0;
        self.over = false;
    }

    /// Prepares the runs from the moments of the execution that is over.
    fn prepare(&mut self, progress: Progress) {
        for Moment { at, inside, outside } in self.moments.drain(..) {
            let mut add = |who| self.runs.push_back(Run { at, who });
            match progress {
                Progress::ObstructionFree => {
                    inside
                        .iter()
                        .chain(&outside)
                        .for_each(|&task| add(Who::Alone(task)));
                }
                Progress::LockFree => {
                    let others = |stopped, turn| Who::Others { stopped, turn };
                    inside.iter().for_each(|&task| add(others(Some(task), 1)));
                    if inside.len() > 1 {
                        TURNS.iter().for_each(|&turn| add(others(None, turn)));
                    }
                }
            }
        }
    }

    /// Returns the next choice when the run is over.
    fn finish(&self, point: &ChoicePoint<'_>) -> u32 {
        let gives_way = point.preempts && point.alternatives > 1 && point.step.is_multiple_of(LAST_TURN);
        u32::from(gives_way)
    }

    /// Fails if a task waits inside an operation, or has continued alone inside one for too long.
    fn look_for_stuck(&mut self, watch: &mut Watch, point: &ChoicePoint<'_>) {
        let may_go = |task: TaskId| alternatives(point).any(|(_, other)| other == task);
        let waiting = watch.inside().find(|&task| !may_go(task));
        let moment = self.begun.as_ref().map_or(watch.events, |begun| begun.events);
        if let Some((task, place)) = waiting.and_then(|task| Some((task, watch.operation(task)?))) {
            let why = format!("{} waits for what another task does", watch.name(place));
            return watch.fail(task, point.pending(task), moment, why);
        }
        let now = (Some(point.running), watch.operation(point.running));
        if now != (self.streak.task, self.streak.place) {
            self.streak = Streak {
                task: now.0,
                place: now.1,
                step: point.step,
                events: watch.events,
            };
        }
        if let (Some(task), Some(place)) = now
            && point.step - self.streak.step > self.steps_max
        {
            let why = format!(
                "{} does not return, though its task ran alone for {} steps",
                watch.name(place),
                self.steps_max
            );
            watch.fail(task, point.pending(task), self.streak.events, why);
        }
    }

    /// Returns the alternative that lets the others continue, in turns; `None` if the run is over.
    fn others(
        &mut self,
        watch: &mut Watch,
        point: &ChoicePoint<'_>,
        stopped: Option<TaskId>,
        turn: u64,
    ) -> Option<u32> {
        let begun = self.begun.as_ref()?;
        if watch.all_returned_but(begun.place) {
            return None;
        }
        let place = begun.place;
        let case = |watch: &Watch| match place {
            Some(place) => format!("with {} stopped for ever, ", watch.name(place)),
            None => format!("when tasks run in turns of {turn}, "),
        };
        if Some(point.running) != stopped && self.look_for_going_round(watch, point, case) {
            return None;
        }
        let in_order = || alternatives(point).filter(|(_, task)| Some(*task) != stopped);
        let same = in_order().find(|(_, task)| *task == point.running);
        if let Some((alternative, _)) = same.filter(|_| point.step - self.turn_from < turn) {
            return Some(alternative);
        }
        self.turn_from = point.step;
        let next = in_order().find(|(_, task)| *task != point.running);
        next.or(same).map(|(alternative, _)| alternative)
    }
}

/// Returns the alternatives of a decision between tasks, each with its task.
fn alternatives<'a>(point: &'a ChoicePoint<'_>) -> impl Iterator<Item = (u32, TaskId)> + 'a {
    (0..point.alternatives).filter_map(|alternative| Some((alternative, point.task(alternative)?)))
}

impl Strategy for SoloRuns {
    fn next(&mut self, plan: &mut Plan, trace: &Trace) -> bool {
        let watch = Arc::clone(&self.watch);
        let mut watch = held(&watch);
        if watch.failed.is_some() {
            return false;
        }
        if self.recorded.is_some() {
            plan.replace(&[]);
            return std::mem::take(&mut self.first);
        }
        if matches!(self.run.who, Who::Any) && !self.first {
            self.base = plan.choices().to_vec();
            self.prepare(watch.progress());
        }
        if let Some(run) = self.runs.pop_front() {
            plan.replace(&self.base[..run.at]);
            self.begin(run);
            watch.solo_runs += 1;
            return true;
        }
        if !self.first {
            plan.replace(&self.base);
        }
        self.first = false;
        self.begin(Run { at: 0, who: Who::Any });
        self.executions.next(plan, trace)
    }

    fn choose(&mut self, point: &ChoicePoint<'_>) -> Option<u32> {
        let watch = Arc::clone(&self.watch);
        let mut watch = held(&watch);
        if matches!(self.run.who, Who::Recorded) {
            return self.as_recorded(&mut watch, point);
        }
        if point.kind != ChoiceKind::Task {
            return Some(0);
        }
        if self.over || watch.failed.is_some() {
            return Some(self.finish(point));
        }
        self.look_for_stuck(&mut watch, point);
        if watch.failed.is_some() {
            return Some(self.finish(point));
        }
        let who = self.run.who;
        let target = match who {
            Who::Any => {
                if point.alternatives > 1 {
                    let begins = |alternative| {
                        let next = point.operation(alternative)?;
                        (next.op == SyncVarOp::OperationCall).then_some(next.task)
                    };
                    self.moments.push(Moment {
                        at: point.choices,
                        inside: watch.inside().collect(),
                        outside: (0..point.alternatives).filter_map(begins).collect(),
                    });
                }
                return Some(0);
            }
            Who::Alone(task) => Some(task),
            Who::Others { stopped, .. } => stopped,
            Who::Recorded => None,
        };
        if self.begun.is_none() {
            // Up to the choice itself there is only one way.
            if point.alternatives == 1 {
                return Some(0);
            }
            self.begun = Some(Begun {
                events: watch.events,
                place: target.and_then(|task| watch.operation(task)),
                returned: watch.returned(),
            });
            self.last_return = (point.step, watch.returned());
            self.turn_from = point.step;
        }
        let taken = match who {
            Who::Others { stopped, turn } => self.others(&mut watch, point, stopped, turn),
            _ => {
                let returned = self.begun.as_ref().map(|begun| begun.returned);
                let goes_on = returned == Some(watch.returned());
                let mut alone = alternatives(point).filter(|(_, task)| goes_on && Some(*task) == target);
                alone.next().map(|(alternative, _)| alternative)
            }
        };
        match taken {
            Some(taken) => Some(taken),
            None => {
                self.over = true;
                Some(self.finish(point))
            }
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            every_step: true,
            analysis: Analysis::Races,
            ..Needs::default()
        }
    }

    fn retry(&mut self) {
        self.moments.clear();
        let Run { at, who } = self.run;
        self.begin(Run { at, who });
    }

    fn coverage(&self, finished: bool) -> Coverage {
        self.executions.coverage(finished)
    }

    fn status(&self, _: &SoFar<'_>) -> Status {
        Status::named("solo runs")
    }
}
