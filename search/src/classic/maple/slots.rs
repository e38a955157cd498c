//! Lists with a place for each task, each variable, or whatever else is numbered from 0.

/// Returns the place with that number; it and those before it are made empty if they are missing.
#[inline]
pub(super) fn slot<T>(list: &mut Vec<T>, number: u32, empty: impl FnMut() -> T) -> &mut T {
    let at = number as usize;
    if list.len() <= at {
        list.resize_with(at + 1, empty);
    }
    &mut list[at]
}

/// Returns the number of a variable's place. That of [`SyncVar::NONE`](intermezzo_sdk::SyncVar::NONE) is 0.
pub(super) fn of_var(var: u32) -> u32 {
    var.wrapping_add(1)
}
