//! A line on stderr while an exploration runs, if somebody looks at it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use intermezzo::Explorer;
use std::io::{self, IsTerminal};

/// A progress line, gone when dropped. Nothing at all where stderr is no terminal.
pub(crate) struct Progress(Option<ProgressBar>);

impl Progress {
    /// A line for the program of this name.
    pub(crate) fn of(name: &str) -> Progress {
        if !io::stderr().is_terminal() {
            return Progress(None);
        }
        let style =
            ProgressStyle::with_template("{spinner} {prefix}: {msg}").expect("the template is well-formed");
        let line = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
        Progress(Some(line.with_prefix(name.to_owned())))
    }

    /// The explorer, with its progress shown here.
    pub(crate) fn watch(&self, explorer: Explorer) -> Explorer {
        let Some(line) = self.0.clone() else {
            return explorer;
        };
        explorer.on_progress(move |progress| {
            let seconds = progress.elapsed.as_secs_f64();
            let pace = if seconds > 0.0 {
                progress.executions as f64 / seconds
            } else {
                0.0
            };
            line.set_message(format!(
                "{} executions, {pace:.0}/s, {seconds:.0} s, {} findings",
                progress.executions, progress.findings
            ));
            line.tick();
        })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(line) = &self.0 {
            line.finish_and_clear();
        }
    }
}
