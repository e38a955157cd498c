//! What became of a breakpoint so far, in figures.

/// How often a breakpoint was come to, and what came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The breakpoint, by name; one that is given by places in the source is called as it is written.
    pub name: String,
    /// How often a task came to one of its places, its local predicate holding.
    pub visits: u64,
    /// Of those, the ones that were skipped, or came when it had been hit as often as it may be.
    pub skipped: u64,
    /// How often tasks met there.
    pub hits: u64,
    /// How often a task waited in vain.
    pub timeouts: u64,
    /// Of the hits, those after which the second went on although the first was not done: it waited too long, or nobody
    /// else could go on.
    pub unordered: u64,
}

impl Statistics {
    /// Adds what came of it elsewhere.
    pub fn add(&mut self, other: &Statistics) {
        self.visits += other.visits;
        self.skipped += other.skipped;
        self.hits += other.hits;
        self.timeouts += other.timeouts;
        self.unordered += other.unordered;
    }
}
