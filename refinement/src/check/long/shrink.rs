//! A smaller set that still has a property: delta debugging (Zeller & Hildebrandt, TSE 2002), within a budget.

/// Returns a part of the items that `fails` as the whole does. Every item is needed, or the budget was spent: trials
/// of `budget` items altogether.
pub(super) fn shrink<T: Clone>(items: Vec<T>, budget: usize, fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut items = items;
    let mut spent = 0;
    let mut parts = 2;
    while items.len() > 1 && spent < budget {
        let size = items.len().div_ceil(parts);
        let mut smaller = None;
        for start in (0..items.len()).step_by(size) {
            let end = (start + size).min(items.len());
            let without: Vec<T> = items[..start].iter().chain(&items[end..]).cloned().collect();
            spent += without.len();
            if fails(&without) {
                smaller = Some(without);
                break;
            }
            if spent >= budget {
                break;
            }
        }
        match smaller {
            Some(without) => {
                items = without;
                parts = (parts - 1).max(2);
            }
            None if size == 1 => break,
            None => parts = (2 * parts).min(items.len()),
        }
    }
    items
}
