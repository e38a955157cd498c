//! Tests with files of a made-up format: what is written can be read, damage is noticed, and other files are not
//! changed.

use super::*;

const FORMAT: Format = Format::new("intermezzo-test", 3);

/// A directory that is removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Directory {
        let path = std::env::temp_dir().join(format!("intermezzo-store-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Directory(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("file")
    }

    /// Returns the names of the files in it.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn locked(path: &Path) -> Result<Locked<'_>, Problem> {
    FORMAT.lock(path, Duration::ZERO)
}

#[test]
fn what_is_written_is_read() {
    let directory = Directory::new("written");
    let path = directory.file();
    assert_eq!(FORMAT.read(&path), Ok(None));
    let mut writer = FORMAT.writer(&path).unwrap();
    for contents in ["one\n", "", "three\nlines\n\n"] {
        writer.write(contents).unwrap();
        assert_eq!(FORMAT.read(&path), Ok(Some(contents.to_owned())));
        assert_eq!(directory.names(), ["file"]);
        writer.hold().unwrap();
        assert_eq!(directory.names(), ["file", "file.partial"]);
    }
    drop(writer);
    assert_eq!(directory.names(), ["file"]);
    let locked = locked(&path).unwrap();
    assert_eq!(locked.read(), Ok(Some("three\nlines\n\n".to_owned())));
    locked.write("four").unwrap();
    assert_eq!(locked.read(), Ok(Some("four".to_owned())));
    assert_eq!(directory.names(), ["file", "file.lock"]);
    // The form of the file must not change, because other versions of the tool read it, too.
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "intermezzo-test/3\n90c1667d 4\nfour"
    );
}

#[test]
fn two_writers_do_not_share_a_file() {
    let directory = Directory::new("shared");
    let path = directory.file();
    let mut first = FORMAT.writer(&path).unwrap();
    let mut second = FORMAT.writer(&path).unwrap();
    first.hold().unwrap();
    assert_eq!(second.hold(), Err(Problem::InUse));
    assert_eq!(second.write("second"), Err(Problem::InUse));
    first.write("first").unwrap();
    assert_eq!(second.write("second"), Ok(()));
    drop(first);
    assert_eq!(FORMAT.read(&path), Ok(Some("second".to_owned())));
    let held = locked(&path).unwrap();
    assert_eq!(locked(&path).err(), Some(Problem::InUse));
    drop(held);
    assert!(locked(&path).is_ok());
}

/// Other files, and a file with only the name of this format, without a version.
#[test]
fn a_file_of_another_kind_is_left_alone() {
    let directory = Directory::new("foreign");
    let path = directory.file();
    for foreign in [
        "",
        "a letter",
        "intermezzo-test",
        "intermezzo-tests/3\n00000000 0\n",
        "\u{feff}intermezzo-test/3\n",
    ] {
        fs::write(&path, foreign).unwrap();
        assert_eq!(FORMAT.read(&path), Err(Problem::Foreign), "{foreign:?}");
        assert_eq!(locked(&path).unwrap().read(), Err(Problem::Foreign));
        assert_eq!(locked(&path).unwrap().write("x"), Err(Problem::Foreign));
        let mut writer = FORMAT.writer(&path).unwrap();
        writer.hold().unwrap();
        assert_eq!(writer.write("x"), Err(Problem::Foreign));
        // This process still holds the lock.
        assert_eq!(FORMAT.writer(&path).unwrap().hold(), Err(Problem::InUse));
        drop(writer);
        assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
        assert_eq!(directory.names(), ["file", "file.lock"]);
    }
    for path in [directory.0.as_path(), Path::new("/"), Path::new("")] {
        assert_eq!(locked(path).err(), Some(Problem::Foreign), "{path:?}");
    }
    assert_eq!(FORMAT.read(&directory.0), Err(Problem::Foreign));
    assert_eq!(FORMAT.writer(Path::new("")).err(), Some(Problem::Foreign));
}

#[test]
fn a_partial_file_of_another_kind_is_left_alone() {
    let directory = Directory::new("partial");
    let (path, partial) = (directory.file(), directory.0.join("file.partial"));
    for foreign in ["another", "intermezzo-other/3\n"] {
        fs::write(&partial, foreign).unwrap();
        let mut writer = FORMAT.writer(&path).unwrap();
        for refused in [
            writer.hold(),
            writer.write("x"),
            locked(&path).unwrap().write("x"),
        ] {
            let says = "exists and is not a file of this tool";
            assert!(
                matches!(&refused, Err(Problem::Partial { reason }) if reason.ends_with(says)),
                "{refused:?}"
            );
        }
        drop(writer);
        assert_eq!(fs::read_to_string(&partial).unwrap(), foreign);
        assert_eq!(FORMAT.read(&path), Ok(None));
    }
    // The partial file of a process that was killed is reused.
    for killed in ["", "inter", "intermezzo-test/2\nabc 100\nand a long text"] {
        fs::write(&partial, killed).unwrap();
        FORMAT.writer(&path).unwrap().write("x").unwrap();
        assert_eq!(FORMAT.read(&path), Ok(Some("x".to_owned())));
        assert!(!partial.exists());
    }
}

/// Every prefix, and every file with a byte more or with one byte changed, is refused.
#[test]
fn damage_is_noticed() {
    let directory = Directory::new("damage");
    let path = directory.file();
    for contents in ["some contents\nof two lines\n", ""] {
        FORMAT.writer(&path).unwrap().write(contents).unwrap();
        let whole = fs::read(&path).unwrap();
        let refused = |damaged: &[u8]| {
            fs::write(&path, damaged).unwrap();
            FORMAT.read(&path).expect_err(&damaged.escape_ascii().to_string())
        };
        for length in 0..whole.len() {
            refused(&whole[..length]);
        }
        for at in 0..whole.len() {
            let changed = |change: u8| {
                let mut damaged = whole.clone();
                damaged[at] ^= change;
                damaged
            };
            refused(&changed(1 << (at % 8)));
            for change in 1..=255 {
                let damaged = changed(change);
                assert!(FORMAT.contents(&damaged).is_err(), "{}", damaged.escape_ascii());
            }
        }
        let longer = [&whole[..], b"\n"].concat();
        let (found, needed) = (contents.len() as u64 + 1, contents.len() as u64);
        assert_eq!(refused(&longer), Problem::OtherLength { found, needed });
        fs::write(&path, &whole).unwrap();
        assert_eq!(FORMAT.read(&path), Ok(Some(contents.to_owned())));
    }
}

#[test]
fn damage_has_a_reason() {
    let read = |bytes: &[u8]| FORMAT.contents(bytes);
    let sealed = |contents: &[u8]| [FORMAT.head(contents).as_bytes(), contents].concat();
    let other = |found: &str| {
        Err(Problem::OtherVersion {
            found: found.to_owned(),
            needed: 3,
        })
    };
    assert_eq!(read(b"intermezzo-test/"), other(""));
    assert_eq!(read(b"intermezzo-test/12\n"), other("12"));
    assert_eq!(
        read(b"intermezzo-test/a version that is long\n"),
        other("a version that is lo")
    );
    assert_eq!(read(b"intermezzo-test/3"), Err(Problem::ChecksumMismatch));
    assert_eq!(read(b"intermezzo-test/3\nsum\n"), Err(Problem::ChecksumMismatch));
    assert_eq!(
        read(b"intermezzo-test/3\n00000000 2\nx"),
        Err(Problem::OtherLength { found: 1, needed: 2 })
    );
    assert_eq!(
        read(b"intermezzo-test/3\n00000000 1\nx"),
        Err(Problem::ChecksumMismatch)
    );
    assert_eq!(read(&sealed(b"\xff")), Err(Problem::NotText));
    assert_eq!(read(&sealed(b"x")), Ok("x".to_owned()));
}
