//! The events of a long execution that its failure is about, and words for those between them.
//!
//! Accesses to the variables of the failure stay, and so do both sides of each preemption. These variables are:
//!
//! - those that the finding names;
//! - those that a failing task read last;
//! - those that a preempted task used before or after the preemption, and that other tasks changed in between, or saw
//!   changed.

#[cfg(test)]
mod tests;

use crate::report::lines::width;
use crate::report::names::{counts_of, identities, without_number};
use crate::report::source::Sources;
use crate::report::{Finding, FindingDetail, FindingEvent, FoundBy, LoopStep, TaskLoop, TurningPoint, count};
use intermezzo_sdk::SyncVarOp;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::ops::Range;

/// The largest number of events of an execution that is shown as a whole.
const WHOLE: usize = 24;

/// The lines that a shortened execution takes. Events that the finding itself marks are shown in any case.
const LINES: usize = 34;

/// The number of a task's events, before and after a preemption, from which the variables are taken that it uses there.
const NEAR: usize = 16;

/// The number of preemptions, from the last one back, whose conflicts count.
const PREEMPTIONS: usize = 64;

/// The largest number of variables that count because a failing task read them last.
const READ_LAST: usize = 3;

/// The longest round of a loop that is recognised, in events.
const ROUND_MAX: usize = 8;

/// The longest head of a loop that the line for a gap has.
const HEAD_MAX: usize = 44;

/// The largest number of variables that the line for a gap names.
const NAMED: usize = 4;

/// Returns the events to show.
pub(super) fn shown(finding: &Finding, turning_point: Option<&TurningPoint>) -> Vec<usize> {
    let events = &finding.events;
    let turns_at = |event: &FindingEvent| turning_point.is_some_and(|point| point.has(&event.id));
    let all_routine = events.iter().all(|event| is_routine(finding, event));
    let tells = |at: &usize| all_routine || turns_at(&events[*at]) || !is_routine(finding, &events[*at]);
    if (0..events.len()).filter(tells).count() <= WHOLE {
        return (0..events.len()).filter(tells).collect();
    }
    if let Some(round) = one_round(finding) {
        return round.filter(tells).collect();
    }
    let about = Subject::of(finding);
    let mut wanted: Vec<(Rank, usize)> = Vec::new();
    let is_deed: BTreeSet<&str> = finding.deeds.iter().map(|deed| &*deed.after).collect();
    let resumed = resumed(events);
    for (at, event) in events.iter().enumerate() {
        if event.concerned || turns_at(event) || is_deed.contains(&*event.id) {
            wanted.push((Rank::Marked, at));
        }
        if at > 0 && event.preempts {
            let sides = [at - 1, at].into_iter().chain(resumed[at - 1]);
            wanted.extend(sides.map(|at| (Rank::Preemption, at)));
        }
    }
    for run in runs(events) {
        wanted.extend([run.start, run.end - 1].map(|at| (Rank::Switch, at)));
        let mut of_var: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let Rounds { inner, outer } = Rounds::of(events, &run);
        for round in outer {
            if round.clone().any(|at| about.vars.contains(&*events[at].var)) {
                wanted.extend(round.map(|at| (Rank::Access, at)));
            }
        }
        for at in run.filter(|at| about.vars.contains(&*events[*at].var) && !inner.contains(at)) {
            of_var.entry(&events[at].var).or_default().push(at);
        }
        for accesses in of_var.values() {
            let write = accesses.iter().rfind(|&&at| changes(&events[at]));
            let ends = accesses.first().into_iter().chain(accesses.last()).chain(write);
            wanted.extend(ends.map(|&at| (Rank::Telling, at)));
            wanted.extend(accesses.iter().map(|&at| (Rank::Access, at)));
        }
    }
    // The reads are in order of importance, and of all others the latest comes first.
    let by_place = wanted.into_iter().map(|(rank, at)| (Reverse(rank), at, at));
    let reads = about.reads.iter().enumerate();
    let reads = reads.map(|(number, &at)| (Reverse(Rank::Read), usize::MAX - number, at));
    // Few of many are taken: a heap need not sort the others.
    let mut wanted: BinaryHeap<(Reverse<Rank>, usize, usize)> = by_place.chain(reads).collect();
    let is_access = |(rank, _, _): &&(Reverse<Rank>, usize, usize)| rank.0 < Rank::Switch;
    let accesses = wanted.iter().filter(is_access).map(|&(_, _, at)| at);
    let mut shown: BTreeSet<usize> = accesses.take(LINES * 4).collect();
    if wanted.iter().filter(is_access).count() > LINES * 4 || lines(events, &shown) > LINES {
        shown.clear();
    }
    while let Some((Reverse(rank), _, at)) = wanted.pop() {
        // What fills a gap of one event is shown below.
        if rank != Rank::Marked && lines(events, &shown) >= LINES {
            break;
        }
        if shown.insert(at) && rank != Rank::Marked && lines(events, &shown) > LINES {
            shown.remove(&at);
            if rank == Rank::Switch {
                break;
            }
        }
    }
    // A gap of one event takes as much room as the event.
    let lonely = |at: &usize| {
        let before = at.checked_sub(1).is_none_or(|before| shown.contains(&before));
        let after = at + 1 == events.len() || shown.contains(&(at + 1));
        shown.contains(at) || before && after
    };
    (0..events.len()).filter(lonely).filter(tells).collect()
}

/// Returns a part of an endless execution in which each of several tasks goes round once. It is in the middle half, which
/// the loops were read from: what comes before may be anything, and at the end a search tries its alternatives.
pub(super) fn one_round(finding: &Finding) -> Option<Range<usize>> {
    let FindingDetail::Endless { loops, .. } = &finding.detail else {
        return None;
    };
    let events = &finding.events;
    let (begin, end) = (events.len() / 4, events.len() - events.len() / 4);
    let round = |each: &TaskLoop| {
        let own: Vec<usize> = (begin..end).filter(|&at| events[at].task == each.task).collect();
        let steps = &each.steps;
        let is_step = |(at, step): (&usize, &LoopStep)| {
            let event = &events[*at];
            (&event.op, &event.var, &event.site) == (&step.op, &step.var, &step.site)
        };
        let mut rounds = own.windows(steps.len()).rev();
        let is_whole = each.steps_left_out == 0 && !steps.is_empty();
        let found = rounds.find(|own| is_whole && own.iter().zip(steps).all(is_step))?;
        Some(*found.first()?..found.last()? + 1)
    };
    let rounds: Vec<Range<usize>> = loops.iter().map(round).collect::<Option<_>>()?;
    let first = rounds.iter().map(|round| round.start).min()?;
    let last = rounds.iter().map(|round| round.end).max()?;
    let shown: BTreeSet<usize> = (first..last).collect();
    (rounds.len() > 1 && lines(events, &shown) <= LINES).then_some(first..last)
}

/// `true` if an event is part of any execution: the beginning and the end of a task, and the counts of an `Arc` in a
/// finding that is not about them.
fn is_routine(finding: &Finding, event: &FindingEvent) -> bool {
    if finding.deeds.iter().any(|deed| deed.after == event.id) {
        return false;
    }
    let counts = [SyncVarOp::CountUp, SyncVarOp::CountDown];
    let is_counted = |finding: &Finding| {
        let engine = finding.monitor == FoundBy::Engine;
        let is_named = || {
            let mut named = identities(&finding.message).map(|(at, _)| &finding.message[at]);
            named.any(|var| counts_of(var) == event.var)
        };
        engine || !event.concerned && !is_named()
    };
    is_any(event, &[SyncVarOp::TaskBegin, SyncVarOp::TaskEnd])
        || is_any(event, &counts) && !event.preempts && is_counted(finding)
}

/// The importance of an event, from the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// The finding marks it.
    Marked,
    Preemption,
    /// A failing task read a variable that counts, or another one changed it last.
    Read,
    /// The first access to a variable of the failure between two changes of task, the last one, or the last change.
    Telling,
    /// Another access to a variable of the failure.
    Access,
    /// The first or the last event between two changes of task.
    Switch,
}

/// The variables of a failure, and the events in which a failing task read some of them, with the changes that it saw
/// or missed.
#[derive(Default)]
struct Subject<'f> {
    vars: BTreeSet<&'f str>,
    reads: Vec<usize>,
}

impl<'f> Subject<'f> {
    fn of(finding: &'f Finding) -> Subject<'f> {
        let events = &finding.events;
        let mut about = Subject::default();
        about.vars.extend(
            events
                .iter()
                .filter(|event| event.concerned)
                .map(|event| &*event.var),
        );
        for deed in &finding.deeds {
            about
                .vars
                .extend(identities(&deed.what).map(|(at, _)| &deed.what[at]));
        }
        match &finding.detail {
            FindingDetail::Panic { panics, .. } => {
                panics.iter().for_each(|panic| about.read_by(events, &panic.task))
            }
            FindingDetail::Blocked { waiting, .. } => {
                for task in waiting {
                    about.vars.insert(&task.var);
                    about
                        .vars
                        .extend(task.awaited.iter().map(|awaited| &*awaited.var));
                }
            }
            FindingDetail::Endless { loops, .. } => {
                about
                    .vars
                    .extend(loops.iter().flat_map(|each| &each.steps).map(|step| &*step.var));
            }
            _ => {}
        }
        let resumed = resumed(events);
        let preemptions = (1..events.len()).rev().filter(|&at| events[at].preempts);
        for at in preemptions.take(PREEMPTIONS) {
            about.conflicts_at(events, at, resumed[at - 1].unwrap_or(events.len()));
        }
        about.vars.remove("");
        about
    }

    /// Adds the variables that the task read last, these reads, and the last changes before them.
    fn read_by(&mut self, events: &'f [FindingEvent], task: &str) {
        let mut read: Vec<&str> = Vec::new();
        for at in (0..events.len()).rev().filter(|&at| events[at].task == task) {
            let event = &events[at];
            if event.read.is_some() && !is_any(event, &[SyncVarOp::CountDown, SyncVarOp::Choice]) {
                if !read.contains(&&*event.var) {
                    read.push(&event.var);
                    self.reads.push(at);
                    let mut changed: BTreeSet<&str> = BTreeSet::new();
                    let before = (0..at)
                        .rev()
                        .filter(|&at| events[at].var == event.var && changes(&events[at]));
                    self.reads
                        .extend(before.filter(|&at| changed.insert(&events[at].task)));
                }
                if read.len() == READ_LAST {
                    break;
                }
            } else if is_any(
                event,
                &[
                    SyncVarOp::TaskJoin,
                    SyncVarOp::LockAcquire,
                    SyncVarOp::ChannelReceive,
                ],
            ) && !read.is_empty()
            {
                break;
            }
        }
        self.vars.extend(read);
    }

    /// Adds the variables that a preempted task used, and that others changed or saw changed before it continued.
    fn conflicts_at(&mut self, events: &'f [FindingEvent], at: usize, resumed: usize) {
        let preempted = &events[at - 1].task;
        let of_task = |event: &&FindingEvent| event.task == *preempted && !event.var.is_empty();
        let before = events[..at]
            .iter()
            .rev()
            .take_while(|event| event.task == *preempted)
            .take(NEAR);
        let after = events[resumed..]
            .iter()
            .take_while(|event| event.task == *preempted)
            .take(NEAR);
        let mut own: BTreeMap<&str, bool> = BTreeMap::new();
        for event in before.chain(after).filter(of_task) {
            *own.entry(&event.var).or_default() |= changes(event);
        }
        for event in &events[at..resumed] {
            if own
                .get(&*event.var)
                .is_some_and(|&changed| changed || changes(event))
            {
                self.vars.insert(&event.var);
            }
        }
    }
}

fn is_any(event: &FindingEvent, ops: &[SyncVarOp]) -> bool {
    ops.iter().any(|op| op.name() == event.op)
}

/// `true` if the event may change its variable for other tasks.
fn changes(event: &FindingEvent) -> bool {
    event.written.is_some() || event.read.is_none()
}

/// `true` if the events differ in nothing but values.
fn is_same(one: &FindingEvent, other: &FindingEvent) -> bool {
    (&one.task, &one.op, &one.var, &one.site) == (&other.task, &other.op, &other.var, &other.site)
}

/// The loops of a run: parts that repeat the same operations at the same places.
#[derive(Default)]
struct Rounds {
    /// The events of all rounds but the first and the last.
    inner: BTreeSet<usize>,
    /// The first and the last round of each loop.
    outer: Vec<Range<usize>>,
}

impl Rounds {
    fn of(events: &[FindingEvent], run: &Range<usize>) -> Rounds {
        let mut rounds = Rounds::default();
        for round in 1..=ROUND_MAX {
            let mut at = run.start + round;
            while at < run.end {
                let is_again = |at: &usize| is_same(&events[*at], &events[*at - round]);
                let same = (at..run.end).take_while(is_again).count();
                let inner = (same / round).saturating_sub(1) * round;
                // The middle of a shorter round is the middle of a longer one, too.
                if inner > 0 && !rounds.inner.contains(&at) {
                    rounds.inner.extend(at..at + inner);
                    rounds
                        .outer
                        .extend([at - round..at, at + inner..at + inner + round]);
                }
                at += same + 1;
            }
        }
        rounds
    }
}

/// Returns the next event of the same task, for each event.
fn resumed(events: &[FindingEvent]) -> Vec<Option<usize>> {
    let mut next: BTreeMap<&str, usize> = BTreeMap::new();
    let mut resumed = vec![None; events.len()];
    for (at, event) in events.iter().enumerate().rev() {
        resumed[at] = next.insert(&event.task, at);
    }
    resumed
}

/// Returns the events between changes of task.
fn runs(events: &[FindingEvent]) -> impl Iterator<Item = Range<usize>> {
    let mut begin = 0;
    events
        .chunk_by(|one, next| one.task == next.task)
        .map(move |run| {
            begin += run.len();
            begin - run.len()..begin
        })
}

/// Returns the number of lines that these events take, with those between them.
fn lines(events: &[FindingEvent], shown: &BTreeSet<usize>) -> usize {
    let mut next = 0;
    let mut lines = 0;
    for &at in shown {
        lines += 1 + usize::from(at > next) + usize::from(events[at].preempts);
        next = at + 1;
    }
    lines + usize::from(next < events.len())
}

/// Describes events that are left out: `... 36 events of main on tail, head`. Rounds of a loop are counted, with its head
/// if the source has it: `... 10 more rounds of `while self.busy()`: 10 events of main on turn`.
/// Returns nothing if the events are routine.
pub(super) fn gap(
    finding: &Finding,
    left_out: Range<usize>,
    columns: usize,
    sources: &mut Sources,
) -> Option<String> {
    let events = &finding.events;
    if events[left_out.clone()]
        .iter()
        .all(|event| is_routine(finding, event))
    {
        return None;
    }
    let mut tasks: Vec<&str> = Vec::new();
    // The variables that have one name but for their numbers: the name of the first, and `true` if there are others.
    let mut vars: Vec<(&str, bool, usize)> = Vec::new();
    // A long loop may use new variables in each round.
    let mut groups = HashMap::new();
    for event in &events[left_out.clone()] {
        if !tasks.contains(&&*event.task) {
            tasks.push(&event.task);
        }
        // A task's own variable says nothing.
        let name = finding.name_of(&event.var);
        if event.var.is_empty() || identities(&event.var).next().is_none() {
            continue;
        }
        match groups.entry(without_number(name)) {
            Entry::Occupied(group) => {
                let (known, others, times) = &mut vars[*group.get()];
                *others |= *known != name;
                *times += 1;
            }
            Entry::Vacant(group) => {
                group.insert(vars.len());
                vars.push((name, false, 1));
            }
        }
    }
    // The most frequent first, and else in order of appearance.
    vars.sort_by_key(|&(.., times)| Reverse(times));
    let mut text = String::from("  ... ");
    if let Some(rounds) = rounds(events, left_out.clone()) {
        let round = left_out.len() / rounds;
        let sites = events[left_out.start..][..round].iter().map(|event| &*event.site);
        let head = sources.loop_around(sites);
        // A `loop` has no condition to name.
        let head = head.filter(|head| head != "loop" && width(head) <= HEAD_MAX);
        let of = head.map_or_else(String::new, |head| format!(" of `{head}`"));
        text.push_str(&format!("{}{of}: ", count(rounds as u64, "more round")));
    }
    text.push_str(&count(left_out.len() as u64, "event"));
    match tasks[..] {
        [one] => text.push_str(&format!(" of {one}")),
        [one, other] => text.push_str(&format!(" of {one} and {other}")),
        _ => text.push_str(&format!(" of {} tasks", tasks.len())),
    }
    for (number, (var, others, _)) in vars.iter().enumerate() {
        let var = match others {
            true => without_number(var),
            false => Cow::from(*var),
        };
        let piece = format!("{}{var}", if number == 0 { " on " } else { ", " });
        let more = format!(" and {} more", vars.len() - number);
        if number == NAMED || width(&text) + width(&piece) + width(&more) > columns {
            if number > 0 {
                text.push_str(&more);
            }
            break;
        }
        text.push_str(&piece);
    }
    Some(text)
}

/// Returns the number of rounds of a loop that these events are, if they only repeat the events before them.
fn rounds(events: &[FindingEvent], left_out: Range<usize>) -> Option<usize> {
    let repeats = |round: usize| {
        left_out.len().is_multiple_of(round)
            && left_out.len() / round > 1
            && left_out.start >= round
            && left_out
                .clone()
                .all(|at| is_same(&events[at], &events[at - round]))
    };
    (1..=ROUND_MAX)
        .find(|&round| repeats(round))
        .map(|round| left_out.len() / round)
}
