//! The guide's code, compiled and run as documentation tests; nothing of it is in the library.

macro_rules! pages {
    ($($page:ident: $path:literal,)*) => {
        $(#[doc = include_str!(concat!("../docs/", $path))] mod $page {})*
    };
}

pages! {
    readme: "../README.md",
    first_bug: "guide/src/first-bug.md",
    queue: "guide/src/queue.md",
    monitor: "guide/src/monitor.md",
    strategy: "guide/src/strategy.md",
    pass: "guide/src/pass.md",
    settings: "guide/src/settings.md",
    shuttle: "guide/src/shuttle.md",
    pitfalls: "guide/src/pitfalls.md",
    extras: "guide/src/extras.md",
    others: "guide/src/others.md",
    refinement: "REFINEMENT.md",
}
