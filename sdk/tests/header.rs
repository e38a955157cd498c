//! `include/intermezzo.h` agrees with `src/abi/`.

use std::path::Path;

/// The variable that, set to anything, has the header regenerated.
const UPDATE: &str = "UPDATE_HEADER";

#[test]
fn header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let sources = [
        "choice.rs",
        "id.rs",
        "op.rs",
        "event.rs",
        "report.rs",
        "abi/data.rs",
        "abi/table.rs",
    ];
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in sources {
        builder = builder.with_src(root.join("src").join(source));
    }
    let mut generated = Vec::new();
    builder.generate().unwrap().write(&mut generated);
    let generated = String::from_utf8(generated).unwrap();

    let path = root.join("include/intermezzo.h");
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "{} is not what src/abi/ says: run this test with {UPDATE}=1, and look at what changed",
        path.display()
    );
}
