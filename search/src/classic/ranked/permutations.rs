//! Random orders of tasks: how many are needed until each few tasks have come in every order, and how orders are drawn.
//!
//! Bindal, Bansal and Lal, lemma 4.1: `(t + 1)! (ln(n t) + ln(1 / eps))` random orders of `n` things show each `t` of
//! them in all `t!` orders, except with a probability of at most `eps`. The proof bounds the expected number of missed
//! orders by `n! / (n - t)! (1 - 1 / t!)^P` for `P` random orders. Here `P` is computed directly from that bound, so
//! fewer orders are needed.
//!
//! Differs: orders come in pairs, each an order and its reverse. A pair misses an order of `t` things with probability
//! `1 - 2 / t!`, which is less than `(1 - 1 / t!)^2`; and then it also misses the reverse of that order. So for two
//! things one pair is always enough, as the paper says, and for more things fewer orders are needed than without pairs.

/// A fragment, which has its own priority: a task until its first preemption, or the part of a task after a preemption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fragment(u32);

impl Fragment {
    /// Returns the fragment of a task until its first preemption.
    pub(super) fn of_task(task: u32) -> Fragment {
        Fragment(task)
    }

    /// Returns the fragment of a task after the preemption with this number in the execution, counted from 1.
    pub(super) fn after_preemption(preemption: u32) -> Fragment {
        Fragment(1 << 31 | preemption)
    }
}

/// Returns the priority of a fragment in the order with this number. The fragment with the highest priority runs first.
/// Each odd order is the reverse of the one before it.
///
/// It does not depend on the number of fragments, so tasks that are created later have their places in each order, too.
pub(super) fn priority(seed: u64, order: u64, fragment: Fragment) -> (u64, u32) {
    let drawn = spread(spread(seed ^ spread(order / 2)) ^ u64::from(fragment.0));
    if order.is_multiple_of(2) {
        (drawn, fragment.0)
    } else {
        (!drawn, !fragment.0)
    }
}

/// Mixes the bits of a number (SplitMix64), so that every bit of the result depends on every bit of the input.
fn spread(number: u64) -> u64 {
    let mixed = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Returns the number of orders of `of` things, in pairs, that show each `some` of them in every order, except with a
/// probability of at most `epsilon`. The result saturates.
pub(super) fn needed(of: u32, some: u32, epsilon: f64) -> u64 {
    let some = some.min(of);
    if some < 2 {
        return 1;
    }
    let choices: f64 = (of - some + 1..=of).map(|n| f64::from(n).ln()).sum();
    let orders: f64 = (1..=some).map(f64::from).product();
    // An order and its reverse are missed together.
    let missed_together = choices - 2_f64.ln() - epsilon.ln();
    let by_each_pair = -(-2.0 / orders).ln_1p();
    if by_each_pair.is_infinite() {
        return 2;
    }
    2 * ((missed_together / by_each_pair).ceil().max(1.0) as u64).min(u64::MAX / 2)
}

/// Returns the number of orders of this many things. The result saturates.
pub(super) fn all(of: u32) -> u64 {
    (1..=u64::from(of)).fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of orders by the lemma.
    fn lemma(n: u32, t: u32, epsilon: f64) -> f64 {
        all(t + 1) as f64 * (f64::from(n * t).ln() - epsilon.ln())
    }

    /// Returns the tasks in an order, the first one first.
    fn order(n: u32, seed: u64, number: u64) -> Vec<u32> {
        let mut tasks: Vec<u32> = (0..n).collect();
        tasks.sort_by_key(|&task| std::cmp::Reverse(priority(seed, number, Fragment::of_task(task))));
        tasks
    }

    /// Marks every sequence of `t` different tasks that `tasks` contains in this order, as a number with these digits
    /// to the base `n`.
    fn mark(tasks: &[u32], t: u32, n: u32, digits: u32, seen: &mut [bool]) {
        if t == 0 {
            seen[digits as usize] = true;
            return;
        }
        for (at, first) in tasks.iter().enumerate() {
            mark(&tasks[at + 1..], t - 1, n, digits * n + first, seen);
        }
    }

    /// Returns `true` if this many orders show each `t` of the tasks in every order.
    fn covers(n: u32, t: u32, orders: u64, seed: u64) -> bool {
        let mut seen = vec![false; n.pow(t) as usize];
        (0..orders).for_each(|number| mark(&order(n, seed, number), t, n, 0, &mut seen));
        seen.iter().filter(|seen| **seen).count() as u64 == all(n) / all(n - t)
    }

    #[test]
    fn two_tasks_take_an_order_and_its_reverse() {
        for n in 2..40 {
            assert_eq!(needed(n, 2, 0.01), 2);
            let mut reversed = order(n, 7, 1);
            reversed.reverse();
            assert_eq!(order(n, 7, 0), reversed);
            assert!(n > 8 || covers(n, 2, 2, n.into()));
        }
    }

    #[test]
    fn orders_are_no_more_than_the_lemma_asks_for() {
        for epsilon in [0.5, 0.1, 0.01, 1e-6] {
            for n in 2..60 {
                for t in 2..=n.min(6) {
                    assert!(needed(n, t, epsilon) as f64 <= lemma(n, t, epsilon) + 2.0);
                }
            }
        }
        assert_eq!((needed(600, 3, 0.01), lemma(600, 3, 0.01) as u64), (114, 290));
    }

    /// The fraction of trials in which an order was missed exceeds epsilon by no more than chance explains.
    #[test]
    fn orders_cover_with_the_probability_that_is_claimed() {
        const TRIALS: u64 = 300;
        for epsilon in [0.2, 0.05] {
            for t in 2..=3 {
                for n in t..=8 {
                    let chance = 3.0 * (epsilon * (1.0 - epsilon) / TRIALS as f64).sqrt();
                    for orders in [needed(n, t, epsilon), lemma(n, t, epsilon).ceil() as u64] {
                        let missed = (0..TRIALS).filter(|&seed| !covers(n, t, orders, seed)).count();
                        let share = missed as f64 / TRIALS as f64;
                        assert!(
                            share <= epsilon + chance,
                            "n={n} t={t} eps={epsilon}: {share} of {orders}"
                        );
                    }
                }
            }
        }
    }

    /// Priorities of different fragments, orders and seeds are independent of each other.
    #[test]
    fn each_order_is_as_likely_as_any() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6_000 {
            *counts.entry(order(3, seed, 0)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(
            counts.values().all(|count| (900..1_100).contains(count)),
            "{counts:?}"
        );
        assert_eq!((all(0), all(5), all(99)), (1, 120, u64::MAX));
        assert_eq!((needed(1, 2, 0.1), needed(3, 9, 0.1)), (1, needed(3, 3, 0.1)));
    }
}
