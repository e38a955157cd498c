//! Reader-writer locks: the tasks that hold one to read, and the readers that a waiting writer could keep out.
//!
//! Neither readers nor writers have priority here. In std, a writer that waits may keep out new readers. The report
//! says so where that could make a difference, which is if a task of an execution had to wait for the lock to write,
//! and there was
//!
//! - a task that holds the lock to read and takes it again, or one that only tries to read; or
//! - a task that holds the lock to read and waits for something, while another task also reads: it may wait for that
//!   one.
//!
//! Each of these depends on what tasks do, and not on their order, so that the executions of a trace agree. Misses: a
//! reader that waits for another one in a loop.

use super::{Engine, Runtime};

impl Engine {
    /// Notes that the current task has taken a reader-writer lock to read: by a `tried` read, or by one that may wait.
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

    /// Notes that the current task releases a reader-writer lock that it held to read.
    #[cfg_attr(feature = "unmodified", inline(never))]
    pub fn unshare(self, var: u32) {
        self.with(|rt| {
            let shares = &mut rt.tasks.current_task().shares;
            if let Some(at) = shares.iter().rposition(|&shared| shared == var) {
                shares.swap_remove(at);
            }
        });
    }

    /// Notes that the current task has taken a reader-writer lock to write, in a call that would have waited for it.
    #[cfg_attr(feature = "unmodified", inline(never))]
    pub fn awaits_to_write(self, var: u32) {
        self.with(|rt| {
            rt.objects.vars[var].reading.awaited = true;
            rt.judge_reading(var);
        });
    }

    /// Returns `true` if the current task holds a reader-writer lock to read, and may not take it to read once more.
    #[inline]
    pub fn may_not_read_again(self, var: u32) -> bool {
        self.with(|rt| {
            let reads_once = rt.limits.reads_once && !rt.end.teardown;
            reads_once && rt.tasks.current_task().shares.contains(&var)
        })
    }
}

impl Runtime {
    /// Notes that the current task performs an operation that may wait, while it holds these locks to read.
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
