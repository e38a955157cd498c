//! Plugins with altered bytes: each is refused with a message or works as a monitor, and none crashes this process.
//!
//! The exception is damaged code, and damaged pointers to code: it may do anything, perhaps only the second time it
//! runs. It is run only in the process of a trial.

use crate::build::{c_plugin, directory, rust_plugin};
use intermezzo_explorer::Plugin;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256StarStar;
use std::path::Path;

const SEED: u64 = 20_261_121;

/// The results for the mutated files.
#[derive(Debug, Default)]
struct Counts {
    /// Accepted by the trial; unless code was damaged, loaded here if it was accepted again.
    loaded: usize,
    refused: usize,
    crashed_elsewhere: usize,
}

impl Counts {
    fn add(&mut self, file: &Path, arguments: &str, damage: Damage) {
        match Plugin::try_out(file, arguments) {
            Ok(_) if damage == Damage::Code => self.loaded += 1,
            Ok(tried) => {
                assert!(!tried.name.is_empty());
                // It may still be refused, because damaged code need not behave the same twice.
                let loaded = Plugin::load_with(file, arguments);
                self.loaded += usize::from(loaded.is_ok());
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.len() > 60 && text.contains(": "), "{text}");
                self.refused += 1;
                self.crashed_elsewhere += usize::from(text.contains("it ended that process"));
            }
        }
    }
}

/// The damaged part of a file.
#[derive(Clone, Copy, PartialEq)]
enum Damage {
    /// Its headers; code and data are intact.
    Headers,
    /// Possibly code, or addresses to which it jumps.
    Code,
}

/// Alters the file in one of several ways.
fn mutate(bytes: &mut Vec<u8>, random: &mut impl Rng) -> Damage {
    // The headers in Linux files: at the beginning, and those of sections at the end.
    let (length, header) = (bytes.len(), 1024.min(bytes.len()));
    let way = random.random_range(0..6);
    match way {
        0 => bytes.truncate(random.random_range(0..length)),
        1 => bytes[random.random_range(0..64)] = random.random(),
        2 => (0..3).for_each(|_| bytes[random.random_range(0..header)] = random.random()),
        3 => (0..8).for_each(|_| bytes[random.random_range(0..length)] ^= 1 << random.random_range(0..8)),
        4 => {
            let from = random.random_range(0..length);
            let to = (from + 4096).min(length);
            bytes[from..to].fill(0);
        }
        _ => {
            let sections = length - header * 2;
            (0..8).for_each(|_| bytes[random.random_range(sections..length)] = random.random());
        }
    }
    match way {
        3 | 4 => Damage::Code,
        _ => Damage::Headers,
    }
}

#[test]
fn mutated_files_are_refused_or_loaded() {
    let directory = directory("mutated");
    let mut random = Xoshiro256StarStar::seed_from_u64(SEED);
    let mut counts = Counts::default();
    let sound = [c_plugin(), rust_plugin()].map(|file| std::fs::read(file).unwrap());
    for number in 0..1000 {
        let mut bytes = sound[usize::from(number % 4 == 0)].clone();
        let damage = mutate(&mut bytes, &mut random);
        // A new name each time, because a loader remembers the libraries that it has loaded.
        let file = directory.join(format!("{number}.so"));
        std::fs::write(&file, bytes).unwrap();
        counts.add(&file, "", damage);
        std::fs::remove_file(&file).unwrap();
    }
    assert!(counts.refused > 200 && counts.loaded > 50, "{counts:?}");
}

#[test]
fn mutated_tables_are_refused_or_loaded() {
    let library = c_plugin();
    let mut random = Xoshiro256StarStar::seed_from_u64(SEED);
    let mut counts = Counts::default();
    for _ in 0..300 {
        let (at, byte) = (random.random_range(0..152), random.random::<u8>());
        counts.add(library, &format!("poke {at} {byte}"), Damage::Code);
    }
    assert!(counts.refused > 50, "{counts:?}");
}
