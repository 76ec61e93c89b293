//! Proving the objects: whatever is in use is there and is what its hash says, and nothing is kept
//! without use.

use super::object_uses::{self, ObjectRow};
use super::values::Values;
use crate::cache::Cache;
use crate::log::Hash;
use crate::log::objects::{self, ObjectLocation, Row};
use crate::store::{Blobs, Error, Rows};

/// Values kept while checking, in bytes: many objects rest on the same one.
const CACHE_BYTES_MAX: usize = 32 << 20;

/// Something wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectFault {
    /// Which.
    pub object: Hash,
    /// What, as a sentence.
    pub what: String,
}

/// Looks at every object: one in use has to be there and unpack to its hash, as large as the view
/// says; one that is there has to be in use, and its blob has to be named. Each fault is told.
///
/// # Errors
/// [`Error`] when rows cannot be read, or what `tell` returned.
pub fn check_objects(
    rows: &dyn Rows,
    blobs: &Blobs,
    tell: &mut dyn FnMut(ObjectFault) -> Result<(), Error>,
) -> Result<(), Error> {
    // A cache of its own: what others have read before says nothing of the disk.
    let cache = Cache::new(CACHE_BYTES_MAX);
    let values = Values::new(rows, blobs, &cache);
    for (object, row) in object_uses::all(rows)? {
        let what = match values.get(&object) {
            Err(error) => Some(format!("is in use and cannot be read: {error}")),
            Ok(value) => differs(rows, &object, &row, value.len() as u64)?,
        };
        what.map_or(Ok(()), |what| tell(fault(object, &what)))?;
    }
    objects::walk(rows, &mut |row| match row {
        Row::Object(object) => match object_uses::object(rows, &object)? {
            Some(_) => Ok(()),
            None => tell(fault(object, "is kept without use")),
        },
        Row::Blob { blob, object } => match objects::get(rows, &object)?.map(|kept| kept.place) {
            Some(ObjectLocation::Blob(place)) if place.hash == blob => Ok(()),
            Some(_) | None => {
                let what = format!("is not in the blob {}, which a row says", Hash(blob));
                tell(fault(object, &what))
            }
        },
    })
}

/// Whether anything of an object is there: itself, or a use of it.
pub fn is_object_there(rows: &dyn Rows, object: &Hash) -> Result<bool, Error> {
    Ok(objects::is_kept(rows, object)? || object_uses::object(rows, object)?.is_some())
}

/// How a readable object is not what the view says of it.
fn differs(
    rows: &dyn Rows,
    object: &Hash,
    row: &ObjectRow,
    bytes: u64,
) -> Result<Option<String>, Error> {
    let Some(kept) = objects::get(rows, object)? else {
        return Ok(Some("is in use and missing".to_owned()));
    };
    if let ObjectLocation::Blob(blob) = &kept.place
        && !objects::is_blob_named(rows, &blob.hash)?
    {
        let what = format!("is in the blob {}, which no row names", Hash(blob.hash));
        return Ok(Some(what));
    }
    let (is, said) = (
        (bytes, kept.place.bytes(), kept.base()),
        (row.bytes, row.stored_bytes, row.base),
    );
    Ok((is != said).then(|| format!("is {is:?} (bytes, stored, base); its view says {said:?}")))
}

fn fault(object: Hash, what: &str) -> ObjectFault {
    ObjectFault {
        object,
        what: format!("the object {object} {what}"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::pack;
    use super::*;
    use crate::events::checkpoints::DeltaLink;
    use crate::log::objects::{Object, ObjectForm};
    use crate::log::{OBJECTS, Position};
    use crate::store::{MemoryStore, RowsMut};

    /// A keyframe in a blob, a delta against it, and the rows that say so.
    struct StoredDelta {
        rows: MemoryStore,
        blobs: Blobs,
        _folder: tempfile::TempDir,
        keyframe: Hash,
        delta: Hash,
        blob: [u8; 32],
    }

    fn stored_deltas() -> StoredDelta {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(folder.path()).unwrap();
        let mut rows = MemoryStore::new();
        let base = b"a value that is long enough to be packed".repeat(9);
        let value = [&base[..], b"more"].concat();
        let (keyframe, delta) = (Hash::of(&base), Hash::of(&value));
        let blob = blobs.put(&pack::pack(&base).unwrap()).unwrap().reference();
        let whole = Object {
            form: ObjectForm::Whole,
            bytes: base.len() as u64,
            place: ObjectLocation::Blob(blob),
        };
        let packed = pack::pack_against(&base, &value, 1000).unwrap();
        let against = Object {
            form: ObjectForm::Delta { base: keyframe },
            bytes: value.len() as u64,
            place: ObjectLocation::Inline(packed),
        };
        let link = |hash, object: &Object| DeltaLink::to(hash, object.bytes, object.place.bytes());
        let chain = [link(delta, &against), link(keyframe, &whole)];
        objects::put(&mut rows, &keyframe, &whole);
        objects::put(&mut rows, &delta, &against);
        object_uses::take(&mut rows, &chain, "s", Position(1)).unwrap();
        StoredDelta {
            rows,
            blobs,
            _folder: folder,
            keyframe,
            delta,
            blob: blob.hash,
        }
    }

    fn faults(kept: &StoredDelta) -> Vec<ObjectFault> {
        let mut faults = Vec::new();
        let mut tell = |fault| {
            faults.push(fault);
            Ok(())
        };
        check_objects(&kept.rows, &kept.blobs, &mut tell).unwrap();
        faults
    }

    fn finds(kept: &StoredDelta, object: Hash, what: &str) {
        let faults = faults(kept);
        let found = |fault: &ObjectFault| fault.object == object && fault.what.contains(what);
        assert!(faults.iter().any(found), "{what}: {faults:?}");
    }

    /// Objects in order have no faults.
    #[test]
    fn what_is_whole_has_no_faults() {
        assert_eq!(faults(&stored_deltas()), []);
    }

    /// An object in use that is not there is told, and so is the delta that needs it.
    #[test]
    fn a_missing_object_is_told() {
        let mut kept = stored_deltas();
        let keyframe = kept.keyframe;
        objects::remove(&mut kept.rows, &keyframe).unwrap();
        finds(&kept, kept.keyframe, "is missing");
        finds(&kept, kept.delta, "is missing");
        assert!(is_object_there(&kept.rows, &keyframe).unwrap(), "a use");
    }

    /// A blob that is gone or changed is told with its object.
    #[test]
    fn a_damaged_blob_is_told() {
        let kept = stored_deltas();
        assert!(kept.blobs.remove_unnamed(&kept.blob, || Ok(false)).unwrap());
        finds(&kept, kept.keyframe, "the file is missing");
    }

    /// Other bytes under the hash are told.
    #[test]
    fn a_changed_object_is_told() {
        let mut kept = stored_deltas();
        let other = Object {
            form: ObjectForm::Plain,
            bytes: 5,
            place: ObjectLocation::Inline(b"other".to_vec()),
        };
        objects::put(&mut kept.rows, &kept.delta, &other);
        finds(&kept, kept.delta, "not what its hash says");
    }

    /// Lengths that the view has otherwise are told: limits would count wrongly.
    #[test]
    fn a_wrong_length_is_told() {
        let mut kept = stored_deltas();
        object_uses::release(&mut kept.rows, &kept.delta, "s").unwrap();
        let keyframe = objects::get(&kept.rows, &kept.keyframe).unwrap().unwrap();
        let delta = objects::get(&kept.rows, &kept.delta).unwrap().unwrap();
        let chain = [
            DeltaLink::to(kept.delta, delta.bytes, 1),
            DeltaLink::to(kept.keyframe, keyframe.bytes, keyframe.place.bytes()),
        ];
        object_uses::take(&mut kept.rows, &chain, "s", Position(2)).unwrap();
        finds(&kept, kept.delta, "its view says");
    }

    /// What nothing uses and is kept all the same is told.
    #[test]
    fn an_unused_object_is_told() {
        let mut kept = stored_deltas();
        object_uses::release(&mut kept.rows, &kept.delta, "s").unwrap();
        finds(&kept, kept.delta, "without use");
        finds(&kept, kept.keyframe, "without use");
    }

    /// A blob whose row is missing would be swept; a row whose blob holds nothing keeps it for ever.
    #[test]
    fn blobs_and_their_rows_belong_together() {
        let mut kept = stored_deltas();
        let row = [&b"b"[..], &kept.blob].concat();
        kept.rows.remove(OBJECTS, &row);
        finds(&kept, kept.keyframe, "which no row names");
        kept.rows.put(OBJECTS, &row, &kept.delta.0);
        finds(&kept, kept.delta, "which a row says");
    }
}
