//! The table of all settings in the guide, made from their declarations.

use super::read::root;
use intermezzo::settings::Setting;
use intermezzo::{Settings, StrategyKind};
use std::fs;

const PAGE: &str = "docs/guide/src/settings.md";
const BEGIN: &str = "<!-- settings -->\n";
const END: &str = "<!-- end of settings -->\n";

fn row(setting: &Setting) -> String {
    let Setting {
        name, help, accepts, ..
    } = setting;
    // The default strategy of a test. An `Explorer` in code is depth-first by default.
    let defaults = Settings {
        strategy: StrategyKind::AUTO,
        ..Settings::default()
    };
    let default = defaults.value(name).expect("every setting has a value");
    // A pipe would end the table's cell.
    format!(
        "| `{name}` | {} | {} | `{default}` |\n",
        help.replace('|', "\\|"),
        accepts.replace('|', "\\|")
    )
}

/// Returns a table of settings.
fn table(advanced: bool) -> String {
    let settings = Settings::all()
        .iter()
        .filter(|setting| setting.advanced == advanced);
    let rows: String = settings.map(row).collect();
    format!("| setting | meaning | values | default |\n|---|---|---|---|\n{rows}")
}

/// Checks that the page has every setting. With UPDATE_DOCS=1, the page is updated instead.
#[test]
fn all_settings_are_in_the_guide() {
    let path = root().join(PAGE);
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text
        .split_once(BEGIN)
        .expect("the page has a place for the table");
    let (_, after) = rest.split_once(END).expect("the table ends");
    let made = format!(
        "{before}{BEGIN}\nMost tests need only these:\n\n{}\nThese are for experts:\n\n{}\n{END}{after}",
        table(false),
        table(true)
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(path, made).unwrap();
    } else {
        assert_eq!(
            text, made,
            "{PAGE} is not up to date: run this test with UPDATE_DOCS=1"
        );
    }
}
