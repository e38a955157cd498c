//! The figures of a breakpoint.

/// The number of visits to a breakpoint, and of their outcomes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The breakpoint's name. For a breakpoint that is given by places in the source, it is that text.
    pub name: String,
    /// The number of times that a task reached one of its places with its local predicate true.
    pub visits: u64,
    /// Of those, the ones that were skipped, or came after the maximum number of hits.
    pub skipped: u64,
    /// The number of meetings.
    pub hits: u64,
    /// The number of times that a task waited and no partner came.
    pub timeouts: u64,
    /// Of the hits, those after which the second continued although the first was not done: it waited too long, or no
    /// other task could continue.
    pub unordered: u64,
}

impl Statistics {
    /// Adds other figures to these.
    pub fn add(&mut self, other: &Statistics) {
        self.visits += other.visits;
        self.skipped += other.skipped;
        self.hits += other.hits;
        self.timeouts += other.timeouts;
        self.unordered += other.unordered;
    }
}
