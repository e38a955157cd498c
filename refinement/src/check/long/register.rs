//! Long histories of registers that are read and written, each value once: zones (Gibbons & Korach 1997).
//!
//! The operations of a value are its write and its reads. If the first return among them is before the last call, the
//! register holds the value from the one to the other: two such *forward zones* must not overlap. Otherwise it needs
//! to hold the value for a moment only, somewhere between the last call and the first return: this *backward zone*
//! must not lie within a forward zone of another. The first value is written before everything else.

use super::time::{Moment, NEVER, Placed, place};
use super::{CheckLong, Long, MISFIT, Violation};
use crate::history::History;
use crate::specs::register::{Call, Register, Return};
use hashbrown::HashMap;
use std::hash::Hash;

/// Returns whether a register's history is linearizable, in n log n.
pub fn check<V: Clone + Eq + Hash>(register: &Register<V>, history: &History<Call<V>, Return<V>>) -> Long {
    match read(register, history) {
        Ok(zones) => match overlap(&zones) {
            Some(violation) => Long::Violation(violation),
            None => Long::Linearizable,
        },
        Err(decided) => decided,
    }
}

impl<V: Clone + Eq + Hash> CheckLong for Register<V> {
    fn check_long(&self, history: &History<Call<V>, Return<V>>) -> Long {
        check(self, history)
    }
}

/// The times of a value. Moments are one more than those of the history: at moment 0 the first value is there.
#[derive(Clone, Copy, Debug)]
struct Zone {
    /// The write, if it is not the first value.
    write: Option<Placed>,
    /// The first return, and its operation.
    first: (Moment, Option<u32>),
    /// The last call, and its operation.
    last: (Moment, Option<u32>),
    is_read: bool,
}

impl Zone {
    fn includes(&mut self, operation: Placed) {
        if operation.ret < self.first.0 {
            self.first = (operation.ret, Some(operation.id));
        }
        if operation.call >= self.last.0 {
            self.last = (operation.call, Some(operation.id));
        }
    }

    fn is_forward(&self) -> bool {
        self.first.0 < self.last.0
    }

    fn operations(&self) -> impl Iterator<Item = u32> + use<> {
        let write = self.write.map(|write| write.id);
        [write, self.first.1, self.last.1].into_iter().flatten()
    }

    /// Returns the value's name.
    fn name(&self) -> String {
        match self.write {
            Some(write) => format!("the value of #{}", write.id),
            None => "the first value".to_owned(),
        }
    }

    /// Describes the time in which the register holds the value.
    fn told(&self) -> String {
        let from = match self.first.1 {
            Some(first) => format!("from the return of #{first}"),
            None => "from the beginning".to_owned(),
        };
        let last = self.last.1.expect("a forward zone ends with a call");
        format!("{from} until the call of #{last} it holds {}", self.name())
    }
}

/// Returns the zones of all values that have one.
fn read<V: Clone + Eq + Hash>(
    register: &Register<V>,
    history: &History<Call<V>, Return<V>>,
) -> Result<Vec<Zone>, Long> {
    const EMPTY: Zone = Zone {
        write: None,
        first: (NEVER, None),
        last: (0, None),
        is_read: false,
    };
    let (placed, _) = place(history);
    let mut numbers: HashMap<&V, usize> = HashMap::new();
    let mut zones = vec![Zone {
        first: (0, None),
        ..EMPTY
    }];
    numbers.insert(&register.0, 0);
    for (operation, &at) in history.operations().iter().zip(&placed) {
        let later = Placed {
            id: at.id,
            call: at.call + 1,
            ret: at.ret.saturating_add(1),
        };
        let (value, is_write) = match (&operation.call, &operation.returned) {
            (Call::Write(value), None | Some(Return::Done)) => (value, true),
            (Call::Read, Some(Return::Value(value))) => (value, false),
            (Call::Read, None) => continue,
            (Call::CompareAndSet(..), None | Some(Return::Was(_))) => {
                return Err(Long::NotApplicable("values are compared and set"));
            }
            _ => return Err(Long::NotApplicable(MISFIT)),
        };
        let number = *numbers.entry(value).or_insert_with(|| {
            zones.push(EMPTY);
            zones.len() - 1
        });
        let zone = &mut zones[number];
        zone.includes(later);
        if !is_write {
            zone.is_read = true;
        } else if number == 0 || zone.write.replace(later).is_some() {
            return Err(Long::NotApplicable("a value is written twice"));
        }
    }
    let mut known = Vec::with_capacity(zones.len());
    for (number, zone) in zones.into_iter().enumerate() {
        match zone.write {
            None if number > 0 => {
                let by = zone.first.1.expect("an operation reads it");
                return Err(Long::Violation(Violation::new(
                    format!("#{by} reads a value that no operation writes"),
                    [by],
                )));
            }
            Some(write) if zone.first.0 < write.call => {
                let by = zone.first.1.expect("a return has an operation");
                return Err(Long::Violation(Violation::new(
                    format!(
                        "#{by} reads a value and returns before #{} is called, which writes it",
                        write.id
                    ),
                    [by, write.id],
                )));
            }
            // No operation read it, so it may not have happened.
            Some(write) if write.ret == NEVER && !zone.is_read => {}
            _ => known.push(zone),
        }
    }
    Ok(known)
}

/// Finds two zones that exclude each other.
fn overlap(zones: &[Zone]) -> Option<Violation> {
    let mut forward: Vec<&Zone> = zones.iter().filter(|zone| zone.is_forward()).collect();
    forward.sort_unstable_by_key(|zone| zone.first.0);
    for pair in forward.windows(2) {
        if pair[1].first.0 < pair[0].last.0 {
            return Some(Violation::new(
                format!(
                    "the register holds two values at once: {}; {}",
                    pair[0].told(),
                    pair[1].told()
                ),
                pair.iter().flat_map(|zone| zone.operations()),
            ));
        }
    }
    for zone in zones.iter().filter(|zone| !zone.is_forward()) {
        // The zone that begins last before it. Forward zones do not overlap, so no other can contain it.
        let before = forward.partition_point(|forward| forward.first.0 < zone.last.0);
        let Some(around) = before.checked_sub(1).map(|at| forward[at]) else {
            continue;
        };
        if zone.first.0 < around.last.0 {
            return Some(Violation::new(
                format!(
                    "{}, and within that time {} is written and read, which leaves no moment for it",
                    around.told(),
                    zone.name()
                ),
                zone.operations().chain(around.operations()),
            ));
        }
    }
    None
}
