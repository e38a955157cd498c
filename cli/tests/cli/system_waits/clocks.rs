//! Child processes, which run in real time, and the time-stamp counter, which is virtual.
#![cfg(test)]

use std::io::Read;
use std::os::fd::AsRawFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const MOMENT: Duration = Duration::from_secs(2);

/// Starts a process that ends after this many seconds.
fn process(seconds: &str) -> Child {
    Command::new("sleep").arg(seconds).spawn().unwrap()
}

/// Polls the process up to this many times, with pauses. Returns its exit status.
fn polled(mut process: Child, looks: usize, pause: impl Fn()) -> Option<ExitStatus> {
    for _ in 0..looks {
        if let Some(ended) = process.try_wait().unwrap() {
            return Some(ended);
        }
        pause();
    }
    process.kill().unwrap();
    process.wait().unwrap();
    None
}

#[test]
fn a_process_ends_between_sleeps() {
    static N: AtomicUsize = AtomicUsize::new(0);
    let task = thread::spawn(|| N.fetch_add(1, SeqCst));
    N.fetch_add(1, SeqCst);
    assert!(
        polled(process("0.1"), 20, || thread::sleep(MOMENT))
            .unwrap()
            .success()
    );
    task.join().unwrap();
}

#[test]
fn a_process_ends_between_waits_with_limits() {
    let (_sender, receiver) = mpsc::channel::<()>();
    let pause = || assert!(receiver.recv_timeout(MOMENT).is_err());
    assert!(polled(process("0.1"), 20, pause).unwrap().success());
}

#[test]
fn a_process_ends_before_a_deadline() {
    let begun = Instant::now();
    let mut process = process("0.1");
    let mut ended = None;
    while ended.is_none() && begun.elapsed() < Duration::from_secs(7) {
        ended = process.try_wait().unwrap();
    }
    assert!(ended.unwrap().success());
}

#[test]
fn a_process_writes_before_a_limit() {
    let mut process = Command::new("sh")
        .args(["-c", "sleep 0.1; echo written"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = process.stdout.take().unwrap();
    let mut entry = libc::pollfd {
        fd: output.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    assert_eq!(unsafe { libc::poll(&mut entry, 1, 7_000) }, 1);
    let mut written = String::new();
    output.read_to_string(&mut written).unwrap();
    assert_eq!(written, "written\n");
    process.wait().unwrap();
}

/// Once the process was killed, an hour passes only in virtual time. Nor does a process of an earlier execution make a
/// sleep wait in real time.
#[test]
fn a_process_runs_on() {
    let task = thread::spawn(thread::yield_now);
    let mut process = process("1000");
    thread::sleep(Duration::from_millis(1));
    assert_eq!(process.try_wait().unwrap(), None);
    process.kill().unwrap();
    assert!(!process.wait().unwrap().success());
    thread::sleep(Duration::from_secs(3_600));
    task.join().unwrap();
}

#[cfg(target_arch = "x86_64")]
#[test]
fn the_counter_of_the_processor_is_virtual() {
    use std::arch::x86_64::{__rdtscp, _rdtsc};
    const HOUR: u64 = 3_600_000_000_000;
    let task = thread::spawn(thread::yield_now);
    let begun = unsafe { _rdtsc() };
    thread::sleep(Duration::from_secs(3_600));
    let mut processor = 1;
    let passed = unsafe { __rdtscp(&mut processor) } - begun;
    assert_eq!((passed / HOUR, processor), (1, 0));
    while unsafe { core::arch::x86_64::_rdtsc() } - begun < 3 * HOUR {}
    task.join().unwrap();
}
