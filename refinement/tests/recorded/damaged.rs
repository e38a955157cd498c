//! Histories nested deeper than any real one: an error, and no stack overflow. `cli/tests/cli/broken` tries other
//! damage of files.

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
