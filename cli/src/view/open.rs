//! Opens a page in the user's browser.

use crate::output;
use std::path::Path;
use std::process::{Command, Stdio};

/// Opens the page, or prints a message if that fails.
pub(super) fn browser(page: &Path) {
    let page = std::path::absolute(page).unwrap_or_else(|_| page.to_owned());
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    let opened = Command::new(program)
        .args(before)
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = opened {
        output::complain(&format!(
            "no browser was opened ({program}: {error}): open {} yourself, or give `--open no`",
            page.display()
        ));
    }
}
