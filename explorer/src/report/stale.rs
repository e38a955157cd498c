//! The stale reads of a finding in words: the value read, its store, and the newer stores that were passed over.

use super::{Effect, Finding, FindingEvent, number};

/// The largest number of newer stores that are named.
const NEWER_MAX: usize = 3;

impl Finding {
    /// Returns a sentence for each read that did not return the newest value, and for each store that was placed before a
    /// newer one in the modification order. There are such operations only under a memory model (`stale_reads`).
    ///
    /// ```
    /// # use intermezzo_explorer as intermezzo;
    /// use intermezzo::sync::{Arc, atomic::{AtomicBool, Ordering::Relaxed}};
    /// use intermezzo::{Environment, Explorer, thread};
    ///
    /// let environment = Environment { stale_reads: 1, ..Environment::calm() };
    /// let report = Explorer::new().environment(environment).explore(|| {
    ///     let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    ///     let others = Arc::clone(&flags);
    ///     thread::spawn(move || {
    ///         others[0].store(true, Relaxed);
    ///         others[1].store(true, Relaxed);
    ///     });
    ///     assert!(!flags[1].load(Relaxed) || flags[0].load(Relaxed));
    /// });
    /// let stale = report.findings()[0].stale_operations();
    /// assert!(stale[0].starts_with("main reads 0 from "), "{stale:?}");
    /// assert!(stale[0].contains("It passes over 1, stored by task 1 at "), "{stale:?}");
    /// ```
    pub fn stale_operations(&self) -> Vec<String> {
        let stale = self.events.iter().filter(|event| !event.newer.is_empty());
        stale.map(|event| self.explain_stale(event)).collect()
    }

    fn explain_stale(&self, event: &FindingEvent) -> String {
        let FindingEvent { task, var, site, .. } = event;
        let value = |value: Option<u64>| number(value.unwrap_or_default());
        let newer = self.newer(event);
        if event.effect == Some(Effect::Overwritten) {
            return format!(
                "{task} stores {} to {var} at {site}, but behind a newer value: {newer}. Later loads need not see that \
                 store",
                value(event.written)
            );
        }
        let from = event.from.as_ref().and_then(|id| self.event(id));
        let stored = match from {
            Some(store) => format!("stored by {} at {}", store.task, store.site),
            None => "the value before any store".to_owned(),
        };
        format!(
            "{task} reads {} from {var} at {site}, {stored}. It passes over {newer}",
            value(event.read)
        )
    }

    /// Returns the newer stores that an operation passed over.
    fn newer(&self, event: &FindingEvent) -> String {
        let stores = event.newer.iter().filter_map(|id| self.event(id));
        let named = stores.take(NEWER_MAX).map(|store| {
            let value = number(store.written.unwrap_or_default());
            format!("{value}, stored by {} at {}", store.task, store.site)
        });
        let mut words = named.collect::<Vec<_>>().join(", and ");
        let more = event.newer.len().saturating_sub(NEWER_MAX);
        if more > 0 {
            words.push_str(&format!(", and {more} more"));
        }
        words
    }

    fn event(&self, id: &str) -> Option<&FindingEvent> {
        self.events.iter().find(|event| event.id == *id)
    }
}
