//! Histories that go deeper than anybody writes: an error, and no end of the stack. What else may happen to a file is tried in
//! `cli/tests/cli/broken`.

use intermezzo_refinement::history::formats::Format;

#[test]
fn forms_within_forms_have_an_end() {
    for open in ["[", "{", "#{", "#_", "#a ", "("] {
        let text = format!("{{:process 0 :type {}", open.repeat(100_000));
        assert!(Format::Edn.read(&text).is_err());
    }
    let text = format!("[0] call push({})", "[".repeat(100_000));
    assert!(Format::Calls.read(&text).is_err());
    let json = format!(
        "{{\"format\": \"intermezzo-history/1\", \"events\": {}",
        "[".repeat(100_000)
    );
    assert!(Format::Json.read(&json).is_err());
}
