//! The sources of the arguments of operations.

use quickcheck::{Arbitrary, Gen};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::any::Any;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A source of arguments: seeded, and with a memory of the scenario's earlier arguments.
pub struct Source {
    random: Xoshiro256PlusPlus,
    gen_: Gen,
    drawn: u64,
    earlier: Vec<Box<dyn Any>>,
}

/// Maximum number of elements in a container drawn by [`any`].
const SIZE: usize = 8;

impl Source {
    /// Creates a source with a seed of its own, for one scenario.
    pub fn new(seed: u64) -> Source {
        Source {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            gen_: Gen::from_size_and_seed(SIZE, seed),
            drawn: 0,
            earlier: Vec::new(),
        }
    }

    /// Returns a number below `most`.
    ///
    /// # Panics
    /// If `most` is 0.
    pub fn below(&mut self, most: usize) -> usize {
        self.random.random_range(0..most)
    }
}

/// Draws the arguments of an operation.
pub trait Arguments: Send + Sync + 'static {
    /// The type of the operation's arguments.
    type Value: Clone + Debug + Send + Sync + 'static;

    /// Returns the next value.
    fn draw(&self, source: &mut Source) -> Self::Value;

    /// Returns simpler values that might do as well, simplest first.
    fn simpler(&self, value: &Self::Value) -> Vec<Self::Value> {
        let _ = value;
        Vec::new()
    }
}

/// No arguments.
impl Arguments for () {
    type Value = ();
    fn draw(&self, _: &mut Source) {}
}

macro_rules! tuples {
    ($(($($name:ident $at:tt),+))+) => {$(
        /// One argument from each.
        impl<$($name: Arguments),+> Arguments for ($($name,)+) {
            type Value = ($($name::Value,)+);
            fn draw(&self, source: &mut Source) -> Self::Value {
                ($(self.$at.draw(source),)+)
            }
            fn simpler(&self, value: &Self::Value) -> Vec<Self::Value> {
                let mut all = Vec::new();
                $(for one in self.$at.simpler(&value.$at) {
                    let mut simpler = value.clone();
                    simpler.$at = one;
                    all.push(simpler);
                })+
                all
            }
        }
    )+};
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
}

/// Values by number: different numbers give different values, as far as the type has enough of them.
pub trait Numbered {
    /// Returns the `n`-th value, from 1.
    fn numbered(n: u64) -> Self;
}

macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl Numbered for $number {
            fn numbered(n: u64) -> Self {
                n as $number
            }
        }
    )+};
}

numbers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl Numbered for String {
    fn numbered(n: u64) -> String {
        format!("v{n}")
    }
}

impl Numbered for char {
    fn numbered(n: u64) -> char {
        char::from(b'a' + (n.saturating_sub(1) % 26) as u8)
    }
}

/// See [`fresh`].
pub struct Fresh<V>(PhantomData<fn() -> V>);

/// Returns values that are all different within a scenario: 1, 2, 3, ..
///
/// Most errors of a queue or a stack show only if values can be distinguished.
pub fn fresh<V>() -> Fresh<V> {
    Fresh(PhantomData)
}

impl<V: Numbered + Clone + Debug + Send + Sync + 'static> Arguments for Fresh<V> {
    type Value = V;
    fn draw(&self, source: &mut Source) -> V {
        source.drawn += 1;
        let value = V::numbered(source.drawn);
        source.earlier.push(Box::new(value.clone()));
        value
    }
}

/// See [`any`].
pub struct AnyOf<V>(PhantomData<fn() -> V>);

/// Returns any values, but half of the time one that an earlier operation of the scenario had. Keys of a map, for
/// example, should meet.
pub fn any<V: Arbitrary>() -> AnyOf<V> {
    AnyOf(PhantomData)
}

impl<V: Arbitrary + Debug + Send + Sync> Arguments for AnyOf<V> {
    type Value = V;
    fn draw(&self, source: &mut Source) -> V {
        let earlier: Vec<&V> = source
            .earlier
            .iter()
            .filter_map(|value| value.downcast_ref())
            .collect();
        if !earlier.is_empty() && source.random.random_bool(0.5) {
            return earlier[source.random.random_range(0..earlier.len())].clone();
        }
        let value = V::arbitrary(&mut source.gen_);
        source.earlier.push(Box::new(value.clone()));
        value
    }
    fn simpler(&self, value: &V) -> Vec<V> {
        value.shrink().take(SIMPLER_MAX).collect()
    }
}

/// Most simpler values that are tried of one argument at a time.
const SIMPLER_MAX: usize = 8;

/// See [`one_of`].
pub struct OneOf<V>(Vec<V>);

/// Returns one of these values; with a single one, always that.
///
/// # Panics
/// If there are none.
pub fn one_of<V>(values: impl IntoIterator<Item = V>) -> OneOf<V> {
    let values: Vec<V> = values.into_iter().collect();
    assert!(!values.is_empty(), "one_of: give at least one value");
    OneOf(values)
}

impl<V: Clone + Debug + Send + Sync + 'static> Arguments for OneOf<V> {
    type Value = V;
    fn draw(&self, source: &mut Source) -> V {
        self.0[source.below(self.0.len())].clone()
    }
    fn simpler(&self, value: &V) -> Vec<V> {
        let shown = format!("{value:?}");
        let before = self.0.iter().take_while(|other| format!("{other:?}") != shown);
        before.cloned().collect()
    }
}
