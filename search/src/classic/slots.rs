//! Lists indexed by task, variable or other numbers. They grow as numbers appear.

/// Returns the entry with this number. Missing entries up to it are made with `empty`.
#[inline]
pub(super) fn slot<T>(list: &mut Vec<T>, number: u32, empty: impl FnMut() -> T) -> &mut T {
    let at = number as usize;
    if list.len() <= at {
        list.resize_with(at + 1, empty);
    }
    &mut list[at]
}

/// Returns the number of a variable's entry. That of [`SyncVar::NONE`](intermezzo_sdk::SyncVar::NONE) is 0.
pub(super) fn of_var(var: u32) -> u32 {
    var.wrapping_add(1)
}
