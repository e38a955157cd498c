//! A test for each family of random programs: they run concurrently, and their names distinguish them.

/// Makes the tests, each of which calls the given function for its family.
macro_rules! for_each_family {
    ($suite:ident) => {
        for_each_family! { $suite:
            atomics 0 Atomics,
            mutexes 1 Mutexes,
            readers_and_writers 2 ReadersWriters,
            conditions 3 Conditions,
            channels 4 Channels,
            parking 5 Parking,
            tasks 6 Tasks,
            mixed 7 Mixed,
            probing 8 Probing,
        }
    };
    ($suite:ident: $($name:ident $number:literal $family:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $suite::<$number>(Family::$family);
            }
        )*
    };
}
