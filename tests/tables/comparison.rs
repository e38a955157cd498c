//! The rows of a table that were explored, and the errors in them.

/// The rows of a table that were explored, and the errors in them.
#[derive(Default)]
pub(crate) struct Comparison {
    lines: Vec<String>,
    objections: Vec<String>,
}

impl Comparison {
    pub(crate) fn note(&mut self, program: &str, what: String) {
        self.lines.push(format!("{program:40} {what}"));
    }

    pub(crate) fn object(&mut self, program: &str, what: String) {
        self.objections.push(format!("{program}: {what}"));
    }

    #[expect(
        clippy::print_stdout,
        reason = "the harness shows it on failure, or when asked to"
    )]
    pub(crate) fn conclude(self) {
        println!("{}", self.lines.join("\n"));
        assert!(self.objections.is_empty(), "{}", self.objections.join("\n"));
    }
}
