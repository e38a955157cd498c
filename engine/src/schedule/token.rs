//! The token: a schedule short enough to paste.
//!
//! `imz` and the version with a dot, and then these bytes in base64url (RFC 4648, section 5) without padding:
//!
//! | part | coded as |
//! |---|---|
//! | version, 1 to 3 | a byte |
//! | fields of the environment that differ from [`BASE`], and the limit of steps | a byte, a bit for each, the first one's lowest |
//! | those fields, except for the two that are flags | varints |
//! | program name | varint of its length in bytes, UTF-8 |
//! | from version 2 on: package, target, monitors as settings name them | for each a varint of its length in bytes, UTF-8 |
//! | from version 2 on: executions before the search | varint |
//! | number of choices, plus 1 | gamma |
//! | the shapes, until there are that many | runs, see below |
//! | the alternatives taken | gaps and values, see below |
//! | nothing, up to a whole byte | zero bits |
//! | the optional part, if any of these differs from the default: see [`YIELDS`], [`NO_AWAITS`], [`KNOWN_LOOPS`], [`DATA_POINTS`], [`BREAKPOINTS`], [`ALL_LISTED`], [`ADDRESS_REUSE`] and [`STALE_READS`] | a byte, a bit for each; the number of yields as a varint; the number of loops, less 1, as a varint, and each in 64 bits; the same for places; the breakpoints' length in bytes as a varint, UTF-8; the bounds on addresses that are used again and on stale reads, each less 1, as a varint |
//! | CRC-32 of all of the above | four bytes, lowest first |
//!
//! A *shape* is a choice without the alternative taken. Shapes repeat: while the same tasks run, the number of
//! alternatives stays the same, and when it changes, it usually returns to a recent value. So equal shapes in a row
//! form a run. A run is written as the shape's place in the list of recent shapes (gamma), and its length. Place 0, the
//! shape of the run before, cannot occur. A shape that is not in the list has the place after its end, followed by its
//! kind (3 bits), whether it preempts (1 bit) and `alternatives - 1` (gamma).
//!
//! The alternative taken is usually 0. Each choice that took another one is written as a gap and a value. The gap is
//! the number of choices just before it that took 0, plus 1 (gamma); the value is `taken - 1` in the number of bits
//! that its largest possible value needs. If the last choices took 0, a last gap covers them, and no value follows.
//!
//! On simulated schedules (2 to 4 tasks, 10 to 300 choices, depth-first search, PCT and random walks) this takes 1 to 5
//! bits per choice. That is a tenth to two thirds less than runs in whole bytes. It is at most a third more than with
//! an adaptive arithmetic coder, which would be harder to read and to implement elsewhere.
//!
//! The checksum detects every change of up to 32 bits in a row. It is not a signature, and does not prevent forgery.

use data_encoding::BASE64URL_NOPAD;

use super::bits::{BitReader, BitWriter};
use super::{Carrier, Choice, ChoiceKind, Schedule, ScheduleError, TestBinary, VERSION, version_number};
use crate::environment::Environment;
use crate::monitors::MonitorRequest;
use intermezzo_breakpoint::Armings;

/// The environment whose fields are left out of a token.
///
/// It is not [`Environment::default`], which may change: that would silently change the meaning of
/// every token written before.
const BASE: Environment = Environment {
    spurious_wakeups: 1,
    timeouts: 1,
    weak_failures: 1,
    try_lock_failures: 0,
    notify_any: true,
    arc_counts: true,
    address_reuse: 0,
    stale_reads: 0,
    seed: 0,
};

/// The limit on steps that is left out of a token: frozen like [`BASE`].
const BASE_STEPS: u64 = 20_000;

/// The bits of the mask for fields of the environment that are not bounds, and for the limit on steps.
const NOTIFY_ANY: u64 = 1 << 4;
const ARC_COUNTS: u64 = 1 << 5;
const SEED: u64 = 1 << 6;
const STEPS: u64 = 1 << 7;

/// The bits of the optional part after the choices. They mean, in this order: not every yield counts; no task is
/// parked; there are loops that were assumed to wait; there are places at which accesses to plain memory were schedule
/// points; there are armed breakpoints; tasks that fairness held back counted as alternatives; and the environment has
/// bounds on reused addresses and on stale reads, for which its own mask has no bit left.
const YIELDS: u64 = 1;
const NO_AWAITS: u64 = 1 << 1;
const KNOWN_LOOPS: u64 = 1 << 2;
const DATA_POINTS: u64 = 1 << 3;
const BREAKPOINTS: u64 = 1 << 4;
const ALL_LISTED: u64 = 1 << 5;
const ADDRESS_REUSE: u64 = 1 << 6;
const STALE_READS: u64 = 1 << 7;

/// The maximum number of loops, or places, in a token: more than any program has, and few enough to be read.
const HASHES_MAX: u64 = 1 << 16;

/// The interval of the yields that count, if a token does not contain it: frozen like [`BASE`].
const BASE_YIELDS: u32 = 1;

/// The number of bits of a kind's number.
const KIND_BITS: u32 = 3;
const _: () = assert!(ChoiceKind::ALL.len() <= 1 << KIND_BITS);

/// The number of shapes that are remembered: more than a small program has, but few enough that looking one up is cheap
/// even for a forged token.
const RECENT_MAX: usize = 16;

/// The longest piece of a run. A longer run is written as pieces of this length and a rest. So each byte represents at
/// most some hundred choices, and the token's length bounds the memory.
const RUN_MAX: usize = 256;

/// A choice without the alternative taken.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    kind: ChoiceKind,
    preempts: bool,
    alternatives: u32,
}

impl Shape {
    fn of(choice: &Choice) -> Shape {
        Shape {
            kind: choice.kind,
            preempts: choice.preempts,
            alternatives: choice.alternatives,
        }
    }

    /// Returns the number of bits that `taken - 1` needs.
    fn taken_bits(&self) -> u32 {
        let most = self.alternatives - 2;
        u32::BITS - most.leading_zeros()
    }
}

/// The shapes used last, the most recent first.
#[derive(Default)]
struct RecentShapes(Vec<Shape>);

impl RecentShapes {
    /// Returns the place that means a shape that is not remembered. It is at least 1, because gamma codes cannot
    /// express 0.
    fn place_of_new(&self) -> usize {
        self.0.len().max(1)
    }

    /// Puts `shape` in front; drops the least recently used one if there are too many.
    fn remember(&mut self, shape: Shape) {
        match self.0.iter().position(|recent| *recent == shape) {
            Some(place) => self.0[..=place].rotate_right(1),
            None => {
                self.0.truncate(RECENT_MAX - 1);
                self.0.insert(0, shape);
            }
        }
    }
}

/// Returns `true` if `text` begins like a token of any version.
pub(super) fn looks_like_one(text: &str) -> bool {
    version_of(text).is_some()
}

/// Returns the number between `imz` and the dot, if `text` begins like that.
fn version_of(text: &str) -> Option<u32> {
    let (digits, _) = text.strip_prefix("imz")?.split_once('.')?;
    version_number(digits)
}

pub(super) fn encode(schedule: &Schedule) -> String {
    let mut writer = BitWriter::default();
    let version = schedule.version();
    writer.bits(u64::from(version), 8);
    write_environment(&schedule.environment, schedule.steps, &mut writer);
    writer.text(&schedule.program);
    if version > 1 {
        writer.text(&schedule.binary.package);
        writer.text(&schedule.binary.target);
        writer.text(&MonitorRequest::list(&schedule.monitors));
        writer.varint(schedule.warm_up.into());
    }
    write_choices(&schedule.choices, &mut writer);
    write_optional_part(schedule, &mut writer);

    let mut bytes = writer.finish();
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    format!("imz{version}.{}", BASE64URL_NOPAD.encode(&bytes))
}

pub(super) fn decode(token: &str) -> Result<Schedule, ScheduleError> {
    let Some(version) = version_of(token) else {
        return Err(ScheduleError::NotAToken {
            found: token.to_owned(),
        });
    };
    let Some((prefix, text)) = token.split_once('.').filter(|_| (1..=VERSION).contains(&version)) else {
        return Err(other_version(version));
    };
    let is_foreign = |char: char| !(char.is_ascii_alphanumeric() || char == '-' || char == '_');
    if let Some((index, found)) = text.chars().enumerate().find(|(_, char)| is_foreign(*char)) {
        return Err(ScheduleError::BadCharacter {
            found,
            position: prefix.len() + 1 + index + 1,
        });
    }
    // If all characters are valid, base64 fails only because the last group is incomplete.
    let cut = ScheduleError::Truncated {
        bytes: text.len() / 4 * 3,
    };
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| cut)?;
    let Some((contents, checksum)) = bytes.split_last_chunk() else {
        return Err(ScheduleError::Truncated { bytes: bytes.len() });
    };

    let found = u32::from_le_bytes(*checksum);
    let needed = crc32fast::hash(contents);
    let schedule = read_contents(contents, version);
    if found == needed {
        return schedule;
    }
    // If the contents were altered, the specific error does not help the user. Only missing or surplus contents say
    // more than a wrong checksum.
    Err(match schedule {
        Err(ScheduleError::Truncated { .. }) => ScheduleError::Truncated { bytes: bytes.len() },
        Err(error @ ScheduleError::TrailingData { .. }) => error,
        _ => ScheduleError::ChecksumMismatch {
            carrier: Carrier::Token,
            found: format!("{found:08x}"),
            needed: format!("{needed:08x}"),
        },
    })
}

/// Returns only the choices, as text without a checksum, for callers that have their own.
pub(super) fn pack(choices: &[Choice]) -> String {
    let mut writer = BitWriter::default();
    write_choices(choices, &mut writer);
    BASE64URL_NOPAD.encode(&writer.finish())
}

/// Returns the choices that [`pack`] was given.
pub(super) fn unpack(text: &str) -> Option<Vec<Choice>> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
    let choices = read_choices(&mut BitReader::new(&bytes)).ok()?;
    // Each list of choices has exactly one encoding, with nothing after it.
    (pack(&choices) == text).then_some(choices)
}

fn other_version(found: u32) -> ScheduleError {
    ScheduleError::OtherVersion {
        carrier: Carrier::Token,
        found,
        needed: VERSION,
    }
}

/// Reads the contents of a token of this version, which its prefix names.
fn read_contents(contents: &[u8], version: u32) -> Result<Schedule, ScheduleError> {
    let mut reader = BitReader::new(contents);
    let found = reader.bits(8)? as u32;
    if found > VERSION {
        return Err(other_version(found));
    }
    within(
        None,
        "the version in its contents",
        found.into(),
        version.into(),
        version.into(),
    )?;
    let (mut environment, steps) = read_environment(&mut reader)?;
    let program = reader.text()?;
    let (mut binary, mut monitors) = (TestBinary::default(), Vec::new());
    let mut warm_up = 0;
    if version > 1 {
        binary.package = reader.text()?;
        binary.target = reader.text()?;
        monitors = MonitorRequest::parse(&reader.text()?).map_err(ScheduleError::Monitors)?;
        warm_up = within(None, "`warm_up`", reader.varint()?, 0, u32::MAX.into())? as u32;
    }
    let choices = read_choices(&mut reader)?;
    let part = read_optional_part(&mut reader)?;
    (environment.address_reuse, environment.stale_reads) = (part.address_reuse, part.stale_reads);
    match reader.bytes_left() {
        0 => Schedule {
            program,
            binary,
            monitors,
            warm_up,
            environment,
            steps,
            fair_yields: part.fair_yields,
            all_listed: part.all_listed,
            awaits: part.awaits,
            known_loops: part.known_loops,
            data_points: part.data_points,
            breakpoints: part.breakpoints,
            choices,
        }
        .of_version(version, Carrier::Token),
        bytes => Err(ScheduleError::TrailingData { bytes }),
    }
}

/// Writes the optional part after the choices, if any of its values differs from the default.
fn write_optional_part(schedule: &Schedule, writer: &mut BitWriter) {
    let other_yields = schedule.fair_yields != BASE_YIELDS;
    let (known_loops, data_points) = (&schedule.known_loops, &schedule.data_points);
    let breakpoints = schedule.breakpoints.to_string();
    let bounds = [
        schedule.environment.address_reuse,
        schedule.environment.stale_reads,
    ];
    let mask = [
        (other_yields, YIELDS),
        (!schedule.awaits, NO_AWAITS),
        (!known_loops.is_empty(), KNOWN_LOOPS),
        (!data_points.is_empty(), DATA_POINTS),
        (!breakpoints.is_empty(), BREAKPOINTS),
        (schedule.all_listed, ALL_LISTED),
        (bounds[0] > 0, ADDRESS_REUSE),
        (bounds[1] > 0, STALE_READS),
    ]
    .iter()
    .fold(0, |mask, (said, bit)| mask | if *said { *bit } else { 0 });
    if mask != 0 {
        writer.fill_byte();
        writer.bits(mask, 8);
        if other_yields {
            writer.varint(schedule.fair_yields.into());
        }
        for hashes in [known_loops, data_points] {
            if !hashes.is_empty() {
                writer.varint(hashes.len() as u64 - 1);
            }
            for hash in hashes {
                writer.bits(*hash & u64::from(u32::MAX), 32);
                writer.bits(*hash >> 32, 32);
            }
        }
        if !breakpoints.is_empty() {
            writer.text(&breakpoints);
        }
        for bound in bounds.into_iter().filter(|bound| *bound > 0) {
            writer.varint(u64::from(bound) - 1);
        }
    }
}

/// The values of the optional part after the choices.
struct OptionalPart {
    fair_yields: u32,
    all_listed: bool,
    awaits: bool,
    known_loops: Vec<u64>,
    data_points: Vec<u64>,
    breakpoints: Armings,
    address_reuse: u32,
    stale_reads: u32,
}

/// Reads hashes of loops or places, at least one.
fn read_hashes(reader: &mut BitReader<'_>, number: &'static str) -> Result<Vec<u64>, ScheduleError> {
    let others = within(None, number, reader.varint()?, 0, HASHES_MAX)?;
    let mut hashes = Vec::new();
    for _ in 0..=others {
        let low = reader.bits(32)?;
        hashes.push(reader.bits(32)? << 32 | low);
    }
    Ok(hashes)
}

/// Reads a bound of the environment that is not 0.
fn read_bound(reader: &mut BitReader<'_>, name: &'static str) -> Result<u32, ScheduleError> {
    let less_one = within(None, name, reader.varint()?, 0, u64::from(u32::MAX) - 1)?;
    Ok(less_one as u32 + 1)
}

/// Reads the optional part after the choices.
fn read_optional_part(reader: &mut BitReader<'_>) -> Result<OptionalPart, ScheduleError> {
    let mut part = OptionalPart {
        fair_yields: BASE_YIELDS,
        all_listed: false,
        awaits: true,
        known_loops: Vec::new(),
        data_points: Vec::new(),
        breakpoints: Armings::default(),
        address_reuse: BASE.address_reuse,
        stale_reads: BASE.stale_reads,
    };
    let bytes = reader.bytes_left();
    if bytes == 0 {
        return Ok(part);
    }
    reader.skip_to_byte();
    let mask = reader.bits(8)?;
    // All eight bits have a meaning, and the part is only written if one of them is set.
    if mask == 0 {
        return Err(ScheduleError::TrailingData { bytes });
    }
    if mask & YIELDS != 0 {
        part.fair_yields = within(None, "`fair_yields`", reader.varint()?, 0, u32::MAX.into())? as u32;
    }
    part.awaits = mask & NO_AWAITS == 0;
    part.all_listed = mask & ALL_LISTED != 0;
    if mask & KNOWN_LOOPS != 0 {
        part.known_loops = read_hashes(reader, "the number of loops, less 1,")?;
    }
    if mask & DATA_POINTS != 0 {
        part.data_points = read_hashes(reader, "the number of places, less 1,")?;
    }
    if mask & BREAKPOINTS != 0 {
        part.breakpoints = reader.text()?.parse().map_err(ScheduleError::Breakpoints)?;
    }
    if mask & ADDRESS_REUSE != 0 {
        part.address_reuse = read_bound(reader, "`address_reuse`, less 1,")?;
    }
    if mask & STALE_READS != 0 {
        part.stale_reads = read_bound(reader, "`stale_reads`, less 1,")?;
    }
    Ok(part)
}

fn write_environment(environment: &Environment, steps: u64, writer: &mut BitWriter) {
    // All fields are listed, so that a new field cannot be forgotten here.
    let Environment {
        spurious_wakeups,
        timeouts,
        weak_failures,
        try_lock_failures,
        notify_any,
        arc_counts,
        // These are in the optional part.
        address_reuse: _,
        stale_reads: _,
        seed,
    } = *environment;
    let bounds = [
        (spurious_wakeups, BASE.spurious_wakeups),
        (timeouts, BASE.timeouts),
        (weak_failures, BASE.weak_failures),
        (try_lock_failures, BASE.try_lock_failures),
    ];

    let mut mask = 0;
    for (index, (bound, base)) in bounds.iter().enumerate() {
        mask |= u64::from(bound != base) << index;
    }
    for (differs, bit) in [
        (notify_any != BASE.notify_any, NOTIFY_ANY),
        (arc_counts != BASE.arc_counts, ARC_COUNTS),
        (seed != BASE.seed, SEED),
        (steps != BASE_STEPS, STEPS),
    ] {
        mask |= if differs { bit } else { 0 };
    }

    writer.bits(mask, 8);
    for (bound, base) in bounds {
        if bound != base {
            writer.varint(u64::from(bound));
        }
    }
    if seed != BASE.seed {
        writer.varint(seed);
    }
    if steps != BASE_STEPS {
        writer.varint(steps);
    }
}

fn read_environment(reader: &mut BitReader<'_>) -> Result<(Environment, u64), ScheduleError> {
    let mask = reader.bits(8)?;

    let mut environment = BASE;
    let bounds = [
        ("`spurious_wakeups`", &mut environment.spurious_wakeups),
        ("`timeouts`", &mut environment.timeouts),
        ("`weak_failures`", &mut environment.weak_failures),
        ("`try_lock_failures`", &mut environment.try_lock_failures),
    ];
    for (index, (field, bound)) in bounds.into_iter().enumerate() {
        if mask >> index & 1 == 1 {
            *bound = within(None, field, reader.varint()?, 0, u32::MAX.into())? as u32;
        }
    }
    environment.notify_any ^= mask & NOTIFY_ANY != 0;
    environment.arc_counts ^= mask & ARC_COUNTS != 0;
    if mask & SEED != 0 {
        environment.seed = reader.varint()?;
    }
    let steps = if mask & STEPS != 0 {
        reader.varint()?
    } else {
        BASE_STEPS
    };
    Ok((environment, steps))
}

fn write_choices(choices: &[Choice], writer: &mut BitWriter) {
    writer.gamma(choices.len() as u64 + 1);

    let mut recent = RecentShapes::default();
    for run in choices.chunk_by(|left, right| Shape::of(left) == Shape::of(right)) {
        let shape = Shape::of(&run[0]);
        match recent.0.iter().position(|other| *other == shape) {
            Some(place) => writer.gamma(place as u64),
            None => {
                writer.gamma(recent.place_of_new() as u64);
                writer.bits(shape.kind as u64, KIND_BITS);
                writer.bits(u64::from(shape.preempts), 1);
                writer.gamma(u64::from(shape.alternatives - 1));
            }
        }
        recent.remember(shape);

        let mut length = run.len();
        while length >= RUN_MAX {
            writer.gamma(RUN_MAX as u64);
            length -= RUN_MAX - 1;
        }
        writer.gamma(length as u64);
    }

    let mut gap = 1;
    for choice in choices {
        if choice.taken == 0 {
            gap += 1;
        } else {
            writer.gamma(gap);
            writer.bits(u64::from(choice.taken - 1), Shape::of(choice).taken_bits());
            gap = 1;
        }
    }
    if gap > 1 {
        writer.gamma(gap);
    }
}

fn read_choices(reader: &mut BitReader<'_>) -> Result<Vec<Choice>, ScheduleError> {
    // No memory is reserved for this number, because it may be wrong. The contents decide.
    let count = reader.gamma()? - 1;

    let mut choices: Vec<Choice> = Vec::new();
    let mut recent = RecentShapes::default();
    while (choices.len() as u64) < count {
        let shape = read_shape(reader, &recent, choices.len() + 1)?;
        recent.remember(shape);
        let Shape {
            kind,
            preempts,
            alternatives,
        } = shape;
        let choice = Choice {
            kind,
            preempts,
            alternatives,
            taken: 0,
        };
        loop {
            let part = reader.gamma()?;
            let goes_on = part == RUN_MAX as u64;
            let left = count - choices.len() as u64;
            let most = left.min(RUN_MAX as u64);
            let length = within(Some(choices.len() + 1), "the length of its run", part, 1, most)?;
            choices.resize(choices.len() + length as usize - usize::from(goes_on), choice);
            if !goes_on {
                break;
            }
        }
    }

    let mut next = 0;
    while next < choices.len() {
        let left = choices.len() - next;
        let gap = reader.gamma()?;
        let skipped = within(
            Some(next + 1),
            "the gap to what is not 0",
            gap,
            1,
            left as u64 + 1,
        )? as usize
            - 1;
        next += skipped;
        let Some(choice) = choices.get_mut(next) else {
            break;
        };
        let most = u64::from(choice.alternatives - 1);
        let taken = reader.bits(Shape::of(choice).taken_bits())? + 1;
        choice.taken = within(Some(next + 1), "`taken`", taken, 0, most)? as u32;
        next += 1;
    }
    Ok(choices)
}

/// Returns the shape of the run that begins with choice number `choice`.
fn read_shape(
    reader: &mut BitReader<'_>,
    recent: &RecentShapes,
    choice: usize,
) -> Result<Shape, ScheduleError> {
    let place = reader.gamma()?;
    let place_of_new = recent.place_of_new() as u64;
    let place = within(Some(choice), "the place of its shape", place, 1, place_of_new)?;
    if let Some(shape) = recent.0.get(place as usize) {
        return Ok(*shape);
    }
    let number = reader.bits(KIND_BITS)?;
    let Some(kind) = ChoiceKind::ALL.get(number as usize) else {
        let most = ChoiceKind::ALL.len() as u64 - 1;
        return Err(ScheduleError::OutOfRange {
            choice: Some(choice),
            field: "`kind`",
            found: number,
            least: 0,
            most,
        });
    };
    let preempts = reader.bits(1)? == 1;
    let others = reader.gamma()?;
    let others = within(
        Some(choice),
        "`alternatives` less 1",
        others,
        1,
        u64::from(u32::MAX - 1),
    )?;
    Ok(Shape {
        kind: *kind,
        preempts,
        alternatives: others as u32 + 1,
    })
}

/// Returns `found` if it is in bounds.
fn within(
    choice: Option<usize>,
    field: &'static str,
    found: u64,
    least: u64,
    most: u64,
) -> Result<u64, ScheduleError> {
    if (least..=most).contains(&found) {
        Ok(found)
    } else {
        Err(ScheduleError::OutOfRange {
            choice,
            field,
            found,
            least,
            most,
        })
    }
}
