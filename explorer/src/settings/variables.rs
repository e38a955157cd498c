//! The environment variables by which the command line and the overlays of std speak to each other and to the library.

/// The directory of the overlays: cargo's, and that of the command line when cargo calls it as the compiler.
pub const OVERLAYS: &str = "INTERMEZZO_OVERLAYS";

/// The compiler's wrapper that the user has.
pub const NEXT_WRAPPER: &str = "INTERMEZZO_NEXT_WRAPPER";

/// `1` if accesses to plain memory are to be seen, otherwise `0`.
pub const WATCHES: &str = "INTERMEZZO_RACES";

/// `1` if programs are explored as a whole, otherwise `0`.
pub const PROGRAMS: &str = "INTERMEZZO_PROGRAMS";

/// The arguments that a replay needs besides the token, in JSON: a list of words, each as a shell takes it.
pub const REPLAY_WITH: &str = "INTERMEZZO_REPLAY_WITH";

/// The commands before and after each execution of a program.
pub const SET_UP: &str = "INTERMEZZO_SET_UP";
/// See [`SET_UP`].
pub const TEAR_DOWN: &str = "INTERMEZZO_TEAR_DOWN";

/// The seconds after which such a command is ended.
pub const COMMAND_LIMIT: &str = "INTERMEZZO_COMMAND_LIMIT";
