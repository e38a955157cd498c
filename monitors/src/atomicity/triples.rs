//! Triples: two accesses of a task to one variable with another task's access in between, in the four cases that no
//! serial order explains (AVIO).

use super::graph::NodeId;
use intermezzo_sdk::{
    Context, DataVarAccess, EventId, FindingKind, Location, MonitorFinding, SiteId, SyncVar, SyncVarAccess,
    SyncVarOp, TaskId,
};
use std::collections::{BTreeMap, HashMap};

/// Most lines between two accesses outside of blocks that belong together, unless an argument sets another number.
const LINES: u32 = 3;

/// The accessed object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Variable {
    Sync(SyncVar),
    Cell(Location),
}

#[derive(Clone, Copy, Debug)]
struct Access {
    task: TaskId,
    /// A read-modify-write does both.
    reads: bool,
    writes: bool,
    /// The bytes from begin to end; all of it for an atomic.
    bytes: (u64, u64),
    block: Option<NodeId>,
    event: EventId,
    site: SiteId,
}

impl Access {
    fn overlaps(&self, other: &Access) -> bool {
        self.bytes.0 < other.bytes.1 && other.bytes.0 < self.bytes.1
    }

    /// Returns the problem if `between`, of another task, comes between this access and `next`.
    fn broken_by(&self, between: &Access, next: &Access) -> Option<&'static str> {
        if self.reads && between.writes && next.writes {
            Some("the value written depends on one that was overwritten")
        } else if self.reads && between.writes && next.reads {
            Some("the two reads see different values")
        } else if self.writes && between.writes && next.reads {
            Some("it does not read the value that it wrote")
        } else if self.writes && between.reads && next.writes {
            Some("an intermediate value becomes visible")
        } else {
            None
        }
    }
}

/// Finds such accesses.
#[derive(Debug)]
pub(super) struct Triples {
    /// Most lines between two accesses outside of blocks that belong together.
    pub(super) lines: u32,
    accesses: HashMap<Variable, Vec<Access>>,
    /// File and line of source places.
    places: HashMap<SiteId, (String, u32)>,
    found: BTreeMap<String, MonitorFinding>,
}

impl Default for Triples {
    fn default() -> Self {
        Triples {
            lines: LINES,
            accesses: HashMap::new(),
            places: HashMap::new(),
            found: BTreeMap::new(),
        }
    }
}

impl Triples {
    /// Forgets everything of the execution.
    pub(super) fn clear(&mut self) {
        self.accesses.clear();
        self.places.clear();
        self.found.clear();
    }

    /// Returns the findings of the execution that ends, each once.
    pub(super) fn reports(&mut self) -> impl Iterator<Item = MonitorFinding> + use<> {
        std::mem::take(&mut self.found).into_values()
    }

    /// Adds an access to an atomic. Other operations are ignored.
    pub(super) fn access(&mut self, access: &SyncVarAccess, block: Option<NodeId>, cx: &Context<'_>) {
        use SyncVarOp::*;
        let (reads, writes) = match access.op {
            AtomicLoad | AtomicRmwFailed | DataRead => (true, false),
            AtomicStore | DataWrite => (false, true),
            AtomicRmw => (true, true),
            _ => return,
        };
        let next = Access {
            task: access.event.task,
            reads,
            writes,
            bytes: (0, 1),
            block,
            event: access.event,
            site: access.site,
        };
        self.add(Variable::Sync(access.var), next, cx);
    }

    /// Adds an access to a cell.
    pub(super) fn access_cell(&mut self, access: &DataVarAccess, block: Option<NodeId>, cx: &Context<'_>) {
        let begin = u64::from(access.offset);
        let next = Access {
            task: access.after.task,
            reads: !access.is_write,
            writes: access.is_write,
            bytes: (begin, begin + u64::from(access.size)),
            block,
            event: access.after,
            site: access.site,
        };
        self.add(Variable::Cell(access.location), next, cx);
    }

    fn add(&mut self, variable: Variable, next: Access, cx: &Context<'_>) {
        let mut accesses = self.accesses.remove(&variable).unwrap_or_default();
        let own = |access: &Access| access.task == next.task && access.overlaps(&next);
        if let Some(at) = accesses.iter().rposition(own)
            && self.together(&accesses[at], &next, cx)
        {
            let first = accesses[at];
            for between in &accesses[at + 1..] {
                let meets_both = between.overlaps(&first) && between.overlaps(&next);
                if meets_both
                    && between.task != next.task
                    && let Some(wrong) = first.broken_by(between, &next)
                {
                    self.note(variable, [&first, between, &next], wrong, cx);
                }
            }
        }
        accesses.push(next);
        self.accesses.insert(variable, accesses);
    }

    /// `true` if the two accesses, of one task, belong together.
    fn together(&mut self, a: &Access, b: &Access, cx: &Context<'_>) -> bool {
        if a.block.is_some() || b.block.is_some() {
            return a.block == b.block;
        }
        let (file, line) = self.place(a.site, cx);
        let (other_file, other_line) = self.place(b.site, cx);
        file == other_file && line.abs_diff(other_line) <= self.lines
    }

    fn place(&mut self, site: SiteId, cx: &Context<'_>) -> (String, u32) {
        let find = || {
            // `file:line:column`
            let name = cx.site_name(site);
            let mut parts = name.rsplitn(3, ':');
            let line = parts.nth(1).and_then(|line| line.parse().ok());
            match (parts.next(), line) {
                (Some(file), Some(line)) => (file.to_owned(), line),
                _ => (name, 0),
            }
        };
        self.places.entry(site).or_insert_with(find).clone()
    }

    fn note(
        &mut self,
        variable: Variable,
        [first, between, next]: [&Access; 3],
        wrong: &str,
        cx: &Context<'_>,
    ) {
        let name = match variable {
            Variable::Sync(var) => cx.var_name(var),
            Variable::Cell(location) => cx.location_name(location),
        };
        let message = format!(
            "{} accesses {name} at {} and at {}, and {} does so in between at {}: {wrong}",
            cx.task_name(first.task),
            cx.site_name(first.site),
            cx.site_name(next.site),
            cx.task_name(between.task),
            cx.site_name(between.site),
        );
        let report = MonitorFinding::new(FindingKind::Atomicity, message.clone())
            .warning()
            .events([first.event, next.event, between.event])
            .suggest("make it one read-modify-write, or hold a lock over both accesses");
        self.found.entry(message).or_insert(report);
    }
}
