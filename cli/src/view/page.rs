//! The page: one file, made of the parts in `page/` and the reports as JSON.
//!
//! It loads nothing from elsewhere: its security policy allows only the file's own contents.

use super::model::Shown;
use super::source::{Finder, Source};
use intermezzo::TextStyle;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

const FRAME: &str = include_str!("page/index.html");

const STYLES: &[&str] = &[
    include_str!("page/base.css"),
    include_str!("page/bars.css"),
    include_str!("page/timeline.css"),
    include_str!("page/details.css"),
    include_str!("page/tests.css"),
];

/// The scripts, in this order, because later ones use earlier ones.
const SCRIPTS: &[&str] = &[
    include_str!("page/dom.js"),
    include_str!("page/execution.js"),
    include_str!("page/rows.js"),
    include_str!("page/palette.js"),
    include_str!("page/drawing.js"),
    include_str!("page/timeline.js"),
    include_str!("page/minimap.js"),
    include_str!("page/operations.js"),
    include_str!("page/details.js"),
    include_str!("page/bars.js"),
    include_str!("page/tests.js"),
    include_str!("page/keys.js"),
    include_str!("page/main.js"),
];

/// The contents of the page.
#[derive(Serialize)]
struct Contents<'a> {
    format: &'static str,
    #[serde(flatten)]
    shown: &'a Shown,
    sources: BTreeMap<String, Source>,
}

/// Returns the page of these reports, with the source that `finder` finds.
pub(super) fn page(shown: &Shown, finder: &Finder) -> String {
    let contents = Contents {
        format: "intermezzo-view/1",
        shown,
        sources: finder.sources(shown),
    };
    let mut contents = serde_json::to_value(&contents).expect("a page's contents have text for keys");
    in_numbers(&mut contents);
    if let Value::Object(parts) = &mut contents {
        // The source is shown as it is in its file.
        let reports = parts.iter_mut().filter(|(name, _)| *name != "sources");
        reports.for_each(|(_, part)| make_visible(part));
    }
    let json = contents.to_string();
    let title = match shown.reports.as_slice() {
        [one] => one.program.as_str(),
        _ => "reports",
    };
    let mut page = String::with_capacity(json.len() + (128 << 10));
    // All placeholders are replaced in one pass, so that no text of a report is taken for one.
    for part in FRAME.split("{{") {
        let Some((name, rest)) = part.split_once("}}") else {
            page.push_str(part);
            continue;
        };
        match name {
            "title" => page.push_str(&in_html(title)),
            "styles" => STYLES.iter().for_each(|style| page.push_str(style)),
            "scripts" => SCRIPTS.iter().for_each(|script| page.push_str(script)),
            "contents" => page.push_str(&in_script(&json)),
            name => unreachable!("the frame has no place {name:?}"),
        }
        page.push_str(rest);
    }
    page
}

/// Replaces integers that JavaScript cannot represent by texts in hexadecimal.
fn in_numbers(value: &mut Value) {
    const WHOLE_MAX: u64 = (1 << 53) - 1;
    match value {
        Value::Array(list) => list.iter_mut().for_each(in_numbers),
        Value::Object(map) => map.values_mut().for_each(in_numbers),
        Value::Number(number) => {
            if let Some(large) = number.as_u64().filter(|&number| number > WHOLE_MAX) {
                *value = Value::String(format!("{large:#x}"));
            }
        }
        _ => {}
    }
}

/// Replaces control characters, which a browser does not show, in the same way as text reports do.
fn make_visible(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(make_visible),
        Value::Object(map) => map.values_mut().for_each(make_visible),
        Value::String(text) => *text = TextStyle::default().visible(std::mem::take(text)),
        _ => {}
    }
}

/// Returns equivalent JSON without `<`, so that it cannot end its HTML element.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn in_html(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
