//! Plain steps: one operation without special traits, and nothing else that other tasks may notice. Most steps are
//! plain, so there is a faster function that adds them, without the parts of [`Trace::add`] that do not apply.

use super::hash::{hash64, hash128};
use super::op_info::OpInfo;
use super::step::Begun;
use super::{Analysis, Class, Entry, Key, KeyAccess, NewEntry, Step, StepAccess, StepEnd, Trace};
use crate::record::Event;
use intermezzo_sdk::SyncVar;

impl Trace {
    /// Returns `true` if a step is just this one event, which accesses its variable and has no special traits, followed
    /// by `others` that show nothing.
    #[inline(always)]
    pub fn is_plain(&self, task: u32, event: &Event, others: &[Event], is_last: bool) -> bool {
        (others.is_empty() || others.iter().all(|event| self.tells_nothing(event, is_last)))
            && OpInfo::of(event.op).are_plain()
            && event.var != SyncVar::NONE.0
            && event.task == task
            && !event.elided
            && self.elided.is_none()
    }

    /// Like `add`, for a plain step that accessed nothing else. `add` has to give such a step the same fingerprint.
    #[inline(always)]
    pub(crate) fn add_plain(&mut self, end: &StepEnd<'_>) {
        let Event { task, op, var, .. } = end.events[0];
        let facts = OpInfo::of(op).plain();
        let access = StepAccess {
            key: Key::of(op, var),
            class: facts.class.unwrap_or(Class::Write),
        };
        let (entry, races) = (self.entries.len() as u32, self.races.len() as u32);
        let tracked = self.track(task, end);
        let (before, index) = (tracked.head, tracked.entries + 1);
        (tracked.head, tracked.entries) = (entry, index);
        let identity = hash64(tracked.lineage, u64::from(index));
        self.entries.push(Entry {
            task,
            index,
            step: self.steps.len() as u32,
            before,
            op,
            key: access.key,
        });
        self.sound = self.sound.max(facts.sound);
        let is_ordered = self.detail >= Analysis::Races;
        if is_ordered {
            self.clocks.add_after(entry, before, task, index);
        }
        let key = access.key.index();
        if key >= self.keys.len() {
            self.add_keys(key);
        }
        let list = &self.keys[key];
        let gates = match list.is_empty() {
            true => end.vars[var].initial,
            false => self.gates[var as usize],
        };
        let (group, sum) = match list.last() {
            Some(last) if last.class.commutes(access.class) => (last.group, last.sum.wrapping_add(identity)),
            _ => (list.len() as u32, identity),
        };
        let mut seen = 0;
        if let Some(last) = list[..group as usize].last() {
            seen = last.sum;
            if is_ordered && !self.knows_group(entry, last, &list[..group as usize]) {
                let begun = Begun {
                    task,
                    entries: entry,
                    races,
                    stands: entry,
                };
                let by = NewEntry {
                    entry,
                    task,
                    index,
                    op,
                    facts,
                    identity,
                };
                self.order_and_find_races(begun, &by, access, group, end.waited);
            }
        }
        self.keys[key].push(KeyAccess {
            entry,
            task,
            index,
            class: access.class,
            open: gates,
            gates,
            group,
            sum,
        });
        let accesses = self.accesses.len() as u32;
        self.accesses.push(access);
        let number = hash128(identity, seen, op as u64);
        self.steps.push(Step {
            task,
            entries: entry,
            accesses,
            followed: self.followed.len() as u32,
            vars: end.vars.count() as u32,
            index,
            events_end: end.events_end,
            choices_end: end.choices,
            races,
            stands: entry,
            fingerprint: self.fingerprint().wrapping_add(number),
        });
        if var as usize >= self.gates.len() {
            self.add_gates(var as usize);
        }
        self.gates[var as usize] = end.vars[var].gates;
    }
}
