//! The store's own name-plate: which format it has and which store it is.

use std::fmt;
use std::fs;
use std::io::Write;
use std::path::Path;

use super::Error;

/// The store format this program writes.
pub const FORMAT_VERSION: u32 = 1;

const PLATE: &str = "lore-store";
const WORD: &str = "lore-store";

/// The random name of one store, 16 bytes, made at its creation; the head file repeats it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreId(pub [u8; 16]);

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

fn parse_id(text: &str) -> Option<StoreId> {
    if text.len() != 32 || !text.is_ascii() {
        return None;
    }
    let mut id = [0; 16];
    for (at, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(StoreId(id))
}

/// Writes the name-plate into a new store's folder.
pub(super) fn write(dir: &Path, id: StoreId) -> Result<(), Error> {
    let path = dir.join(PLATE);
    let mut file = fs::File::create_new(&path).map_err(Error::file("creating", &path))?;
    writeln!(file, "{WORD} {FORMAT_VERSION} {id}").map_err(Error::file("writing", &path))?;
    file.sync_all().map_err(Error::file("syncing", &path))
}

/// Reads the name-plate; refuses folders that are not ours or newer than this program.
pub(super) fn read(dir: &Path) -> Result<StoreId, Error> {
    let foreign = |reason: &str| Error::Foreign {
        path: dir.to_path_buf(),
        reason: reason.to_owned(),
    };
    let path = dir.join(PLATE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(foreign("it has no file `lore-store`"));
        }
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            return Err(foreign("its file `lore-store` is not text"));
        }
        Err(error) => return Err(Error::file("reading", &path)(error)),
    };
    let mut words = text.split_ascii_whitespace();
    if words.next() != Some(WORD) {
        return Err(foreign(
            "its file `lore-store` does not start with that word",
        ));
    }
    let version = words
        .next()
        .and_then(|word| word.parse::<u32>().ok())
        .ok_or_else(|| foreign("its file `lore-store` names no version"))?;
    if version > FORMAT_VERSION {
        return Err(Error::Newer {
            path: dir.to_path_buf(),
            found: version,
            known: FORMAT_VERSION,
        });
    }
    words
        .next()
        .and_then(parse_id)
        .ok_or_else(|| foreign("its file `lore-store` names no store id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plate reads back; a foreign and a newer folder are told apart.
    #[test]
    fn plates() {
        let dir = tempfile::tempdir().expect("temporary folder");
        assert!(matches!(read(dir.path()), Err(Error::Foreign { .. })));
        write(dir.path(), StoreId([7; 16])).expect("writes");
        assert_eq!(read(dir.path()).expect("reads"), StoreId([7; 16]));
        let plate = dir.path().join(PLATE);
        fs::write(&plate, "lore-store 2 00").expect("writes");
        assert!(matches!(
            read(dir.path()),
            Err(Error::Newer { found: 2, .. })
        ));
        for nonsense in ["", "hello", "lore-store", "lore-store x", "lore-store 1 zz"] {
            fs::write(&plate, nonsense).expect("writes");
            assert!(
                matches!(read(dir.path()), Err(Error::Foreign { .. })),
                "{nonsense}"
            );
        }
    }
}
