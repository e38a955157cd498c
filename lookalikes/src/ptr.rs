//! `std::ptr`, with reads and writes that monitors are notified of.
//!
//! Accesses through a raw pointer cannot be seen, except by these functions. In an execution each of them reports the
//! bytes that it reads or writes to the monitors, right before it does; otherwise they are std's. The rest of
//! `std::ptr` is std's own.

pub use std::ptr::*;

use intermezzo_engine::runtime::{DataAccess, Does, Engine, Owner, Site};

/// Reports an access to this many bytes from that address on.
#[inline]
fn track(address: usize, size: usize, does: Does, site: Site) {
    if let Some(engine) = Engine::current() {
        engine.data_access(DataAccess {
            owner: Owner::Unknown,
            address,
            size,
            does,
            site,
        });
    }
}

/// Tells the monitors that this many bytes are about to be read. Not in std.
#[inline]
#[track_caller]
pub fn track_read<T>(src: *const T, bytes: usize) {
    track(src.addr(), bytes, Does::Read, Site::caller());
}

/// Tells the monitors that this many bytes are about to be written. Not in std.
#[inline]
#[track_caller]
pub fn track_write<T>(dst: *mut T, bytes: usize) {
    track(dst.addr(), bytes, Does::Write, Site::caller());
}

/// `std::ptr::read`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn read<T>(src: *const T) -> T {
    track_read(src, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::read(src) }
}

/// `std::ptr::read_unaligned`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn read_unaligned<T>(src: *const T) -> T {
    track_read(src, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::read_unaligned(src) }
}

/// `std::ptr::read_volatile`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn read_volatile<T>(src: *const T) -> T {
    track_read(src, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::read_volatile(src) }
}

/// `std::ptr::write`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn write<T>(dst: *mut T, src: T) {
    track_write(dst, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::write(dst, src) }
}

/// `std::ptr::write_unaligned`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn write_unaligned<T>(dst: *mut T, src: T) {
    track_write(dst, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::write_unaligned(dst, src) }
}

/// `std::ptr::write_volatile`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn write_volatile<T>(dst: *mut T, src: T) {
    track_write(dst, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::write_volatile(dst, src) }
}

/// `std::ptr::write_bytes`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn write_bytes<T>(dst: *mut T, val: u8, count: usize) {
    track_write(dst, count * size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::write_bytes(dst, val, count) }
}

/// `std::ptr::replace`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn replace<T>(dst: *mut T, src: T) -> T {
    track_write(dst, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::replace(dst, src) }
}

/// `std::ptr::swap`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn swap<T>(a: *mut T, b: *mut T) {
    track_write(a, size_of::<T>());
    track_write(b, size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::swap(a, b) }
}

/// `std::ptr::copy`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn copy<T>(src: *const T, dst: *mut T, count: usize) {
    track_read(src, count * size_of::<T>());
    track_write(dst, count * size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy(src, dst, count) }
}

/// `std::ptr::copy_nonoverlapping`
///
/// # Safety
/// As for std's.
#[inline]
#[track_caller]
pub unsafe fn copy_nonoverlapping<T>(src: *const T, dst: *mut T, count: usize) {
    track_read(src, count * size_of::<T>());
    track_write(dst, count * size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, count) }
}
