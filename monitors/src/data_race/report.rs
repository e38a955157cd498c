//! The words of a race.

use super::shadow::{Deed, End};
use super::{DataRaces, Race, Subject, explain};
use intermezzo_sdk::{Context, Deed as ToldDeed, EventId, FindingKind, MonitorFinding, SiteId};
use std::collections::BTreeMap;

impl DataRaces {
    /// Reports the races of the execution: each pair of places once, by the first of its messages.
    #[cold]
    pub(super) fn tell(&mut self, cx: &mut Context<'_>) {
        let mut by_places: BTreeMap<[SiteId; 2], (usize, String, Race)> = BTreeMap::new();
        for race in self.races.found.drain(..) {
            let ends = [race.earlier.end, race.later];
            let mut places = ends.map(|end| end.site);
            places.sort();
            // A place that reads and writes is reported by its writes.
            let reads = ends.iter().filter(|end| !end.deed.is_write()).count();
            let message = message(&race, cx);
            let told = by_places
                .entry(places)
                .or_insert_with(|| (reads, message.clone(), race));
            if (reads, &message) < (told.0, &told.1) {
                *told = (reads, message, race);
            }
        }
        let told = by_places.into_values();
        let mut told: Vec<(String, Race)> = told.map(|(_, message, race)| (message, race)).collect();
        told.sort_by(|(a, _), (b, _)| a.cmp(b));
        let most = if self.first_only { 1 } else { usize::MAX };
        for (message, race) in told.into_iter().take(most) {
            let known_by = EventId {
                task: race.earlier.end.task,
                index: race.earlier.index,
            };
            let events = &cx.accesses()[..race.events];
            let suggestion = explain::suggestion(known_by, race.later.task, events, cx);
            let before = EventId {
                index: race.earlier.event,
                ..known_by
            };
            let subject = subject(&race, cx);
            let deeds = [(before, race.earlier.end), (race.after, race.later)].map(|(after, end)| ToldDeed {
                after,
                site: end.site,
                what: format!("{} {subject}", end.deed.name()),
            });
            let report = MonitorFinding::new(FindingKind::DataRace, message);
            let sites = [race.earlier.end.site, race.later.site];
            cx.report(
                report
                    .events([race.after, before])
                    .sites(sites)
                    .deeds(deeds)
                    .suggest(suggestion),
            );
        }
    }
}

/// Returns the message: the same for both orders of the two, and whichever of two pointers changed a byte. The other
/// pointer may have written the value that was there already.
fn message(race: &Race, cx: &Context<'_>) -> String {
    let (earlier, later) = (race.earlier.end, race.later);
    let mut ends = [(earlier, later), (later, earlier)].map(|(End { task, deed, site }, other)| {
        let (task, site) = (cx.task_name(task), cx.site_name(site));
        let words = match deed {
            Deed::Pointer if !other.deed.is_write() && !other.deed.is_by_pointer() => {
                "writes it by a pointer"
            }
            deed => deed.words(),
        };
        format!("{task} {words} at {site}")
    });
    ends.sort();
    let [one, other] = ends;
    let subject = subject(race, cx);
    let writes = match earlier.deed.is_by_pointer() && later.deed.is_by_pointer() {
        true => "at least one of them to write, ",
        false => "",
    };
    format!("data race on {subject}: {one}, {other}, {writes}and nothing orders the two")
}

/// Returns the name of the accessed memory.
fn subject(race: &Race, cx: &Context<'_>) -> String {
    match race.subject {
        Subject::Location(location) => cx.location_name(location),
        Subject::Var(var) => cx.var_name(var),
    }
}
