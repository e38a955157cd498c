//! Files that cannot be loaded, and their messages.

use crate::build::{c, c_plugin, directory};
use intermezzo_explorer::Plugin;
use std::path::Path;

fn refusal(file: &Path, arguments: &str) -> String {
    let tried = Plugin::try_out(file, arguments).map(|_| ()).unwrap_err();
    let loaded = Plugin::load_with(file, arguments).map(|_| ()).unwrap_err();
    assert_eq!(tried, loaded);
    let text = loaded.to_string();
    assert!(
        text.starts_with(&format!("cannot load the monitor {file:?}: ")),
        "{text}"
    );
    text
}

#[test]
fn files_that_are_not_libraries_are_refused() {
    let directory = directory("no-libraries");
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    for (file, says) in [
        (directory.join("nothing"), "there is no such file"),
        (directory.clone(), "it is a directory"),
        ("/dev/null".into(), "it is no regular file"),
        (write("empty", b""), "it is empty"),
        (write("text", b"#!/bin/sh\n"), "it is text"),
        (write("bytes", &[0xff; 100]), "it is no machine code"),
        (write("archive", b"!<arch>\n0123456789abcdef"), "it is an archive"),
        (
            write("short", b"\x7fELF\x02\x01\x01"),
            "it is damaged or incomplete",
        ),
        (
            std::env::current_exe().unwrap(),
            "it does not export `intermezzo_monitor_7`",
        ),
    ] {
        let refused = refusal(&file, "");
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn libraries_for_other_machines_are_refused() {
    let library = c_plugin();
    let sound = std::fs::read(library).unwrap();
    let directory = directory("other-machines");
    let with = |name: &str, at: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        let path = directory.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    // An ELF header has the machine in bytes 18 and 19, and the kind of file in byte 16. Here: RISC-V, a program, an
    // object file.
    for (file, says) in [
        (
            with("riscv", 18, 243),
            "it is a library for Elf Riscv64 (64 bits, little-endian), where one for Elf",
        ),
        (with("program", 16, 2), "it is a program"),
        (with("object", 16, 1), "it is an object file, not linked"),
    ] {
        let refused = refusal(&file, "");
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn plugins_of_other_versions_are_refused() {
    let entry = |name: &str, fill: &str| {
        format!(
            "#include \"intermezzo.h\"\nINTERMEZZO_EXPORT uint32_t {name}(const IntermezzoHostTable *host, IntermezzoText arguments,\n\
             IntermezzoMonitorTable *table, char *message, size_t capacity) {{\n\
             (void)host; (void)arguments; (void)message; (void)capacity;\n\
             table->size = sizeof *table; table->version = INTERMEZZO_VERSION; table->name = intermezzo_text(\"n\");\n\
             {fill} return 0; }}\n"
        )
    };
    for (name, source, says) in [
        (
            "newer",
            entry("intermezzo_monitor_8", ""),
            "it exports `intermezzo_monitor_8`, where this intermezzo needs",
        ),
        (
            "older",
            entry("intermezzo_monitor_1", ""),
            "it exports `intermezzo_monitor_1`, where this intermezzo needs `intermezzo_monitor_7`, version 7 of the contract, or one of version 6 or 5: build it",
        ),
        (
            "none",
            entry("monitor", ""),
            "it does not export `intermezzo_monitor_7`; in Rust, call",
        ),
        (
            "version",
            entry("intermezzo_monitor_7", "table->version = 8;"),
            "version 8 of the contract, which is newer",
        ),
        (
            "old",
            entry("intermezzo_monitor_7", "table->version = 1;"),
            "version 1 of the contract, which is older",
        ),
        (
            "small",
            entry("intermezzo_monitor_7", "table->size -= 8;"),
            "the plugin's table has 152 bytes, where",
        ),
        (
            "large",
            entry("intermezzo_monitor_7", "table->size += 8;"),
            "the plugin's table has 168 bytes, where",
        ),
        (
            "interests",
            entry("intermezzo_monitor_7", "table->interests = 1u << 31;"),
            "have unknown bits",
        ),
        (
            "name",
            entry("intermezzo_monitor_7", "table->name.bytes = 0;"),
            "the name in the plugin's table is a null",
        ),
        (
            "variable",
            "int intermezzo_monitor_7[4] = {1};\n".into(),
            "`intermezzo_monitor_7` is not a function in it",
        ),
        (
            "unresolved",
            entry(
                "intermezzo_monitor_7",
                "extern void nobody_has_this(void); nobody_has_this();",
            ),
            "the system's loader refuses it",
        ),
        (
            "initialiser",
            entry("intermezzo_monitor_7", "")
                + "#include <stdlib.h>\n__attribute__((constructor)) void f(void) { abort(); }\n",
            "it ended that process: abort",
        ),
        (
            "finaliser",
            entry("intermezzo_monitor_7", "")
                + "#include <stdlib.h>\n__attribute__((destructor)) void f(void) { abort(); }\n",
            "it ended that process: abort",
        ),
    ] {
        let library = c(&format!("version-{name}"), &source, &[]);
        let refused = refusal(&library, "");
        assert!(refused.contains(says), "{name}: {refused}");
    }
    // With packed structs, the sizes differ.
    let source = format!(
        "#pragma pack(push, 1)\n{}",
        entry("intermezzo_monitor_7", "").replace("sizeof *table", "156")
    );
    let library = c("version-packed", &source, &[]);
    assert!(refusal(&library, "").contains("156 bytes, where version 7 of the contract has 160"));
}

#[test]
fn constructors_that_fail_are_refused() {
    let library = c_plugin();
    for (arguments, says) in [
        ("refuse", "the monitor could not be made: not with me"),
        (
            "refuse silently",
            "the monitor could not be made: the plugin does not say why",
        ),
        ("crash", "it ended that process: segmentation fault"),
        ("abort", "it ended that process: abort"),
        ("exit", "it ended that process: it exited"),
    ] {
        let refused = refusal(library, arguments);
        assert!(refused.contains(says), "{refused}");
    }
    // This takes some time, so once is enough.
    let refused = Plugin::try_out(library, "loop").unwrap_err().to_string();
    assert!(refused.contains("it did not come to an end"), "{refused}");
    // Only a rehearsal tries callbacks out; loading a plugin does not.
    let refused = Plugin::try_out(library, "crash later").unwrap_err().to_string();
    assert!(
        refused.contains("it ended that process: segmentation fault"),
        "{refused}"
    );
}
