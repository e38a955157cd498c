//! The features of the facade that are on by default: each is checked separately, and explained.

use cargo_metadata::MetadataCommand;
use std::path::Path;

#[test]
fn features_are_checked_one_by_one_and_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = MetadataCommand::new();
    command.manifest_path(root.join("Cargo.toml")).no_deps();
    command.other_options(["--offline".into()]);
    let metadata = command.exec().unwrap();
    let facade = metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == "intermezzo");
    let features = &facade.unwrap().features["default"];
    let text = |file: &str| std::fs::read_to_string(root.join(file)).unwrap();
    let checked = format!("for feature in {}; do", features.join(" "));
    assert!(
        text(".ci/run").contains(&checked),
        ".ci/run has no line `{checked}`"
    );
    let explained = text("docs/guide/src/shipping.md");
    for feature in features {
        assert!(
            explained.contains(&format!("| `{feature}` |")),
            "shipping.md: {feature}"
        );
    }
}
