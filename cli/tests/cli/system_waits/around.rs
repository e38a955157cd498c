//! Changes of files, signal handlers, and a call that is ended because it waits too long.
#![cfg(test)]

use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::{fs, io::Read, mem, ptr, thread};

#[test]
fn a_file_that_changes_is_noticed() {
    let directory = std::env::temp_dir().join(format!("noticed-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = std::ffi::CString::new(directory.to_str().unwrap()).unwrap();
    let (mut notices, event) = unsafe {
        let notices = libc::inotify_init1(0);
        assert!(libc::inotify_add_watch(notices, path.as_ptr(), libc::IN_CREATE) >= 0);
        (
            fs::File::from_raw_fd(notices),
            fs::File::from_raw_fd(libc::eventfd(0, 0)),
        )
    };
    let task = thread::spawn(move || {
        use std::os::fd::AsRawFd;
        let entry = |file: &fs::File| libc::pollfd {
            fd: file.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        let mut entries = [entry(&event), entry(&notices)];
        assert_eq!(unsafe { libc::poll(entries.as_mut_ptr(), 2, -1) }, 1);
        assert!(notices.read(&mut [0; 512]).unwrap() > 0);
    });
    fs::write(directory.join("new"), "").unwrap();
    task.join().unwrap();
    fs::remove_dir_all(directory).unwrap();
}

static BEFORE: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handler(signal: libc::c_int) {
    CALLS.fetch_add(1, SeqCst);
    let before = BEFORE.load(SeqCst);
    if before != libc::SIG_DFL {
        unsafe { mem::transmute::<usize, extern "C" fn(libc::c_int)>(before)(signal) };
    }
}

#[test]
fn a_handler_is_set_in_each_execution() {
    let mut before = unsafe { mem::zeroed::<libc::sigaction>() };
    let mut own = before;
    own.sa_sigaction = handler as *const () as usize;
    unsafe { libc::sigaction(libc::SIGUSR1, &own, &mut before) };
    BEFORE.store(before.sa_sigaction, SeqCst);
    let task = thread::spawn(|| {
        // Both numbers are possible, so there are several executions.
        assert!(CALLS.load(SeqCst) < 2);
        unsafe { libc::raise(libc::SIGUSR1) }
    });
    unsafe { libc::raise(libc::SIGUSR1) };
    task.join().unwrap();
    assert_eq!(CALLS.load(SeqCst), 2);
}

#[test]
fn an_older_handler_is_set_in_each_execution() {
    let before = unsafe { libc::signal(libc::SIGUSR2, handler as *const () as usize) };
    assert_eq!(before, libc::SIG_DFL);
    let task = thread::spawn(|| CALLS.load(SeqCst));
    unsafe { libc::raise(libc::SIGUSR2) };
    task.join().unwrap();
}

#[test]
fn a_call_that_is_ended_does_not_return() {
    let (reader, writer) = std::io::pipe().unwrap();
    use std::os::fd::AsRawFd;
    let mut read = unsafe { mem::zeroed::<libc::fd_set>() };
    let first = reader.as_raw_fd();
    let ready = unsafe {
        libc::FD_SET(first, &mut read);
        libc::select(
            first + 1,
            &mut read,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(ready, 1, "{}", std::io::Error::last_os_error());
    drop(writer);
}
