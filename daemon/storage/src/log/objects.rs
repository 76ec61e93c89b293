//! Objects: bytes that events name by their SHA-256, each stored once. They are rows of the log, not of a view.
//!
//! A row states how the bytes are packed and contains them, or names the blob that does. A row is added in the
//! batch of the first event that names it and removed in the batch of the last one. So no crash leaves an event
//! without its objects, or an object without an event.
//!
//! | key | value |
//! | --- | --- |
//! | hash (32) | form (u8), place (u8), length (u64), base (32, of a delta or of edits), then the packed bytes, or the hash (32) and length (u64) of a blob |
//! | `b` blob hash (32) | hash of the object it holds (32) |
//! | `t` position (u64) | a text beside an event: [`super::texts`] |
//!
//! All numbers are big-endian.

use std::ops::ControlFlow;

use super::{Hash, OBJECTS, texts};
use crate::store::{BlobRef, Direction, Error, Rows, RowsMut};

/// The encoding of an object's bytes. The stored values never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectForm {
    /// Unpacked.
    Plain,
    /// A Zstandard frame.
    Whole,
    /// A delta against another object's bytes.
    Delta {
        /// Hash of the delta base.
        base: Hash,
    },
    /// Copies of ranges of another object's bytes, and what is new between them.
    Edits {
        /// Hash of the other object.
        base: Hash,
    },
}

/// The location of the packed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectLocation {
    /// In the row.
    Inline(Vec<u8>),
    /// In a blob.
    Blob(BlobRef),
}

impl ObjectLocation {
    /// Returns the number of packed bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Inline(packed) => packed.len() as u64,
            Self::Blob(blob) => blob.bytes,
        }
    }
}

/// A stored object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Encoding of the bytes.
    pub form: ObjectForm,
    /// Length of the unpacked bytes.
    pub bytes: u64,
    /// Location of the packed bytes.
    pub place: ObjectLocation,
}

/// The meaning of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// The row of an object.
    Object(Hash),
    /// The row of a blob that contains an object.
    Blob {
        /// Hash of the blob.
        blob: [u8; 32],
        /// Hash of the object.
        object: Hash,
    },
}

const PLAIN: u8 = 0;
const WHOLE: u8 = 1;
const DELTA: u8 = 2;
const EDITS: u8 = 3;
const INLINE: u8 = 0;
const BLOB: u8 = 1;

impl Object {
    /// Returns the delta base, if any.
    #[must_use]
    pub fn base(&self) -> Option<Hash> {
        match self.form {
            ObjectForm::Plain | ObjectForm::Whole => None,
            ObjectForm::Delta { base } | ObjectForm::Edits { base } => Some(base),
        }
    }

    /// Encodes the row.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (form, base) = match &self.form {
            ObjectForm::Plain => (PLAIN, None),
            ObjectForm::Whole => (WHOLE, None),
            ObjectForm::Delta { base } => (DELTA, Some(base)),
            ObjectForm::Edits { base } => (EDITS, Some(base)),
        };
        let (place, packed): (u8, &[u8]) = match &self.place {
            ObjectLocation::Inline(packed) => (INLINE, packed),
            ObjectLocation::Blob(_) => (BLOB, &[]),
        };
        let mut row = Vec::with_capacity(packed.len() + 82);
        row.extend([form, place]);
        row.extend(self.bytes.to_be_bytes());
        row.extend(base.map_or(&[][..], |base| &base.0[..]));
        row.extend(packed);
        if let ObjectLocation::Blob(blob) = &self.place {
            row.extend(blob.hash);
            row.extend(blob.bytes.to_be_bytes());
        }
        row
    }

    /// Decodes a row; `None` when it is not valid.
    #[must_use]
    pub fn decode(row: &[u8]) -> Option<Self> {
        let ([form, place], rest) = row.split_first_chunk::<2>()?;
        let (bytes, rest) = number(rest)?;
        let (form, rest) = match *form {
            PLAIN => (ObjectForm::Plain, rest),
            WHOLE => (ObjectForm::Whole, rest),
            DELTA | EDITS => {
                let (base, rest) = rest.split_first_chunk::<32>()?;
                let base = Hash(*base);
                let form = match *form {
                    DELTA => ObjectForm::Delta { base },
                    _ => ObjectForm::Edits { base },
                };
                (form, rest)
            }
            _ => return None,
        };
        let place = match *place {
            INLINE => ObjectLocation::Inline(rest.to_vec()),
            BLOB => {
                let (hash, rest) = rest.split_first_chunk::<32>()?;
                let (bytes, rest) = number(rest)?;
                if !rest.is_empty() {
                    return None;
                }
                ObjectLocation::Blob(BlobRef { hash: *hash, bytes })
            }
            _ => return None,
        };
        Some(Self { form, bytes, place })
    }
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*number), rest))
}

fn blob_key(blob: &[u8; 32]) -> Vec<u8> {
    let mut key = Vec::with_capacity(33);
    key.push(b'b');
    key.extend(blob);
    key
}

/// Reads an object, if it is stored.
pub fn get(rows: &dyn Rows, hash: &Hash) -> Result<Option<Object>, Error> {
    rows.get(OBJECTS, &hash.0)?
        .map(|row| {
            Object::decode(&row)
                .ok_or_else(|| Error::corrupt(OBJECTS.name(), &hash.0, "not an object row"))
        })
        .transpose()
}

/// Returns whether a key and a value may be a row of [`OBJECTS`].
pub(super) fn is_row(key: &[u8], value: &[u8]) -> bool {
    match key.len() {
        32 => Object::decode(value).is_some(),
        33 => key.starts_with(b"b") && value.len() == 32,
        _ => texts::position(key).is_some() && !value.is_empty(),
    }
}

/// Returns whether an object is stored.
pub fn is_kept(rows: &dyn Rows, hash: &Hash) -> Result<bool, Error> {
    Ok(rows.get(OBJECTS, &hash.0)?.is_some())
}

/// Stores an object.
pub fn put(rows: &mut dyn RowsMut, hash: &Hash, object: &Object) {
    rows.put(OBJECTS, &hash.0, &object.encode());
    if let ObjectLocation::Blob(blob) = &object.place {
        rows.put(OBJECTS, &blob_key(&blob.hash), &hash.0);
    }
}

/// Removes an object and returns it.
pub fn remove(rows: &mut dyn RowsMut, hash: &Hash) -> Result<Option<Object>, Error> {
    let object = get(rows, hash)?;
    if let Some(object) = &object {
        rows.remove(OBJECTS, &hash.0);
        if let ObjectLocation::Blob(blob) = &object.place {
            rows.remove(OBJECTS, &blob_key(&blob.hash));
        }
    }
    Ok(object)
}

/// Returns whether an object's bytes are in this blob.
pub fn is_blob_named(rows: &dyn Rows, blob: &[u8; 32]) -> Result<bool, Error> {
    Ok(rows.get(OBJECTS, &blob_key(blob))?.is_some())
}

/// Visits every row of an object or its blob, in an arbitrary order.
///
/// # Errors
/// [`Error`] when a row is damaged, or the error of `visit`.
pub fn walk(rows: &dyn Rows, visit: &mut dyn FnMut(Row) -> Result<(), Error>) -> Result<(), Error> {
    // Keys have at most 33 bytes, so all of them sort before this.
    let end = [u8::MAX; 34];
    rows.scan(OBJECTS, &[], &end, Direction::Forward, &mut |key, value| {
        if texts::position(key).is_some() {
            return Ok(ControlFlow::Continue(()));
        }
        let row = match (<[u8; 32]>::try_from(key), key.split_first()) {
            (Ok(object), _) => Some(Row::Object(Hash(object))),
            (Err(_), Some((b'b', blob))) => blob_row(blob, value),
            (Err(_), _) => None,
        };
        visit(row.ok_or_else(|| Error::corrupt(OBJECTS.name(), key, "not a row of this kind"))?)?;
        Ok(ControlFlow::Continue(()))
    })
}

fn blob_row(blob: &[u8], object: &[u8]) -> Option<Row> {
    Some(Row::Blob {
        blob: blob.try_into().ok()?,
        object: Hash(object.try_into().ok()?),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    fn objects() -> Vec<Object> {
        let blob = BlobRef::of(b"packed");
        [
            ObjectForm::Plain,
            ObjectForm::Whole,
            ObjectForm::Delta {
                base: Hash::of(b"base"),
            },
            ObjectForm::Edits {
                base: Hash::of(b"base"),
            },
        ]
        .into_iter()
        .flat_map(|form| {
            [
                ObjectLocation::Inline(b"packed".to_vec()),
                ObjectLocation::Blob(blob),
            ]
            .map(|place| Object {
                form,
                bytes: 7,
                place,
            })
        })
        .collect()
    }

    /// Every form in every place survives a round trip and is removed with its blob's row.
    #[test]
    fn objects_read_back_and_go() {
        let hash = Hash::of(b"content");
        for object in objects() {
            let mut rows = MemoryStore::new();
            put(&mut rows, &hash, &object);
            assert_eq!(get(&rows, &hash).unwrap().as_ref(), Some(&object));
            let is_blob = matches!(object.place, ObjectLocation::Blob(_));
            let mut walked = Vec::new();
            let mut note = |row| {
                walked.push(row);
                Ok(())
            };
            walk(&rows, &mut note).unwrap();
            let mut wanted = vec![Row::Object(hash)];
            wanted.extend(is_blob.then_some(Row::Blob {
                blob: BlobRef::of(b"packed").hash,
                object: hash,
            }));
            walked.sort_by_key(|row| wanted.iter().position(|wanted| wanted == row));
            assert_eq!(walked, wanted);
            let named = is_blob_named(&rows, &BlobRef::of(b"packed").hash).unwrap();
            assert_eq!(named, is_blob);
            assert_eq!(remove(&mut rows, &hash).unwrap(), Some(object));
            assert_eq!(rows.len(OBJECTS), 0);
        }
    }

    /// Truncated rows and rows of an unknown form are damage.
    #[test]
    fn what_is_no_object_is_damage() {
        let hash = Hash::of(b"content");
        for object in objects() {
            let row = object.encode();
            let least = match object.place {
                ObjectLocation::Inline(_) => row.len() - b"packed".len(),
                ObjectLocation::Blob(_) => row.len(),
            };
            for length in 0..least {
                assert!(Object::decode(row.get(..length).unwrap()).is_none());
            }
        }
        let mut rows = MemoryStore::new();
        rows.put(OBJECTS, &hash.0, &[9, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert!(get(&rows, &hash).is_err());
    }
}
