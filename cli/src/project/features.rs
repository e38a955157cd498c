//! The features of a build of several packages that one of them has.
//!
//! In a workspace, `cargo test --features server/tls` is accepted although most packages have no such feature. The build of
//! another package alone is refused with it.

use super::target::Package;
use std::ffi::OsString;

/// Returns the arguments of cargo, without features that other packages have and this one does not.
pub(super) fn of_package(arguments: &[OsString], package: &Package, all: &[Package]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(text) = argument.to_str() else {
            kept.push(argument.clone());
            continue;
        };
        let value = match text {
            "--features" | "-F" => rest.next().map(|value| value.to_string_lossy()),
            _ => text
                .strip_prefix("--features=")
                .or_else(|| text.strip_prefix("-F"))
                .map(|value| value.strip_prefix('=').unwrap_or(value).into()),
        };
        let Some(value) = value else {
            kept.push(argument.clone());
            continue;
        };
        let names = value.split([',', ' ']).filter(|name| !name.is_empty());
        let own: Vec<&str> = names.filter(|name| may_have(package, name, all)).collect();
        if !own.is_empty() {
            kept.extend(["--features".into(), own.join(",").into()]);
        }
    }
    kept
}

/// Returns `true` if the package has this feature, or none has it: then cargo reports an error.
fn may_have(package: &Package, feature: &str, all: &[Package]) -> bool {
    let has = |package: &Package, name: &str| package.features.contains_key(name);
    match feature.split_once('/') {
        None => has(package, feature) || !all.iter().any(|other| has(other, feature)),
        Some((of, name)) => {
            let of = of.trim_end_matches('?');
            let mut dependencies = package.dependencies.iter();
            package.name == of
                || dependencies.any(|one| one.rename.as_ref().unwrap_or(&one.name) == of)
                || !all.iter().any(|other| other.name == of && has(other, name))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_other_packages_are_left_out() {
        let packages: Vec<Package> = serde_json::from_str(
            r#"[
                {"id": "a", "name": "a", "targets": [], "features": {"fast": [], "tls": []}, "dependencies": []},
                {"id": "b", "name": "b", "targets": [], "features": {"fast": [], "default": []},
                    "dependencies": [{"name": "c", "rename": null}, {"name": "d", "rename": "e"}]}
            ]"#,
        )
        .unwrap();
        for (given, expected) in [
            ("--release --lib", "--release --lib"),
            ("--features a/tls --release", "--release"),
            ("--features=a/tls,fast -r", "--features fast -r"),
            ("-Ftls -F fast -F=b/fast", "--features fast --features b/fast"),
            ("--features c/x,e/y,d/y", "--features c/x,e/y,d/y"),
            // Cargo reports these.
            ("--features unknown,a/unknown", "--features unknown,a/unknown"),
            ("--features", "--features"),
        ] {
            let arguments: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            let kept = of_package(&arguments, &packages[1], &packages);
            assert_eq!(kept.join(std::ffi::OsStr::new(" ")), expected, "{given}");
        }
    }
}
