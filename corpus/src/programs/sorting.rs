//! The programs of RankChecker's table that sort, and their twins, corrected; see `contest`.

use super::scaffold::twin;
use super::support::CALM_2;
use crate::{Expected, Program};
use intermezzo::sync::Mutex;
use intermezzo::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use intermezzo::thread;
use std::time::Duration;

/// The sorters are waited for by sleeping.
pub(super) const BUBBLE_SORT: Program = Program {
    name: "bubble_sort",
    about: "main starts a task for each pass over an array, and sleeps until they should be done (ConTest's BubbleSort)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        let array = unsorted();
        thread::scope(|scope| {
            scope.spawn(|| pass(&array, array.len() - 1));
            scope.spawn(|| pass(&array, array.len() - 1));
            thread::sleep(Duration::from_millis(100));
            assert_sorted(&array);
        });
    },
};

/// Its twin: the sorters are joined.
pub(super) const BUBBLE_SORT_FIXED: Program = twin(
    &BUBBLE_SORT,
    "bubble_sort_fixed",
    "bubble_sort, with main waiting for each pass before the next",
    |_| {
        let array = unsorted();
        for _ in 0..array.len() - 1 {
            thread::scope(|scope| scope.spawn(|| pass(&array, array.len() - 1)).join().unwrap());
        }
        assert_sorted(&array);
    },
);

/// Passes that rely on the order in which their tasks were started.
pub(super) const BUBBLE_SORT2: Program = Program {
    name: "bubble_sort2",
    about: "one task for each pass over an array, which is one shorter than the pass that was started before (ConTest's \
            BubbleSort2)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| sorting_in_passes(|started| started),
};

/// Its twin: each pass sees how many were before.
pub(super) const BUBBLE_SORT2_FIXED: Program = twin(
    &BUBBLE_SORT2,
    "bubble_sort2_fixed",
    "bubble_sort2, with passes that do not get shorter",
    |_| sorting_in_passes(|_| 0),
);

/// Each task passes once over the array under its lock, except for the elements that `leave_out` says for its number.
fn sorting_in_passes(leave_out: impl Fn(usize) -> usize + Sync) {
    let array = Mutex::new([3, 2, 1]);
    let (leave_out, array) = (&leave_out, &array);
    thread::scope(|scope| {
        for started in 0..2 {
            scope.spawn(move || {
                let mut array = array.lock().unwrap();
                for at in 0..array.len() - 1 - leave_out(started) {
                    if array[at] > array[at + 1] {
                        array.swap(at, at + 1);
                    }
                }
            });
        }
    });
    assert!(array.lock().unwrap().is_sorted(), "the array is sorted");
}

fn unsorted() -> [AtomicUsize; 3] {
    [3, 2, 1].map(AtomicUsize::new)
}

/// Exchanges neighbours that are out of order, among the first `pairs` pairs.
fn pass(array: &[AtomicUsize], pairs: usize) {
    for neighbours in array.windows(2).take(pairs) {
        let [first, second] = [0, 1].map(|at| neighbours[at].load(SeqCst));
        if first > second {
            neighbours[0].store(second, SeqCst);
            neighbours[1].store(first, SeqCst);
        }
    }
}

fn assert_sorted(array: &[AtomicUsize]) {
    assert!(
        array.iter().map(|item| item.load(SeqCst)).is_sorted(),
        "the array is sorted"
    );
}

/// More workers are taken than there are.
pub(super) const MERGE_SORT: Program = Program {
    name: "merge_sort",
    about: "each half of a part is sorted by a task of its own if there is one left, which is found and taken in two \
            steps (ConTest's MergeSort)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        sorting_by_halves(|left| {
            let is_left = left.load(SeqCst) > 0;
            if is_left {
                assert!(left.fetch_sub(1, SeqCst) > 0, "no more tasks than there are");
            }
            is_left
        })
    },
};

/// Its twin: in one step.
pub(super) const MERGE_SORT_FIXED: Program = twin(
    &MERGE_SORT,
    "merge_sort_fixed",
    "merge_sort, with tasks that are found and taken in one step",
    |_| {
        sorting_by_halves(|left| {
            left.fetch_update(SeqCst, SeqCst, |left| (left > 0).then(|| left - 1))
                .is_ok()
        })
    },
);

/// Sorts an array by halves, where `take` takes one of the tasks that are left.
fn sorting_by_halves(take: impl Fn(&AtomicI64) -> bool + Sync) {
    let mut items = [4, 3, 2, 1];
    sort(&mut items, &AtomicI64::new(3), &take);
    assert!(items.is_sorted(), "the array is sorted");
}

fn sort(items: &mut [u64], left: &AtomicI64, take: &(impl Fn(&AtomicI64) -> bool + Sync)) {
    if items.len() < 2 {
        return;
    }
    let (low, high) = items.split_at_mut(items.len() / 2);
    thread::scope(|scope| {
        for half in [low, high] {
            match half.len() > 1 && take(left) {
                true => drop(scope.spawn(move || {
                    // A task looks for others of its own, and needs none.
                    sort(half, left, take);
                    take(left);
                })),
                false => sort(half, left, take),
            }
        }
    });
    items.sort_unstable();
}

/// The parts that are sorted are counted without a lock.
pub(super) const MERGE_SORT_BUG: Program = Program {
    name: "merge_sort_bug",
    about: "two tasks sort a half each and count themselves in a variable that has no lock; main merges the halves if both \
            were counted (ConTest's MergeSortBug)",
    parameters: &[],
    settings: CALM_2,
    expected: Expected::Fail("panic"),
    body: |_| {
        merging(|sorted| {
            let before = sorted.load(SeqCst);
            sorted.store(before + 1, SeqCst);
        })
    },
};

/// Its twin: they are counted by an atomic operation.
pub(super) const MERGE_SORT_BUG_FIXED: Program = twin(
    &MERGE_SORT_BUG,
    "merge_sort_bug_fixed",
    "merge_sort_bug, with tasks that count themselves by an atomic operation",
    |_| {
        merging(|sorted| {
            sorted.fetch_add(1, SeqCst);
        })
    },
);

/// Two tasks sort a half each, and `count` it.
fn merging(count: impl Fn(&AtomicUsize) + Sync) {
    let mut items = [4, 3, 2, 1];
    let sorted = AtomicUsize::new(0);
    let (count, counted) = (&count, &sorted);
    let (low, high) = items.split_at_mut(2);
    thread::scope(|scope| {
        for half in [low, high] {
            scope.spawn(move || {
                half.sort_unstable();
                count(counted);
            });
        }
    });
    if sorted.into_inner() == 2 {
        items.sort_unstable();
    }
    assert!(items.is_sorted(), "the array is sorted");
}
