//! Verification of objects: each object in use exists and matches its hash, and no object is unused.

use super::object_uses::{self, ObjectRow};
use super::values::Values;
use crate::cache::Cache;
use crate::log::Hash;
use crate::log::objects::{self, ObjectLocation, Row};
use crate::store::{Blobs, Error, Rows};

/// Size of the cache of values, in bytes: many objects have the same base.
const CACHE_BYTES_MAX: usize = 32 << 20;

/// A fault of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectFault {
    /// Hash of the object.
    pub object: Hash,
    /// Description, as a sentence.
    pub what: String,
}

/// Checks every object and reports each fault to `report`. An object in use must exist, and match its hash and the sizes
/// in the view. An existing object must be in use, and its blob must be named.
pub fn check_objects(
    rows: &dyn Rows,
    blobs: &Blobs,
    report: &mut dyn FnMut(ObjectFault) -> Result<(), Error>,
) -> Result<(), Error> {
    // A separate cache: values that are already cached may differ from the disk.
    let cache = Cache::new(CACHE_BYTES_MAX);
    let values = Values::new(rows, blobs, &cache);
    for (object, row) in object_uses::all(rows)? {
        let what = match values.get(&object) {
            Err(error) => Some(format!("is in use and cannot be read: {error}")),
            Ok(value) => differs(rows, &object, &row, value.len() as u64)?,
        };
        what.map_or(Ok(()), |what| report(fault(object, &what)))?;
    }
    objects::walk(rows, &mut |row| match row {
        Row::Object(object) => match object_uses::object(rows, &object)? {
            Some(_) => Ok(()),
            None => report(fault(object, "is kept without use")),
        },
        Row::Blob { blob, object } => match objects::get(rows, &object)?.map(|kept| kept.place) {
            Some(ObjectLocation::Blob(place)) if place.hash == blob => Ok(()),
            Some(_) | None => {
                let what = format!("is not in the blob {}, which a row says", Hash(blob));
                report(fault(object, &what))
            }
        },
    })
}

/// Returns whether an object exists or is in use.
pub fn is_object_there(rows: &dyn Rows, object: &Hash) -> Result<bool, Error> {
    Ok(objects::is_kept(rows, object)? || object_uses::object(rows, object)?.is_some())
}

/// Describes how a readable object differs from the view.
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

    /// A keyframe in a blob, a delta against it, and their rows.
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
        let mut report = |fault| {
            faults.push(fault);
            Ok(())
        };
        check_objects(&kept.rows, &kept.blobs, &mut report).unwrap();
        faults
    }

    /// Damages stored objects, and expects faults of the keyframe and the delta with these descriptions.
    fn finds(damage: impl Fn(&mut StoredDelta), keyframe: Option<&str>, delta: Option<&str>) {
        let mut kept = stored_deltas();
        damage(&mut kept);
        let faults = faults(&kept);
        for (object, what) in [(kept.keyframe, keyframe), (kept.delta, delta)] {
            let Some(what) = what else { continue };
            let found = |fault: &ObjectFault| fault.object == object && fault.what.contains(what);
            assert!(faults.iter().any(found), "{what}: {faults:?}");
        }
    }

    #[test]
    fn intact_objects_have_no_faults() {
        assert_eq!(faults(&stored_deltas()), []);
    }

    /// A missing keyframe is reported with the delta that needs it; its use still counts as the object.
    #[test]
    fn missing_objects_are_reported() {
        let missing = Some("is missing");
        let remove = |kept: &mut StoredDelta| {
            objects::remove(&mut kept.rows, &kept.keyframe).unwrap();
            assert!(is_object_there(&kept.rows, &kept.keyframe).unwrap());
        };
        finds(remove, missing, missing);
        let remove_blob = |kept: &mut StoredDelta| {
            assert!(kept.blobs.remove_unnamed(&kept.blob, || Ok(false)).unwrap());
        };
        finds(remove_blob, Some("the file is missing"), None);
    }

    /// Other bytes under the hash, and sizes that differ from the view's, which would make limits count wrongly.
    #[test]
    fn changed_objects_are_reported() {
        let change = |kept: &mut StoredDelta| {
            let other = Object {
                form: ObjectForm::Plain,
                bytes: 5,
                place: ObjectLocation::Inline(b"other".to_vec()),
            };
            objects::put(&mut kept.rows, &kept.delta, &other);
        };
        finds(change, None, Some("not what its hash says"));
        let resize = |kept: &mut StoredDelta| {
            object_uses::release(&mut kept.rows, &kept.delta, "s").unwrap();
            let object = |hash| objects::get(&kept.rows, hash).unwrap().unwrap();
            let (keyframe, delta) = (object(&kept.keyframe), object(&kept.delta));
            let chain = [
                DeltaLink::to(kept.delta, delta.bytes, 1),
                DeltaLink::to(kept.keyframe, keyframe.bytes, keyframe.place.bytes()),
            ];
            object_uses::take(&mut kept.rows, &chain, "s", Position(2)).unwrap();
        };
        finds(resize, None, Some("its view says"));
    }

    #[test]
    fn unused_objects_are_reported() {
        let release = |kept: &mut StoredDelta| {
            object_uses::release(&mut kept.rows, &kept.delta, "s").unwrap();
        };
        finds(release, Some("without use"), Some("without use"));
    }

    /// A blob without a row would be swept; a row of a blob without an object would keep it for ever.
    #[test]
    fn blobs_and_their_rows_belong_together() {
        let row = |kept: &StoredDelta| [&b"b"[..], &kept.blob].concat();
        let remove = |kept: &mut StoredDelta| kept.rows.remove(OBJECTS, &row(kept));
        finds(remove, Some("which no row names"), None);
        let put = |kept: &mut StoredDelta| kept.rows.put(OBJECTS, &row(kept), &kept.delta.0);
        finds(put, None, Some("which a row says"));
    }
}
