//! The source of the programs.

/// Programs that fail: the name, the source, and the kind and a part of the finding.
pub(super) const FAILING: [(&str, &str, &str, &str); 10] = [
    (
        "exits_in_a_hook",
        "use std::{panic, process, thread};\n\nfn main() {\n    panic::set_hook(Box::new(|_| process::exit(3)));\n    \
         thread::spawn(|| panic!(\"now\")).join().unwrap_err();\n}\n",
        "panic",
        "",
    ),
    // A program like those of the corpus.
    (
        "corpus",
        "fn main() {\n    panic!(\"always\");\n}\n",
        "panic",
        "always",
    ),
    (
        "returns_error",
        "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\n\
         static N: AtomicU32 = AtomicU32::new(0);\n\nfn add() {\n    let seen = N.load(SeqCst);\n    N.store(seen + 1, SeqCst);\n}\n\n\
         fn main() -> Result<(), String> {\n    let other = thread::spawn(add);\n    add();\n    other.join().unwrap();\n    \
         match N.load(SeqCst) {\n        2 => Ok(()),\n        n => Err(format!(\"{n} of 2\")),\n    }\n}\n",
        "panic",
        "`main`, at src/bin/returns_error.rs:11:4, returned an error: \"1 of 2\"",
    ),
    (
        "returns_code",
        "use std::process::ExitCode;\nuse std::sync::Mutex;\nuse std::thread;\n\nstatic FIRST: Mutex<u8> = Mutex::new(0);\n\n\
         fn main() -> ExitCode {\n    let other = thread::spawn(|| drop(FIRST.lock().map(|mut first| *first += 1)));\n    \
         let code = *FIRST.lock().unwrap() * 3;\n    other.join().unwrap();\n    ExitCode::from(code)\n}\n",
        "panic",
        "(3)",
    ),
    (
        "asserts",
        "use std::sync::mpsc::channel;\nuse std::thread;\n\nfn main() {\n    let (sender, receiver) = channel();\n    \
         let other = sender.clone();\n    let task = thread::spawn(move || other.send(1));\n    sender.send(2).unwrap();\n    \
         assert_eq!(receiver.recv(), Ok(2));\n    task.join().unwrap().unwrap();\n}\n",
        "assertion",
        "src/bin/asserts.rs:9:5",
    ),
    (
        "thread_panics",
        "use std::sync::atomic::{AtomicBool, Ordering::SeqCst};\nuse std::thread;\n\nstatic SET: AtomicBool = AtomicBool::new(false);\n\n\
         fn main() {\n    thread::spawn(|| {\n        if SET.load(SeqCst) {\n            panic!(\"it is set\");\n        }\n    });\n    \
         SET.store(true, SeqCst);\n    while SET.load(SeqCst) {\n        SET.store(false, SeqCst);\n    }\n}\n",
        "panic",
        "it is set",
    ),
    (
        "exits",
        "use std::sync::atomic::{AtomicBool, Ordering::SeqCst};\nuse std::{process, thread};\n\nstatic SET: AtomicBool = AtomicBool::new(false);\n\n\
         fn main() {\n    let other = thread::spawn(|| {\n        if SET.load(SeqCst) {\n            process::exit(3);\n        }\n    });\n    \
         SET.store(true, SeqCst);\n    other.join().unwrap();\n}\n",
        "panic",
        "the program exits with the code 3, at src/bin/exits.rs:9:13",
    ),
    (
        "blocks",
        "use std::sync::Mutex;\nuse std::thread;\n\nstatic A: Mutex<()> = Mutex::new(());\nstatic B: Mutex<()> = Mutex::new(());\n\n\
         fn both(one: &Mutex<()>, two: &Mutex<()>) {\n    let _one = one.lock();\n    let _two = two.lock();\n}\n\n\
         fn main() {\n    let other = thread::spawn(|| both(&A, &B));\n    both(&B, &A);\n    other.join().unwrap();\n}\n",
        "deadlock",
        "no task can continue",
    ),
    (
        // `main` fails because of the panic.
        "loses_its_worker",
        "use std::sync::mpsc::{RecvError, channel};\nuse std::thread;\n\nfn main() -> Result<(), RecvError> {\n    \
         let (sender, receiver) = channel::<u32>();\n    thread::spawn(move || {\n        let _sender = sender;\n        \
         panic!(\"the worker is lost\");\n    });\n    receiver.recv().map(drop)\n}\n",
        "panic",
        "the worker is lost",
    ),
    (
        "always",
        "fn main() -> Result<(), std::fmt::Error> {\n    Err(std::fmt::Error)\n}\n",
        "panic",
        "`main`, at src/bin/always.rs:1:4, returned an error: Error",
    ),
];

/// Programs that end well in each execution: the name, the source, and the number of executions if it is known.
pub(super) const ENDING: [(&str, &str, Option<u64>); 8] = [
    ("alone", "fn main() {\n    println!(\"{}\", 1 + 1);\n}\n", Some(1)),
    (
        "exits_well",
        "fn main() {\n    let other = std::thread::spawn(|| 1);\n    other.join().unwrap();\n    std::process::exit(0);\n}\n",
        Some(1),
    ),
    (
        "catches",
        "fn main() {\n    assert!(std::panic::catch_unwind(|| panic!(\"here\")).is_err());\n    \
         assert!(std::thread::spawn(|| panic!(\"there\")).join().is_err());\n}\n",
        Some(1),
    ),
    (
        "exits_in_a_thread",
        "use std::sync::Mutex;\n\nstatic LOCK: Mutex<()> = Mutex::new(());\n\nfn main() {\n    \
         std::thread::spawn(|| {\n        drop(LOCK.lock());\n        std::process::exit(0);\n    });\n    \
         drop(LOCK.lock());\n    loop {\n        std::thread::park();\n    }\n}\n",
        None,
    ),
    (
        // One thread waits for ever, and one works for ever.
        "leaves_threads",
        "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::sync::mpsc::channel;\nuse std::{thread, time::Duration};\n\n\
         static N: AtomicU32 = AtomicU32::new(0);\n\nfn main() {\n    let (sender, receiver) = channel::<Vec<u8>>();\n    \
         std::mem::forget(sender.clone());\n    thread::spawn(move || receiver.iter().count());\n    \
         thread::spawn(|| loop {\n        thread::sleep(Duration::from_secs(1));\n        N.fetch_add(1, SeqCst);\n    });\n    \
         sender.send(vec![1]).unwrap();\n}\n",
        None,
    ),
    (
        // The end of `main` may come while the thread unwinds.
        "catches_late",
        "use std::panic::catch_unwind;\nuse std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\n\
         static N: AtomicU32 = AtomicU32::new(0);\n\nstruct Counts;\n\nimpl Drop for Counts {\n    fn drop(&mut self) {\n        \
         N.fetch_add(1, SeqCst);\n        N.fetch_add(1, SeqCst);\n    }\n}\n\n\
         fn main() {\n    thread::spawn(|| {\n        let caught = catch_unwind(|| {\n            let _counts = Counts;\n            \
         panic!(\"it is caught\");\n        });\n        assert!(caught.is_err());\n    });\n    N.load(SeqCst);\n}\n",
        None,
    ),
    (
        "begins_afresh",
        "use std::cell::RefCell;\nuse std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::sync::OnceLock;\nuse std::thread;\n\n\
         static USES: AtomicU32 = AtomicU32::new(0);\nstatic mut PLAIN: u32 = 0;\nstatic NAME: OnceLock<String> = OnceLock::new();\n\
         thread_local! { static MINE: RefCell<Vec<u32>> = RefCell::default(); }\n\n\
         fn main() {\n    NAME.set(\"me\".to_owned()).unwrap();\n    MINE.with_borrow_mut(|mine| mine.push(1));\n    \
         MINE.with_borrow(|mine| assert_eq!(mine.len(), 1));\n    unsafe { PLAIN += 1 };\n    \
         assert_eq!(unsafe { PLAIN }, 1);\n    let other = thread::spawn(|| USES.fetch_add(1, SeqCst));\n    \
         let both = USES.fetch_add(1, SeqCst) + other.join().unwrap();\n    assert_eq!(both, 1);\n}\n",
        None,
    ),
    (
        "reads",
        "use std::thread;\n\nfn main() {\n    let mut line = String::new();\n    \
         assert_eq!(std::io::stdin().read_line(&mut line).unwrap(), 0);\n    \
         assert_eq!(std::env::args().count(), 1);\n    assert_eq!(thread::current().name(), Some(\"main\"));\n}\n",
        Some(1),
    ),
];

/// Programs that end while other threads could continue, and `true` if one of these may fail before.
pub(super) const CUTTING: [(&str, &str, bool); 9] = [
    (
        "returns_at_once",
        "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\nstatic N: AtomicU32 = AtomicU32::new(0);\n\n\
         fn main() {\n    thread::spawn(|| assert_eq!(N.load(SeqCst), 0));\n    N.store(1, SeqCst);\n}\n",
        true,
    ),
    (
        "exits_at_once",
        "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\nstatic N: AtomicU32 = AtomicU32::new(0);\n\n\
         fn main() {\n    thread::spawn(|| assert_eq!(N.load(SeqCst), 0));\n    N.store(1, SeqCst);\n    std::process::exit(0);\n}\n",
        true,
    ),
    (
        "is_exited",
        "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\nstatic N: AtomicU32 = AtomicU32::new(0);\n\n\
         fn main() {\n    thread::spawn(|| {\n        N.store(1, SeqCst);\n        std::process::exit(0);\n    });\n    \
         assert_eq!(N.load(SeqCst), 0);\n}\n",
        true,
    ),
    (
        "spawns_only",
        "fn main() {\n    std::thread::spawn(|| panic!(\"it runs\"));\n}\n",
        true,
    ),
    (
        "spawns_and_exits",
        "fn main() {\n    std::thread::spawn(|| panic!(\"it runs\"));\n    std::process::exit(0);\n}\n",
        true,
    ),
    (
        "is_exited_after_spawn",
        "use std::{process, thread};\n\nfn main() {\n    let other = thread::spawn(|| {\n        \
         thread::spawn(|| panic!(\"it runs\"));\n        process::exit(0);\n    });\n    other.join().unwrap();\n}\n",
        true,
    ),
    (
        // The last step of `main` is what the thread waits for.
        "spins_to_the_end",
        "use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\n\
         static SET: AtomicBool = AtomicBool::new(false);\nstatic SPINS: AtomicU32 = AtomicU32::new(0);\n\n\
         fn main() {\n    thread::spawn(|| {\n        while !SET.load(SeqCst) {\n            std::hint::spin_loop();\n        }\n        \
         panic!(\"it is set\");\n    });\n    SPINS.store(1, SeqCst);\n    SET.store(true, SeqCst);\n}\n",
        true,
    ),
    (
        // The lock is never released. A thread fails if it reads before the store, and the end comes after it.
        "keeps_a_lock",
        "use std::sync::Mutex;\nuse std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\n\
         static V: AtomicU32 = AtomicU32::new(0);\nstatic M: AtomicU32 = AtomicU32::new(0);\nstatic L: Mutex<()> = Mutex::new(());\n\n\
         fn main() {\n    thread::spawn(|| V.store(1, SeqCst));\n    thread::spawn(|| {\n        V.load(SeqCst);\n        \
         std::mem::forget(L.lock());\n    });\n    thread::spawn(|| {\n        let v = V.load(SeqCst);\n        drop(L.lock());\n        \
         assert_eq!(v, 0);\n    });\n    M.store(1, SeqCst);\n}\n",
        true,
    ),
    (
        // The thread works for ever, or waits.
        "goes_round",
        "use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\nstatic N: AtomicU32 = AtomicU32::new(0);\n\n\
         fn main() {\n    thread::spawn(|| {\n        if N.swap(1, SeqCst) == 0 {\n            return;\n        }\n        \
         loop {\n            assert!(N.load(SeqCst) < 3);\n            thread::yield_now();\n        }\n    });\n    \
         N.fetch_add(1, SeqCst);\n}\n",
        false,
    ),
];

/// Prints in two ways, and fails with its arguments.
pub(super) const SAYS: &str = "use std::io::Write;\n\nfn main() {\n    println!(\"by a macro\");\n    \
     writeln!(std::io::stdout(), \"by the stream\").unwrap();\n    \
     writeln!(std::io::stderr(), \"always\").unwrap();\n    \
     print!(\"to the end\");\n    \
     panic!(\"{:?}\", std::env::args().skip(1).collect::<Vec<_>>());\n}\n";

/// A crate that forbids many things, and has a module in another file.
pub(super) const STRICT: &str = "//! A program.\n\n#![forbid(unsafe_code)]\n#![deny(warnings, missing_docs, unused, rust_2018_idioms)]\n\n\
     mod part;\n\nuse std::sync::Arc;\nuse std::sync::atomic::{AtomicU32, Ordering};\nuse std::thread;\n\nfn main() {\n    \
     let n = Arc::new(AtomicU32::new(0));\n    let other = thread::spawn({ let n = n.clone(); move || n.fetch_add(1, Ordering::SeqCst) });\n    \
     n.fetch_add(1, Ordering::SeqCst);\n    other.join().unwrap();\n    assert_eq!(crate::part::NAME, \"part\");\n    \
     assert_eq!(n.load(Ordering::SeqCst), sourced::two());\n}\n";

/// Needs an empty directory, and loses an update.
pub(super) const FILES: &str = "use std::fs;\nuse std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::thread;\n\n\
     static N: AtomicU32 = AtomicU32::new(0);\n\nfn add() {\n    let seen = N.load(SeqCst);\n    N.store(seen + 1, SeqCst);\n}\n\n\
     fn main() {\n    fs::create_dir(\"data/own\").expect(\"the directory is new\");\n    let other = thread::spawn(add);\n    add();\n    \
     other.join().unwrap();\n    assert_eq!(N.load(SeqCst), 2, \"an update is lost\");\n}\n";

/// Fails with one argument, and only between the commands that make a directory and remove it.
pub(super) const NEEDS: &str = "use std::{env, fs, thread};\n\nfn main() {\n    thread::spawn(|| ()).join().unwrap();\n    \
     let is_empty = |mut all: fs::ReadDir| all.next().is_none();\n    \
     if env::args().nth(1).as_deref() == Some(\"it's $HOME\") && fs::read_dir(\"data\").is_ok_and(is_empty) {\n        \
     fs::write(\"data/file\", \"\").unwrap();\n        panic!(\"all is there\");\n    }\n}\n";

/// Ends its process in the middle of an execution, with one argument, unless a file says that it did.
pub(super) const DIES: &str = "use std::{env, fs, thread};\n\nunsafe extern \"C\" {\n    fn _exit(code: i32) -> !;\n}\n\nfn main() {\n    \
     thread::spawn(|| ()).join().unwrap();\n    \
     if env::args().nth(1).as_deref() == Some(\"it dies\") && !fs::exists(\"died\").unwrap() {\n        \
     fs::write(\"died\", \"\").unwrap();\n        unsafe { _exit(3) };\n    }\n}\n";

/// Changes its directory and its environment in each execution.
pub(super) const MOVES: &str = "use std::path::Path;\nuse std::sync::atomic::{AtomicU32, Ordering::SeqCst};\nuse std::{env, fs, thread};\n\n\
     static N: AtomicU32 = AtomicU32::new(0);\n\nfn main() {\n    assert!(Path::new(\"Cargo.toml\").exists(), \"it begins elsewhere\");\n    \
     assert_eq!(env::var(\"MOVED\").as_deref(), Ok(\"no\"), \"it begins as it ended\");\n    \
     let all = env::vars_os().filter(|(name, _)| name != \"_\");\n    \
     let all: Vec<_> = all.map(|(name, value)| format!(\"{name:?}={value:?}\\n\")).collect();\n    \
     let known = fs::read_to_string(\"variables\").unwrap_or(all.concat());\n    assert_eq!(known, all.concat());\n    \
     fs::write(\"variables\", known).unwrap();\n    \
     unsafe {\n        env::set_var(\"MOVED\", \"yes\");\n        env::set_var(\"PATH\", \"/nowhere\");\n        \
     env::set_var(\"NEW\", \"1\");\n        env::remove_var(\"HOME\");\n    }\n    \
     fs::create_dir_all(\"elsewhere\").unwrap();\n    env::set_current_dir(\"elsewhere\").unwrap();\n    \
     let other = thread::spawn(|| N.swap(1, SeqCst));\n    N.swap(2, SeqCst);\n    assert_ne!(other.join().unwrap(), 0);\n}\n";

/// Programs that cannot be compiled, each with its name, its source and a part of the error; and one with `#![no_main]`.
pub(super) const UNCOMPILED: [(&str, &str, &str); 5] = [
    (
        "without_main",
        "fn other() {}\n",
        "`main` function not found in crate `without_main`",
    ),
    (
        "returns_number",
        "fn main() -> u32 {\n    3\n}\n",
        "`main` has invalid return type `u32`",
    ),
    (
        "takes_number",
        "fn main(_: u32) {}\n",
        "`main` function has wrong type",
    ),
    (
        "wrong_itself",
        "fn main() {\n    let _: u32 = \"a\";\n}\n",
        "mismatched types",
    ),
    (
        "without_std",
        "#![no_main]\n\n#[unsafe(no_mangle)]\npub extern \"C\" fn main() -> i32 {\n    0\n}\n",
        "error: the program compiles, but it cannot be explored",
    ),
];

/// Writes plain memory from two threads.
pub(super) const RACY: &str = "use std::thread;\n\nstatic mut N: u32 = 0;\n\n\
     fn add() {\n    unsafe { N += 1 };\n}\n\nfn main() {\n    let other = thread::spawn(add);\n    add();\n    other.join().unwrap();\n}\n";

/// A body that follows from a number. With an odd number, threads are not joined.
pub(super) const RANDOM: &str = r#"
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::Mutex;
use std::thread;

static VARS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
static LOCK: Mutex<u32> = Mutex::new(0);
static KEPT: Mutex<u32> = Mutex::new(0);

struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn steps(mut dice: Dice) -> u32 {
    let mut sum = 0;
    for _ in 0..2 + dice.below(2) {
        let var = &VARS[dice.below(2) as usize];
        sum = 3 * sum + match dice.below(5) {
            0 => var.load(SeqCst),
            1 => var.fetch_add(1, SeqCst),
            2 => { var.store(2, SeqCst); 0 }
            3 => { let mut held = LOCK.lock().unwrap(); *held += 1; *held }
            _ => var.swap(3, SeqCst),
        };
    }
    sum
}

pub fn body(seed: u64) {
    let mut dice = Dice(seed);
    dice.below(2);
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            let (own, wrong) = (Dice(dice.below(1000)), dice.below(6) as u32);
            thread::spawn(move || {
                let sum = steps(own);
                assert!(sum % 6 != wrong, "a thread has {sum}");
                sum
            })
        })
        .collect();
    let sum = steps(Dice(dice.below(1000)));
    if seed % 2 == 0 {
        let all: u32 = tasks.into_iter().map(|task| task.join().unwrap_or(7)).sum();
        assert!((all + sum) % 7 != 3, "all have {all}");
    } else {
        assert!(sum % 7 != 3, "main has {sum}");
    }
}

/// Nothing is joined, and the second lock may stay locked.
pub fn cut(seed: u64) {
    let mut dice = Dice(seed);
    dice.below(2);
    for _ in 0..3 {
        let (own, wrong) = (Dice(dice.below(1000)), dice.below(4) as u32);
        thread::spawn(move || {
            let sum = few_steps(own);
            assert!(sum % 4 != wrong, "a thread has {sum}");
        });
    }
    few_steps(Dice(dice.below(1000)));
}

fn few_steps(mut dice: Dice) -> u32 {
    let mut sum = 0;
    for _ in 0..1 + dice.below(2) {
        let var = &VARS[dice.below(2) as usize];
        sum = 3 * sum + match dice.below(5) {
            0 => var.load(SeqCst),
            1 => var.fetch_add(1, SeqCst),
            2 => { var.store(2, SeqCst); 0 }
            3 => { std::mem::forget(KEPT.lock()); 1 }
            _ => { let mut held = KEPT.lock().unwrap(); *held += 1; *held }
        };
    }
    sum
}

#[test]
fn test() {
    body(std::env::var("SEED").unwrap().parse().unwrap());
}
"#;

pub(super) const RANDOM_MAIN: &str = "fn main() {\n    let seed = std::env::args().nth(1).unwrap().parse().unwrap();\n    \
     match std::env::args().nth(2).is_some() {\n        true => alike::cut(seed),\n        false => alike::body(seed),\n    }\n}\n";
