//! Tasks that executions leave unfinished, where memory is taken back and statics are restored. That is for the whole
//! process, so these tests have one of their own.

use super::{CHECK, Notes, explored, explorer};
use intermezzo_engine::runtime::keep_statics;
use intermezzo_explorer::sync::{Mutex, mpsc};
use intermezzo_explorer::thread;
use std::sync::Arc;

#[test]
fn in_a_process_of_their_own() {
    for checked in [false, true] {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "left::tasks_are_left_as_they_are"]);
        if checked {
            command.env(CHECK, "1");
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("1 passed"), "{:?}\n{text}", output.status);
    }
}

/// Something that must not be dropped when its task has not ended: as code that was not written to unwind.
struct MustEnd(&'static Notes<()>);

impl Drop for MustEnd {
    fn drop(&mut self) {
        self.0.add(());
        std::process::abort();
    }
}

#[test]
#[ignore = "it needs a process of its own"]
fn tasks_are_left_as_they_are() {
    static DROPPED: Notes<()> = Notes::new();
    // SAFETY: no static is restored by this.
    unsafe { keep_statics([]) }.unwrap();
    // More stacks than the budget for forgotten ones allows, and than may be mapped.
    let executions = 40_000;
    let settings = [
        ("deadlocks_allowed", "true"),
        ("strategy", "random"),
        ("time", "600"),
    ];
    let explorer = settings
        .into_iter()
        .fold(explorer(), |explorer, (name, value)| explorer.set(name, value));
    let report = explored(explorer.set("executions", executions), || {
        let (sender, receiver) = mpsc::channel::<u8>();
        let words = Arc::new(Mutex::new(vec![String::from("one")]));
        let tasks = [0, 1].map(|number| {
            let (words, sender) = (words.clone(), sender.clone());
            thread::spawn(move || {
                let ends = MustEnd(&DROPPED);
                let mut guard = words.lock().unwrap();
                guard.push(number.to_string());
                // One waits for ever, with the lock, and the other for the lock.
                let (own, waits) = mpsc::channel::<u8>();
                let _ = waits.recv();
                drop((own, sender));
                std::mem::forget(ends);
            })
        });
        assert_eq!(receiver.recv(), Ok(1));
        drop(tasks);
    });
    assert!(report.verdict().is_pass(), "{report}");
    assert_eq!(report.executions(), executions);
    assert_eq!(DROPPED.take(), []);
    if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
        let mappings = maps.lines().count();
        assert!(mappings < 1000, "{mappings} mappings");
    }
    let text = report.to_string();
    assert!(!text.contains("`forgotten`"), "{text}");
}
