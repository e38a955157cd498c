//! Copies and comparisons of memory, by C's functions. This file follows the others in the library.

#[cfg(test)]
mod racy_copies {
    use std::cell::UnsafeCell;
    use std::hint::black_box;
    use std::sync::Arc;
    use std::thread;

    pub(super) struct Shared<T>(UnsafeCell<T>);
    unsafe impl<T> Sync for Shared<T> {}
    unsafe impl<T> Send for Shared<T> {}

    /// Does one thing with a value in a thread, and another in the test's.
    fn both<T: 'static>(value: T, one: fn(&mut T), other: fn(&mut T)) {
        let shared = Arc::new(Shared(UnsafeCell::new(value)));
        let task = {
            let shared = shared.clone();
            thread::spawn(move || one(unsafe { &mut *shared.0.get() }))
        };
        other(unsafe { &mut *shared.0.get() });
        task.join().unwrap();
    }

    #[test]
    fn bytes_are_copied_by_std() {
        both(
            [0_u8; 64],
            |x| x.copy_from_slice(black_box(&[1; 64])),
            |x| _ = black_box(x[9]),
        );
    }
    #[test]
    fn slices_are_equal() {
        both([0_u8; 64], |x| x[0] = 1, |x| _ = black_box(*x == [0; 64]));
    }
    #[test]
    fn few_bytes_are_equal() {
        both([0_u8; 24], |x| x[0] = 1, |x| _ = black_box(*x == [0; 24]));
    }
    #[test]
    fn strings_are_equal() {
        both(
            "abc".to_owned(),
            |x| unsafe { x.as_bytes_mut()[0] = b'b' },
            |x| _ = black_box(x == black_box("abc")),
        );
    }
    #[test]
    fn slices_are_compared() {
        both(
            vec![0_u8; 64],
            |x| x[0] = 1,
            |x| _ = black_box(x[..] < [0; 64][..]),
        );
    }
}

#[cfg(test)]
mod fine_copies {
    use std::collections::HashMap;
    use std::fmt::Write;
    use std::hint::black_box;
    use std::sync::{Arc, Mutex};
    use std::thread;

    /// std has its own locks for what it writes.
    #[test]
    fn both_print() {
        let task = thread::spawn(|| {
            println!("one {}", black_box("of these"));
            eprintln!("one {}", black_box("of these"));
        });
        println!("the other {}", black_box("of these"));
        eprintln!("the other {}", black_box("of these"));
        task.join().unwrap();
    }
    #[test]
    fn the_environment_is_read() {
        let read = || std::env::var("PATH").map_or(0, |path| path.len());
        let task = thread::spawn(read);
        assert_eq!(read(), task.join().unwrap());
    }
    #[test]
    fn threads_have_names() {
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let name = || thread::current().name().map(str::to_owned);
        let tasks = ["one", "other"].map(|of| named(of).spawn(name).unwrap());
        let names = tasks.map(|task| task.join().unwrap().unwrap());
        assert_eq!(names, ["one", "other"]);
    }
    #[test]
    fn backtraces_are_taken() {
        let taken = || std::backtrace::Backtrace::force_capture().to_string().len();
        let task = thread::spawn(taken);
        assert!(taken() > 0 && task.join().unwrap() > 0);
    }
    #[test]
    fn panics_are_caught() {
        let caught = || std::panic::catch_unwind(|| panic!("{}", black_box("it"))).is_err();
        let task = thread::spawn(caught);
        assert!(caught() && task.join().unwrap());
    }
    #[test]
    fn parts_of_a_vec() {
        let mut all = vec![0_u8; 96];
        let (one, other) = all.split_at_mut(41);
        thread::scope(|scope| {
            scope.spawn(|| one.copy_from_slice(black_box(&[1; 41])));
            other.copy_from_slice(black_box(&[2; 55]));
        });
        assert_eq!(all.iter().map(|&n| usize::from(n)).sum::<usize>(), 41 + 110);
    }
    #[test]
    fn texts_under_a_lock() {
        let text = Arc::new(Mutex::new(String::new()));
        let add = |text: &Mutex<String>, n: u32| {
            let mut text = text.lock().unwrap();
            write!(text, "{n}, ").unwrap();
            text.push_str(black_box("and more "));
            text.contains("more") && *text != "none"
        };
        let task = {
            let text = text.clone();
            thread::spawn(move || add(&text, 1))
        };
        assert!(add(&text, 2) && task.join().unwrap());
    }
    #[test]
    fn a_map_of_texts_is_read_by_both() {
        let map: HashMap<String, Vec<u8>> = (0..9).map(|n| (n.to_string(), vec![n; 40])).collect();
        let map = Arc::new(map);
        let read = |map: &HashMap<String, Vec<u8>>| map.get("7").is_some_and(|seen| seen[..] == [7; 40]);
        let task = {
            let map = map.clone();
            thread::spawn(move || read(&map))
        };
        assert!(read(&map) && task.join().unwrap());
    }
    #[test]
    fn a_file_is_written_by_each() {
        use std::io::Write;
        let write = |name: &str| {
            let path = std::env::temp_dir().join(format!("intermezzo-{}-{name}", std::process::id()));
            let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
            writeln!(file, "{name}").unwrap();
            file.flush().unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::remove_file(path).unwrap();
            text
        };
        let task = thread::spawn(move || write("one"));
        assert_eq!((write("other"), task.join().unwrap()), ("other\n".into(), "one\n".into()));
    }
}
