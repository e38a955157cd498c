//! Checks of a library before any of its code runs.

use super::problem::PluginProblem;
use intermezzo_sdk::abi::{ENTRIES, ENTRY_PREFIX};
use object::read::{ExportTarget, NameOrOrdinal};
use object::{Architecture, BinaryFormat, FileKind, Object, ObjectKind, ObjectSegment};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The size of the largest file that is accepted as a plugin.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// The largest amount of memory, in bytes, that a library may take up.
const IMAGE_BYTES_MAX: u64 = 1 << 40;

/// The first bytes of libraries: on Linux and similar systems, and on Apple's systems in both byte orders.
const MAGIC: [&[u8]; 3] = [b"\x7fELF", b"\xfe\xed\xfa", b"\xcf\xfa\xed\xfe"];

/// Checks the file, and returns its full path.
///
/// # Errors
/// If it is not a plugin for this process.
pub(super) fn look(path: &Path) -> Result<PathBuf, PluginProblem> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => PluginProblem::NoFile,
        _ => PluginProblem::Unreadable(error.to_string()),
    };
    let found = fs::metadata(path).map_err(unreadable)?;
    if found.is_dir() {
        return Err(PluginProblem::NotAFile("a directory"));
    }
    if !found.is_file() {
        return Err(PluginProblem::NotAFile("no regular file"));
    }
    if found.len() > FILE_BYTES_MAX {
        let found = format!("a file of {} bytes", found.len());
        return Err(PluginProblem::NotALibrary(found));
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    examine(&bytes)?;
    fs::canonicalize(path).map_err(unreadable)
}

fn examine(bytes: &[u8]) -> Result<(), PluginProblem> {
    let damaged = |error: object::Error| PluginProblem::Damaged(error.to_string());
    let kind = FileKind::parse(bytes).map_err(|_| {
        if MAGIC.iter().any(|magic| bytes.starts_with(magic)) {
            PluginProblem::Damaged("its header is cut off".into())
        } else {
            PluginProblem::NotALibrary(describe(bytes).into())
        }
    })?;
    if kind == FileKind::Archive {
        let found = "an archive (a static library, or an .rlib)";
        return Err(PluginProblem::NotALibrary(found.into()));
    }
    let file = object::File::parse(bytes).map_err(damaged)?;
    check_machine(&file)?;
    match file.kind() {
        ObjectKind::Dynamic => {}
        ObjectKind::Relocatable => {
            return Err(PluginProblem::NotALibrary("an object file, not linked".into()));
        }
        ObjectKind::Executable => return Err(PluginProblem::NotALibrary("a program".into())),
        _ => {
            return Err(PluginProblem::NotALibrary(
                "a file of machine code of another kind".into(),
            ));
        }
    }
    check_segments(&file)?;
    check_entry(&file)
}

/// Checks that the parts to be loaded are in the file, and do not overlap in memory. A loader need not notice that, and
/// then something goes wrong when the process ends.
fn check_segments(file: &object::File<'_>) -> Result<(), PluginProblem> {
    let damaged = |what: String| Err(PluginProblem::Damaged(what));
    let mut end = 0;
    for segment in file.segments() {
        if let Err(error) = segment.data() {
            return damaged(error.to_string());
        }
        if file.format() != BinaryFormat::Elf {
            continue;
        }
        let (from, size) = (segment.address(), segment.size());
        let (_, in_file) = segment.file_range();
        let Some(to) = from.checked_add(size).filter(|to| *to <= IMAGE_BYTES_MAX) else {
            return damaged(format!("a part of {size} bytes at {from:#x}"));
        };
        if from < end || in_file > size {
            return damaged(format!("a part of {size} bytes at {from:#x} lies over another"));
        }
        end = to;
    }
    Ok(())
}

/// Returns the kind of a file that holds no machine code.
fn describe(bytes: &[u8]) -> &'static str {
    match std::str::from_utf8(bytes) {
        Ok("") => "empty",
        Ok(_) => "text",
        Err(_) => "no machine code",
    }
}

fn check_machine(file: &object::File<'_>) -> Result<(), PluginProblem> {
    let needed_format = match BinaryFormat::native_object() {
        BinaryFormat::Coff => BinaryFormat::Pe,
        format => format,
    };
    let here = match std::env::consts::ARCH {
        "x86_64" => Architecture::X86_64,
        "x86" => Architecture::I386,
        "aarch64" => Architecture::Aarch64,
        "arm" => Architecture::Arm,
        "riscv64" => Architecture::Riscv64,
        "s390x" => Architecture::S390x,
        "powerpc64" => Architecture::PowerPc64,
        // An unknown architecture cannot be compared here; the loader will do it.
        _ => file.architecture(),
    };
    let describe = |format: BinaryFormat, machine: Architecture, little: bool, bits: u32| {
        let end = if little { "little" } else { "big" };
        format!("{format:?} {machine:?} ({bits} bits, {end}-endian)")
    };
    let bits = if file.is_64() { 64 } else { 32 };
    let found = describe(file.format(), file.architecture(), file.is_little_endian(), bits);
    let needed = describe(needed_format, here, cfg!(target_endian = "little"), usize::BITS);
    if found == needed {
        Ok(())
    } else {
        Err(PluginProblem::OtherMachine { found, needed })
    }
}

/// Checks that an entry of a version that is loaded exists, and that all of them are code.
fn check_entry(file: &object::File<'_>) -> Result<(), PluginProblem> {
    let damaged = |error: object::Error| PluginProblem::Damaged(error.to_string());
    let (mut known, mut other) = (false, None);
    for export in file.exports().map_err(damaged)? {
        let export = export.map_err(damaged)?;
        let NameOrOrdinal::Name(name) = export.name() else {
            continue;
        };
        let Ok(name) = std::str::from_utf8(name) else {
            continue;
        };
        // Mach-O puts an underscore before C names.
        let name = if file.format() == BinaryFormat::MachO {
            name.strip_prefix('_').unwrap_or(name)
        } else {
            name
        };
        if ENTRIES.iter().any(|(_, entry)| *entry == name) {
            match export.target() {
                ExportTarget::Address { address } if is_code(file, address) => known = true,
                _ => {
                    return Err(PluginProblem::Damaged(format!(
                        "`{name}` is not a function in it"
                    )));
                }
            }
        } else if name.starts_with(ENTRY_PREFIX) {
            other = Some(name.to_owned());
        }
    }
    if known {
        return Ok(());
    }
    Err(other.map_or(PluginProblem::NoEntry, PluginProblem::OtherVersion))
}

fn is_code(file: &object::File<'_>, address: u64) -> bool {
    file.segments().any(|segment| {
        let inside = address.checked_sub(segment.address());
        inside.is_some_and(|at| at < segment.size()) && segment.permissions().executable()
    })
}
