//! Tests that wait for pipes, sockets, child processes and file locks.

use std::cell::UnsafeCell;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

struct Plain(UnsafeCell<u32>);
unsafe impl Sync for Plain {}

#[test]
fn a_pipe_orders_what_it_passes() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let plain = Arc::new(Plain(UnsafeCell::new(1)));
    let task = thread::spawn({
        let plain = plain.clone();
        move || {
            reader.read_exact(&mut [0]).unwrap();
            unsafe { *plain.0.get() += 1 };
        }
    });
    unsafe { *plain.0.get() += 1 };
    writer.write_all(&[7]).unwrap();
    task.join().unwrap();
    assert_eq!(unsafe { *plain.0.get() }, 3);
}

#[test]
fn an_update_is_lost_because_the_pipe_is_written_early() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let n = Arc::new(AtomicUsize::new(0));
    let task = thread::spawn({
        let n = n.clone();
        move || {
            reader.read_exact(&mut [0]).unwrap();
            n.store(n.load(SeqCst) + 1, SeqCst);
        }
    });
    writer.write_all(&[7]).unwrap();
    n.store(n.load(SeqCst) + 1, SeqCst);
    task.join().unwrap();
    assert_eq!(n.load(SeqCst), 2);
}

#[test]
fn a_full_pipe_is_emptied() {
    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let task = thread::spawn(move || {
        for _ in 0..17 {
            writer.write_all(&[1; 4_096]).unwrap();
        }
    });
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    task.join().unwrap();
    assert_eq!(all.len(), 17 * 4_096);
}

#[test]
fn a_pipe_is_read_before_it_is_written() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let read = reader.read(&mut [0]);
    drop(writer);
    read.unwrap();
}

#[test]
fn a_limit_of_time_is_virtual() {
    let begun = Instant::now();
    let mut none = libc::pollfd { fd: -1, events: 0, revents: 0 };
    assert_eq!(unsafe { libc::poll(&mut none, 1, 3_600_000) }, 0);
    assert!(begun.elapsed() >= Duration::from_secs(3_600));
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(100))).unwrap();
    assert!(socket.recv(&mut [0]).is_err());
    assert!(begun.elapsed() >= Duration::from_secs(3_700));
}

#[test]
fn a_connection_is_made() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let task = thread::spawn(move || listener.accept().unwrap().0.write_all(&[9]).unwrap());
    let mut byte = [0];
    TcpStream::connect(address).unwrap().read_exact(&mut byte).unwrap();
    task.join().unwrap();
    assert_eq!(byte, [9]);
}

/// The system may choose another port in each execution.
#[test]
fn a_port_decides() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let _connected = TcpStream::connect(address).unwrap();
    let n = Arc::new(AtomicUsize::new(0));
    let add = {
        let n = n.clone();
        move |times| (0..times).for_each(|_| _ = n.fetch_add(1, SeqCst))
    };
    let tasks = [add.clone(), add.clone()].map(|add| thread::spawn(move || add(4)));
    add(1 + address.port() % 31);
    tasks.map(|task| task.join().unwrap());
}

#[test]
fn a_child_is_heard() {
    let task = thread::spawn(|| 1);
    let child = std::process::Command::new("echo").arg("7").output().unwrap();
    assert_eq!((&child.stdout[..], task.join().unwrap()), (&b"7\n"[..], 1));
}

/// The thread is not controlled.
#[test]
fn a_thread_of_c_counts() {
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    static COUNTED: AtomicU32 = AtomicU32::new(0);
    extern "C" fn count(_: *mut libc::c_void) -> *mut libc::c_void {
        COUNTED.fetch_add(1, SeqCst);
        null_mut()
    }
    let task = thread::spawn(|| COUNTED.fetch_add(1, SeqCst));
    let mut other = 0;
    unsafe {
        assert_eq!(libc::pthread_create(&mut other, std::ptr::null(), count, null_mut()), 0);
        libc::pthread_join(other, null_mut());
    }
    task.join().unwrap();
    assert_eq!(COUNTED.load(SeqCst), 2);
}

/// std asks C for a thread, to get the error.
#[test]
fn a_thread_that_cannot_be_made_does_not_count() {
    let task = thread::spawn(|| 1);
    let none = thread::Builder::new().stack_size(usize::MAX).spawn(|| 1);
    assert!(none.is_err());
    assert_eq!(task.join().unwrap(), 1);
}

/// The child ends at once, and the test waits for it after reading everything.
#[test]
fn a_childs_child_is_heard() {
    let child = std::process::Command::new("sh").args(["-c", "(sleep 0.1; echo 7) &"]).output().unwrap();
    assert_eq!(&child.stdout[..], b"7\n");
}

/// Opens a file that may be locked.
fn lockable(name: &str) -> File {
    File::create(std::env::temp_dir().join(format!("{name}-{}", std::process::id()))).unwrap()
}

/// Adds one, in two steps. Closing the file releases the lock.
fn add_locked(n: &AtomicUsize, gives_back_early: bool) {
    let file = lockable("intermezzo-adds");
    file.lock().unwrap();
    let before = n.load(SeqCst);
    if gives_back_early {
        file.unlock().unwrap();
    }
    n.store(before + 1, SeqCst);
}

fn two_add_locked(gives_back_early: bool) {
    let n = Arc::new(AtomicUsize::new(0));
    let tasks = [n.clone(), n.clone()].map(|n| thread::spawn(move || add_locked(&n, gives_back_early)));
    tasks.map(|task| task.join().unwrap());
    assert_eq!(n.load(SeqCst), 2);
}

#[test]
fn a_locked_file_excludes() {
    two_add_locked(false);
}

#[test]
fn an_update_is_lost_because_a_file_is_unlocked_early() {
    two_add_locked(true);
}

/// The file stays locked, even after the end of the execution.
#[test]
fn a_locked_file_is_locked_again() {
    let file = lockable("intermezzo-twice");
    file.lock().unwrap();
    let task = thread::spawn(|| lockable("intermezzo-twice").lock().unwrap());
    task.join().unwrap();
}

/// Two readers share the lock of a file. Returns `true` if a writer that tries to lock it succeeds.
fn readers_and_a_writer() -> bool {
    let file = lockable("intermezzo-shared");
    let task = thread::spawn(|| lockable("intermezzo-shared").try_lock().is_ok());
    file.lock_shared().unwrap();
    let other = lockable("intermezzo-shared");
    other.try_lock_shared().unwrap();
    drop((file, other));
    task.join().unwrap()
}

#[test]
fn a_locked_file_is_shared() {
    readers_and_a_writer();
}

#[test]
fn a_writer_meets_the_readers_of_a_file() {
    assert!(readers_and_a_writer());
}

/// The test never closes the file.
#[test]
fn a_lock_is_left() {
    let file = lockable("intermezzo-left");
    file.lock().unwrap();
    thread::spawn(|| ()).join().unwrap();
    std::mem::forget(file);
}

/// Runs after `a_lock_is_left`.
#[test]
fn a_lock_that_was_left_is_taken() {
    lockable("intermezzo-left").lock().unwrap();
}

#[test]
fn a_shared_lock_becomes_exclusive() {
    let file = lockable("intermezzo-becomes");
    file.lock_shared().unwrap();
    let task = thread::spawn(|| lockable("intermezzo-becomes").lock_shared().unwrap());
    file.lock().unwrap();
    drop(file);
    task.join().unwrap();
}

/// Each execution leaves a pair of sockets open, and there are more executions than possible numbers of descriptors.
#[test]
fn a_pair_is_left_open() {
    let pair = UnixStream::pair().unwrap();
    let n = Arc::new(AtomicUsize::new(0));
    let tasks = [0; 4].map(|_| {
        let n = n.clone();
        thread::spawn(move || n.fetch_add(1, SeqCst))
    });
    n.fetch_add(1, SeqCst);
    tasks.map(|task| task.join().unwrap());
    assert!(pair.0.as_raw_fd() < 64);
    std::mem::forget(pair);
}

#[test]
fn a_message_never_comes() {
    UdpSocket::bind("127.0.0.1:0").unwrap().recv(&mut [0]).unwrap();
}

#[test]
fn a_thread_is_left_that_listens() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = n.clone();
    thread::spawn(move || {
        other.fetch_add(1, SeqCst);
        let _ = TcpListener::bind("127.0.0.1:0").unwrap().accept();
    });
    n.fetch_add(1, SeqCst);
}

/// One thread waits for ever, and the other one polls for ever.
#[test]
fn threads_are_left_that_listen_and_poll() {
    thread::spawn(|| TcpListener::bind("127.0.0.1:0").unwrap().accept());
    thread::spawn(|| loop {
        thread::sleep(Duration::from_secs(1));
    });
    thread::yield_now();
}

/// Signals interrupt this call, which is not one of those that are steps.
#[test]
fn a_call_is_repeated_for_ever() {
    let (reader, _writer) = std::io::pipe().unwrap();
    let reader = reader.as_raw_fd();
    let (none, for_ever) = (std::ptr::null_mut(), std::ptr::null_mut());
    loop {
        let mut set = unsafe { std::mem::zeroed::<libc::fd_set>() };
        unsafe { libc::FD_SET(reader, &mut set) };
        if unsafe { libc::select(reader + 1, &mut set, none, none, for_ever) } >= 0 {
            break;
        }
        thread::yield_now();
    }
}
