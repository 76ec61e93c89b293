//! The store's superblock: its format version and ID.
//!
//! One line: the word, the version, the store's ID, and, from version 2 on, the XXH3 of the preceding bytes. In
//! version 1 a flipped bit changed the ID or the version unnoticed. A version 1 superblock is replaced after the
//! store was opened: written to a temporary file, synced, renamed. A kill leaves one or the other, and both open.
//!
//! A second file has the same line. If the first one is damaged or missing, the second one counts, and the next start
//! writes the first one again. Releases without it wrote one file; the next start adds the other.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Error;
use super::durable::replace;

/// The store format that this program writes.
pub const FORMAT_VERSION: u32 = 2;
/// The first format, whose superblock has no checksum.
const WITHOUT_SUM: u32 = 1;

const PLATE: &str = "lore-store";
const COPY: &str = "lore-store.copy";
const WORD: &str = "lore-store";

/// The random ID of a store, 16 bytes, generated at its creation; the watermark file contains it, too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreId(pub [u8; 16]);

impl StoreId {
    /// Parses a displayed ID: 32 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 32 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        u128::from_str_radix(text, 16)
            .ok()
            .map(|id| Self(id.to_be_bytes()))
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreId({self})")
    }
}

/// The content of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Superblock {
    /// Format version.
    pub version: u32,
    /// ID of the store.
    pub id: StoreId,
}

/// Encodes a superblock of this program's format.
fn line(id: StoreId) -> String {
    let said = format!("{WORD} {FORMAT_VERSION} {id}");
    let sum = xxh3_64(said.as_bytes());
    format!("{said} {sum:016x}\n")
}

/// Writes the superblock and its copy into a new store's folder.
pub(super) fn write(dir: &Path, id: StoreId) -> Result<(), Error> {
    put(&dir.join(PLATE), &line(id))?;
    put(&dir.join(COPY), &line(id))
}

fn put(path: &Path, line: &str) -> Result<(), Error> {
    let mut file = fs::File::create_new(path).map_err(Error::file("creating", path))?;
    file.write_all(line.as_bytes())
        .map_err(Error::file("writing", path))?;
    file.sync_all().map_err(Error::file("syncing", path))
}

/// Reads the superblock; refuses folders that are not a store or are newer than this program.
pub(super) fn read(dir: &Path) -> Result<Superblock, Error> {
    match fs::symlink_metadata(dir) {
        // The daemon may write only below its own folders, and a link leads out of them.
        Ok(found) if found.is_symlink() => {
            let reason = "it is a symbolic link; move the folder it leads to in its place";
            return Err(foreign(dir, reason));
        }
        Ok(found) if !found.is_dir() => return Err(foreign(dir, "it is not a folder")),
        Ok(_) | Err(_) => {}
    }
    let path = dir.join(PLATE);
    let first = match fs::read_to_string(&path) {
        Ok(text) => parse(&text, dir),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(foreign(dir, "it has no file `lore-store`"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(foreign(dir, "its file `lore-store` is not text"))
        }
        // It may be readable later.
        Err(error) => return Err(Error::file("reading", &path)(error)),
    };
    match first {
        // A newer program has written it, not a flipped bit.
        Err(Error::Newer { .. }) if is_summed(&path) => first,
        Err(error) => copy(dir).ok_or(error),
        Ok(superblock) => Ok(superblock),
    }
}

/// Returns the second superblock, if it is intact.
fn copy(dir: &Path) -> Option<Superblock> {
    let text = fs::read_to_string(dir.join(COPY)).ok()?;
    parse(&text, dir)
        .ok()
        .filter(|superblock| superblock.version > WITHOUT_SUM)
}

/// Returns whether a line ends with the checksum of what is before it, whatever its version.
fn is_summed(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| fits(&text))
}

fn fits(text: &str) -> bool {
    let Some((said, sum)) = text.trim_end().rsplit_once(' ') else {
        return false;
    };
    u64::from_str_radix(sum, 16).is_ok_and(|sum| sum == xxh3_64(said.as_bytes()))
}

fn foreign(dir: &Path, reason: &str) -> Error {
    Error::Foreign {
        path: dir.to_path_buf(),
        reason: reason.to_owned(),
    }
}

fn parse(text: &str, dir: &Path) -> Result<Superblock, Error> {
    let mut words = text.split_ascii_whitespace();
    if words.next() != Some(WORD) {
        let reason = "its file `lore-store` does not start with that word";
        return Err(foreign(dir, reason));
    }
    let version = words
        .next()
        .and_then(|word| word.parse::<u32>().ok())
        .filter(|version| *version >= WITHOUT_SUM)
        .ok_or_else(|| foreign(dir, "its file `lore-store` names no version"))?;
    if version > FORMAT_VERSION {
        return Err(Error::Newer {
            path: dir.to_path_buf(),
            found: version,
            known: FORMAT_VERSION,
        });
    }
    let id = words.next().and_then(StoreId::parse);
    let id = id.ok_or_else(|| foreign(dir, "its file `lore-store` names no store id"))?;
    if version > WITHOUT_SUM && !fits(text) {
        let reason = "its file `lore-store` is damaged and does not match its checksum, and `lore-store.copy` is \
                      missing or damaged, too; put one of them back from a copy, or restore a backup";
        return Err(foreign(dir, reason));
    }
    Ok(Superblock { version, id })
}

/// Upgrades the superblock of an older store to this program's format, and writes a damaged or missing one of the two
/// again. Returns whether it was older.
///
/// # Errors
/// [`Error::File`]; the store has the old or the new superblock and opens with both.
pub(super) fn upgrade(dir: &Path) -> Result<bool, Error> {
    let superblock = read(dir)?;
    let line = line(superblock.id);
    // The first one before the copy: a newer program knows by its version what it may do.
    for name in [PLATE, COPY] {
        let path = dir.join(name);
        let is_there = fs::read(&path).is_ok_and(|found| found == line.as_bytes());
        if !is_there {
            replace(&path, &[line.as_bytes()]).map_err(Error::file("replacing", &path))?;
        }
    }
    Ok(superblock.version < FORMAT_VERSION)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Leftover of a killed upgrade.
    const ASIDE: &str = "lore-store.new";

    const ID: StoreId = StoreId([7; 16]);

    fn old() -> String {
        format!("{WORD} 1 {ID}\n")
    }

    /// A flipped bit in one of the two superblocks, or the loss of one, is survived and repaired; damage of both is refused
    /// with the remedy. A newer program's superblock counts, whatever the copy says.
    #[test]
    fn one_of_two_superblocks_is_enough() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), ID).unwrap();
        let (first, second) = (dir.path().join(PLATE), dir.path().join(COPY));
        let whole = fs::read(&first).unwrap();
        assert_eq!(fs::read(&second).unwrap(), whole);
        for path in [&first, &second] {
            for at in 0..whole.len() {
                for bit in 0..8 {
                    let mut flipped = whole.clone();
                    *flipped.get_mut(at).unwrap() ^= 1 << bit;
                    fs::write(path, flipped).unwrap();
                    assert_eq!(read(dir.path()).unwrap().id, ID, "byte {at} bit {bit}");
                    assert!(!upgrade(dir.path()).unwrap());
                    assert_eq!(fs::read(path).unwrap(), whole, "byte {at} bit {bit}");
                }
            }
            for cut in [0, 20] {
                fs::write(path, whole.get(..cut).unwrap()).unwrap();
                assert_eq!(read(dir.path()).unwrap().id, ID);
            }
            fs::remove_file(path).unwrap();
            assert!(!upgrade(dir.path()).unwrap());
            assert_eq!(fs::read(path).unwrap(), whole);
        }
        let mut damaged = whole.clone();
        *damaged.get_mut(20).unwrap() ^= 1;
        fs::write(&first, &damaged).unwrap();
        fs::write(&second, &damaged).unwrap();
        let error = read(dir.path()).unwrap_err().to_string();
        assert!(
            error.contains("lore-store.copy") && error.contains("restore a backup"),
            "{error}"
        );
        fs::write(&second, &whole).unwrap();
        let said = format!("{WORD} 3 {ID}");
        let newer = format!("{said} {:016x}\n", xxh3_64(said.as_bytes()));
        fs::write(&first, newer).unwrap();
        assert!(matches!(
            read(dir.path()),
            Err(Error::Newer { found: 3, .. })
        ));
        fs::write(&second, old()).unwrap();
        fs::remove_file(&first).unwrap();
        assert!(read(dir.path()).is_err(), "a copy has a checksum");
    }

    /// A superblock survives a round trip; foreign and newer folders give different errors; flipped bits are detected.
    #[test]
    fn plates() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(read(dir.path()), Err(Error::Foreign { .. })));
        put(&dir.path().join(PLATE), &line(ID)).unwrap();
        let superblock = dir.path().join(PLATE);
        let (version, id) = (FORMAT_VERSION, ID);
        assert_eq!(read(dir.path()).unwrap(), Superblock { version, id });
        let whole = fs::read(&superblock).unwrap();
        // The newline carries no information.
        for at in 0..whole.len() - 1 {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                *flipped.get_mut(at).unwrap() ^= 1 << bit;
                fs::write(&superblock, flipped).unwrap();
                let is_case = bit == 5 && whole.get(at).is_some_and(u8::is_ascii_alphabetic);
                let found = read(dir.path());
                let is_same = found.as_ref().is_ok_and(|superblock| superblock.id == ID);
                assert!(
                    found.is_err() || (is_case && is_same),
                    "byte {at} bit {bit}"
                );
            }
        }
        fs::write(&superblock, "lore-store 3 00").unwrap();
        assert!(matches!(
            read(dir.path()),
            Err(Error::Newer { found: 3, .. })
        ));
        for nonsense in ["", "hello", "lore-store", "lore-store x", "lore-store 1 zz"] {
            fs::write(&superblock, nonsense).unwrap();
            let found = read(dir.path());
            assert!(matches!(found, Err(Error::Foreign { .. })), "{nonsense}");
        }
    }

    /// An older superblock is upgraded once. After a kill at any point the store opens, and the next upgrade completes.
    #[test]
    fn older_plates_are_upgraded() {
        let whole = line(ID);
        let left: [Option<&str>; 4] = [None, Some(""), whole.get(..20), Some(&whole)];
        for aside in left {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(PLATE), old()).unwrap();
            if let Some(aside) = aside {
                fs::write(dir.path().join(ASIDE), aside).unwrap();
            }
            let id = ID;
            assert_eq!(read(dir.path()).unwrap(), Superblock { version: 1, id });
            assert!(upgrade(dir.path()).unwrap());
            let version = FORMAT_VERSION;
            assert_eq!(read(dir.path()).unwrap(), Superblock { version, id });
            assert!(!dir.path().join(ASIDE).exists());
            assert!(!upgrade(dir.path()).unwrap());
        }
    }
}
