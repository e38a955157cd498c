//! Reader-writer locks: which tasks read, and readers that a waiting writer would keep out.
//!
//! Readers and writers have no priority here. In std, a writer that waits may keep out new readers. Where that could make
//! a difference, the report says so: an execution had a task that would wait for the lock to write, and
//!
//! - a task that reads already and takes it again, or one that only tries to read; or
//! - a task that reads and waits for something meanwhile, while another task reads, too: it may wait for that one.
//!
//! Each of these depends on what tasks do, and not on their order, so that the executions of a trace agree. Misses: a
//! reader that waits for another one by a loop.

use super::{Engine, Runtime};

impl Engine {
    /// Notes that the current task reads what a reader-writer lock guards, after a wait for it if it is not `tried`.
    #[cfg_attr(feature = "unmodified", inline(never))]
    pub fn share(self, var: u32, tried: bool) {
        self.with(|rt| {
            let current = rt.tasks.current();
            let shares = &mut rt.tasks[current].shares;
            let again = shares.contains(&var);
            shares.push(var);
            let reading = &mut rt.objects.vars[var].reading;
            reading.passed |= again || tried;
            reading.several |= *reading.reader.get_or_insert(current) != current;
            rt.judge_reading(var);
        });
    }

    /// Notes that the current task no longer reads what a reader-writer lock guards.
    #[cfg_attr(feature = "unmodified", inline(never))]
    pub fn unshare(self, var: u32) {
        self.with(|rt| {
            let shares = &mut rt.tasks.current_task().shares;
            if let Some(at) = shares.iter().rposition(|&shared| shared == var) {
                shares.swap_remove(at);
            }
        });
    }

    /// Notes that the current task has taken a reader-writer lock to write, and would have waited for it.
    #[cfg_attr(feature = "unmodified", inline(never))]
    pub fn awaits_to_write(self, var: u32) {
        self.with(|rt| {
            rt.objects.vars[var].reading.awaited = true;
            rt.judge_reading(var);
        });
    }

    /// Returns `true` if the current task reads what a reader-writer lock guards, and cannot read it once more.
    #[inline]
    pub fn may_not_read_again(self, var: u32) -> bool {
        self.with(|rt| {
            let reads_once = rt.limits.reads_once && !rt.end.teardown;
            reads_once && rt.tasks.current_task().shares.contains(&var)
        })
    }
}

impl Runtime {
    /// Notes that the current task performs an operation that may wait, for the locks that it reads.
    #[cold]
    #[inline(never)]
    pub(super) fn waits_while_it_reads(&mut self) {
        let current = self.tasks.current();
        for at in 0..self.tasks[current].shares.len() {
            let var = self.tasks[current].shares[at];
            self.objects.vars[var].reading.held = true;
            self.judge_reading(var);
        }
    }

    fn judge_reading(&mut self, var: u32) {
        if self.objects.vars[var].reading.depends_on_priority() {
            self.world.capped.waiting_writers = true;
        }
    }
}
