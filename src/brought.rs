//! The monitors of this project, registered with the engine before `main` runs: their names, and the ones that are on
//! by default.
//!
//! The engine names no monitor, and `Explorer` is the engine's type. Whichever part of a program makes an explorer,
//! it must have the same defaults as soon as this crate is linked. A function that the loader calls before `main`
//! needs no call by the user, and runs on every platform in the same way (`.init_array` and its siblings).

use intermezzo_explorer::{Brought, bring_monitors};

/// The monitors that are on where nothing is set. Their warnings about practices of many correct programs are off: a
/// channel that is dropped with messages in it, and a lock that is held while its task waits for something else.
const ON: &str = "data-race;leak:channels=false;misuse:held=false";

extern "C" fn bring() {
    bring_monitors(Brought {
        by_name: intermezzo_monitors::by_name,
        names: || intermezzo_monitors::names().collect(),
        on: ON,
        data_race: "data-race",
    });
}

#[used]
#[cfg_attr(
    any(target_os = "macos", target_os = "ios"),
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(target_os = "windows", unsafe(link_section = ".CRT$XCU"))]
#[cfg_attr(
    not(any(target_os = "macos", target_os = "ios", target_os = "windows")),
    unsafe(link_section = ".init_array")
)]
static BRING: extern "C" fn() = bring;
