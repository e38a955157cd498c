//! Values that are inserted, read and removed: the common part of queues, stacks and priority queues.

use super::time::{Moment, NEVER, Placed, place};
use super::{Long, MISFIT, Violation};
use crate::history::History;
use hashbrown::HashMap;
use std::hash::Hash;

/// The effect of an operation on a container. `None` instead of a value: it was found empty.
pub(super) enum Step<V> {
    Put(V),
    Take(Option<V>),
    Look(Option<V>),
    /// It may have removed a value; it is not known which.
    PendingTake,
    /// It changes nothing, and its result is unknown.
    Nothing,
    /// Its result is impossible for its kind.
    Misfit,
}

/// A value and the operations on it.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) put: Placed,
    pub(super) taken: Option<Placed>,
    /// The operations that only read it, a range of [`Container::looks`].
    looks: (u32, u32),
    /// Its first return: by then it must have been inserted.
    pub(super) there: Moment,
    /// Its last call: until then it must not be removed. [`NEVER`] if no operation removes it.
    pub(super) until: Moment,
    /// The operations that determine `there` and `until`.
    pub(super) bounds: [u32; 2],
}

impl Value {
    /// `true` if there is a time at which it must be in the container.
    pub(super) fn is_critical(&self) -> bool {
        self.there < self.until
    }

    /// Returns the operations that bound its insertion and its removal, and the bounds of its critical interval.
    pub(super) fn operations(&self) -> impl Iterator<Item = u32> + use<> {
        let taken = self.taken.map(|taken| taken.id);
        [self.put.id].into_iter().chain(taken).chain(self.bounds)
    }
}

/// The values of a history, each of which is inserted once.
#[derive(Clone, Debug)]
pub(super) struct Container<V> {
    pub(super) values: Vec<Value>,
    /// The values themselves, in the same order.
    pub(super) names: Vec<V>,
    looks: Vec<Placed>,
    /// The operations that found it empty.
    pub(super) empties: Vec<Placed>,
    /// The number of moments.
    pub(super) moments: Moment,
    /// `true` if operations that take something are pending.
    pub(super) pending_takes: bool,
}

/// The effect of an operation on a value.
enum Kind {
    Put,
    Take,
    Look,
}

/// The knowledge of a value while the history is read.
struct Draft<V> {
    name: Option<V>,
    put: Option<Placed>,
    taken: Option<Placed>,
}

impl<V> Default for Draft<V> {
    fn default() -> Self {
        Draft {
            name: None,
            put: None,
            taken: None,
        }
    }
}

impl<V: Clone + Eq + Hash> Container<V> {
    /// Reads a history.
    ///
    /// # Errors
    /// If it is decided already: a value comes from nowhere, twice, or at the wrong time. Or if values are not
    /// distinct.
    pub(super) fn read<C, R>(
        history: &History<C, R>,
        step: impl Fn(&C, Option<&R>) -> Step<V>,
    ) -> Result<Container<V>, Long> {
        let (placed, moments) = place(history);
        let mut numbers: HashMap<V, u32> = HashMap::new();
        let mut drafts: Vec<Draft<V>> = Vec::new();
        let mut looks = Vec::new();
        let mut empties = Vec::new();
        let mut pending_takes = false;
        let mut twice = None;
        for (operation, &at) in history.operations().iter().zip(&placed) {
            let (value, kind) = match step(&operation.call, operation.returned.as_ref()) {
                Step::Put(value) => (value, Kind::Put),
                Step::Take(Some(value)) => (value, Kind::Take),
                Step::Look(Some(value)) => (value, Kind::Look),
                Step::Take(None) | Step::Look(None) => {
                    empties.push(at);
                    continue;
                }
                Step::PendingTake => {
                    pending_takes = true;
                    continue;
                }
                Step::Nothing => continue,
                Step::Misfit => return Err(Long::NotApplicable(MISFIT)),
            };
            let number = *numbers.entry(value).or_insert_with(|| {
                drafts.push(Draft::default());
                drafts.len() as u32 - 1
            });
            let draft = &mut drafts[number as usize];
            match kind {
                Kind::Put => {
                    if draft.put.replace(at).is_some() {
                        return Err(Long::NotApplicable("a value is put in twice"));
                    }
                }
                Kind::Take => {
                    if let Some(before) = draft.taken.replace(at) {
                        twice = twice.or(Some((number, before, at)));
                    }
                }
                Kind::Look => looks.push((number, at)),
            }
        }
        for (name, number) in numbers {
            drafts[number as usize].name = Some(name);
        }
        if let Some((number, first, second)) = twice {
            let put = drafts[number as usize].put;
            return Err(Long::Violation(Violation::new(
                format!(
                    "#{} and #{} take the same value, and it is put in once",
                    first.id, second.id
                ),
                [first.id, second.id].into_iter().chain(put.map(|put| put.id)),
            )));
        }
        // By value, and for each value in the order of calls, because the sort is stable.
        looks.sort_by_key(|&(number, _)| number);
        Container {
            values: Vec::new(),
            names: Vec::new(),
            looks: looks.iter().map(|&(_, at)| at).collect(),
            empties,
            moments,
            pending_takes,
        }
        .with_values(drafts, &looks)
    }

    fn with_values(mut self, drafts: Vec<Draft<V>>, looks: &[(u32, Placed)]) -> Result<Container<V>, Long> {
        let mut end = 0;
        for (draft, number) in drafts.into_iter().zip(0..) {
            let start = end;
            while end < looks.len() && looks[end].0 == number {
                end += 1;
            }
            let seen = start < end || draft.taken.is_some();
            match draft.put {
                None => {
                    let by = draft.taken.unwrap_or_else(|| looks[start].1).id;
                    return Err(Long::Violation(Violation::new(
                        format!("#{by} finds a value that no operation puts in"),
                        [by],
                    )));
                }
                // No operation saw it, so it may not have happened.
                Some(put) if put.ret == NEVER && !seen => {}
                Some(put) => {
                    let value = self.value(put, draft.taken, (start as u32, end as u32))?;
                    self.values.push(value);
                    self.names.extend(draft.name);
                }
            }
        }
        Ok(self)
    }

    fn value(&self, put: Placed, taken: Option<Placed>, looks: (u32, u32)) -> Result<Value, Long> {
        let (mut first, mut last) = (put, put);
        for &at in taken
            .iter()
            .chain(&self.looks[looks.0 as usize..looks.1 as usize])
        {
            if at.ret < put.call {
                return Err(Long::Violation(Violation::new(
                    format!(
                        "#{} finds a value and returns before #{} is called, which puts it in",
                        at.id, put.id
                    ),
                    [at.id, put.id],
                )));
            }
            if let Some(taken) = taken
                && taken.ret < at.call
            {
                return Err(Long::Violation(Violation::new(
                    format!(
                        "#{} finds a value and is called after #{} has returned, which takes it",
                        at.id, taken.id
                    ),
                    [at.id, taken.id, put.id],
                )));
            }
            if at.ret < first.ret {
                first = at;
            }
            if at.call > last.call {
                last = at;
            }
        }
        Ok(Value {
            put,
            taken,
            looks,
            there: first.ret,
            until: if taken.is_some() { last.call } else { NEVER },
            bounds: [first.id, last.id],
        })
    }
}

impl<V> Container<V> {
    /// Returns the operations that look at a value, in the order of their calls.
    pub(super) fn looks(&self, value: &Value) -> &[Placed] {
        &self.looks[value.looks.0 as usize..value.looks.1 as usize]
    }

    /// Returns the operations that find the value where it is next to be taken.
    pub(super) fn findings<'a>(&'a self, value: &'a Value) -> impl Iterator<Item = Placed> + use<'a, V> {
        value.taken.into_iter().chain(self.looks(value).iter().copied())
    }

    /// Returns the container with some of the values. Leaving values out leaves a linearizable history linearizable.
    pub(super) fn of(&self, keep: impl Fn(&Value) -> bool) -> Container<V>
    where
        V: Clone,
    {
        let kept = self
            .values
            .iter()
            .zip(&self.names)
            .filter(|(value, _)| keep(value));
        let (values, names) = kept.map(|(value, name)| (value.clone(), name.clone())).unzip();
        Container {
            values,
            names,
            looks: self.looks.clone(),
            empties: self.empties.clone(),
            ..*self
        }
    }

    /// Judges the container by a condition that is exact if no operation that takes something is pending.
    pub(super) fn decide(&self, violated: impl Fn(&Container<V>) -> Option<Violation>) -> Long
    where
        V: Clone,
    {
        let Some(violation) = violated(self) else {
            // As if the pending ones had not happened.
            return Long::Linearizable;
        };
        if !self.pending_takes {
            return Long::Violation(violation);
        }
        // Pending operations take no value that another operation takes.
        match violated(&self.of(|value| value.taken.is_some())) {
            Some(violation) => Long::Violation(violation),
            None => Long::NotApplicable("pending operations may have taken something that matters"),
        }
    }
}
