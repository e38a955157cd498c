//! Control characters in a report that come from a test or a monitor: texts make them visible, so a terminal does not act
//! on them.

use intermezzo::report::TextStyle;
use intermezzo::sdk::{Context, Execution, FindingKind, Interests, Monitor, MonitorFinding};
use intermezzo::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use intermezzo::{Explorer, Report, Verbosity, name, thread};

/// Clears the screen, sets the title of the window, and returns to the beginning of the line.
const CONTROLS: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\r";

/// Reports each execution in these words.
struct Loud;

impl Monitor for Loud {
    fn name(&self) -> &str {
        "loud"
    }
    fn interests(&self) -> Interests {
        Interests::NONE
    }
    fn reduction_compatible(&self) -> bool {
        true
    }
    fn on_execution_end(&mut self, _: &Execution<'_>, cx: &mut Context<'_>) {
        let kind = FindingKind::from_name("plugin/loud").unwrap();
        let mut finding = MonitorFinding::new(kind, format!("said {CONTROLS} loudly"));
        finding.suggestion = Some(format!("do {CONTROLS} not"));
        cx.report(finding);
    }
}

fn report() -> Report {
    let explorer = Explorer::new().program("telling::controls").keep_going(true);
    explorer.monitor_with(|| Loud).explore(|| {
        let n = AtomicUsize::new(0);
        name(&n, &format!("n{CONTROLS}"));
        thread::scope(|scope| {
            let named = thread::Builder::new().name(format!("task{CONTROLS}"));
            named
                .spawn_scoped(scope, || n.store(n.load(SeqCst) + 1, SeqCst))
                .unwrap();
            n.store(n.load(SeqCst) + 1, SeqCst);
        });
        assert_eq!(
            n.load(SeqCst),
            2,
            "\u{1b}[31mred\u{1b}[0m{CONTROLS}\n\tin two lines"
        );
    })
}

#[test]
fn control_characters_of_tests_and_monitors_are_made_visible() {
    let report = report();
    let said = |text: &str| text.chars().filter(|c| c.is_control()).collect::<String>();
    let is_plain = |text: &str| said(text).chars().all(|c| c == '\n' || c == '\t');
    for detail in [Verbosity::Quiet, Verbosity::Normal, Verbosity::Verbose] {
        let style = TextStyle::default().detail(detail);
        let text = report.text(&style);
        assert!(is_plain(&text), "{text:?}");
        let colour = TextStyle {
            colour: true,
            ..style
        };
        let text = report.text(&colour);
        for hidden in ["\u{1b}[2J", "\u{1b}]", "\u{7}", "\r", "\u{1b}[31mred"] {
            assert!(!text.contains(hidden), "{text:?}");
        }
    }
    let text = report.to_string();
    for shown in [
        "\\u{1b}[31mred\\u{1b}[0m\\u{1b}[2J\\u{1b}]0;x\\u{7}",
        "said \\u{1b}[2J",
        "do \\u{1b}[2J",
        "task\\u{1b}[2J",
    ] {
        assert!(text.contains(shown), "{shown} is not in {text}");
    }
    // A message of several lines stays readable.
    assert!(text.lines().any(|line| line.trim() == "in two lines"), "{text}");
    report.findings().iter().for_each(|finding| {
        assert!(is_plain(&finding.to_string()), "{finding}");
        assert!(
            finding.message.contains('\u{1b}'),
            "data stays as it is: {finding:?}"
        );
    });
    assert!(is_plain(&report.to_json()));
}
