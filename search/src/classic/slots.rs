//! Lists that are indexed by numbers of tasks, variables or other objects, and grow when a larger number appears.

/// Returns the entry with this number. Missing entries up to it are created with `empty`.
#[inline]
pub(super) fn slot<T>(list: &mut Vec<T>, number: u32, empty: impl FnMut() -> T) -> &mut T {
    let at = number as usize;
    if list.len() <= at {
        list.resize_with(at + 1, empty);
    }
    &mut list[at]
}

/// Returns the number of a variable's entry; 0 for [`SyncVar::NONE`](intermezzo_sdk::SyncVar::NONE).
pub(super) fn of_var(var: u32) -> u32 {
    var.wrapping_add(1)
}
