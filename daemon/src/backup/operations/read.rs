//! `backup`, `backup_objects`, `backup_blob`: the stored log, and the objects and blobs that its events name.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lore::protocol::Position;
use lore::protocol::log::{
    BackupArgs, BackupBlobArgs, BackupBlobReply, BackupObjectsArgs, BackupObjectsReply,
    BackupReply, DataFile, NamedBlob, NamedObject, StoredObject,
};

use crate::backup::page::{BackupSnapshot, OBJECTS_MAX, PAGE_BYTES, PAGE_BYTES_MAX, Page};
use crate::backup::source::data_files;
use crate::engine::PublishedState;
use crate::error::{Code, Refusal};
use crate::log::Hash;
use crate::operation::{Access, Call, Context, MemoryBound, Op, blocking};
use crate::store::{BlobRef, Error};

fn shelf<'s>(cx: &'s Context, published: &'s PublishedState) -> BackupSnapshot<'s> {
    BackupSnapshot {
        rows: &published.snapshot,
        blobs: &cx.blobs,
        fold: &*cx.fold,
        tail: published.tail,
        store: cx.engine.store_id(),
    }
}

fn hash(field: &str, text: &str) -> Result<Hash, Refusal> {
    text.parse()
        .map_err(|what: String| Refusal::invalid(format!("`{field}`: {what}")))
}

/// The `backup` operation.
pub struct Backup;

impl Op for Backup {
    type Args = BackupArgs;
    type Reply = BackupReply;
    const NAME: &'static str = "backup";
    const TITLE: &'static str = "Read the log for a backup";
    const DESCRIPTION: &'static str = "Returns the log's records in their stored bytes after a position, page by page, and names \
        the objects and blobs that their events need. `lored backup` writes them to a folder.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<BackupArgs>) -> Result<BackupReply, Refusal> {
        let Call { cx, args, .. } = call;
        let bytes_max = args.bytes_max.unwrap_or(PAGE_BYTES);
        if !(1..=PAGE_BYTES_MAX).contains(&bytes_max) {
            return Err(Refusal::invalid(format!(
                "`bytes_max` is {bytes_max}; a page ends after 1 to {PAGE_BYTES_MAX} bytes"
            )));
        }
        // Auxiliary files are read before the log, so that no cursor is ahead of it.
        let shared = Arc::clone(&cx);
        let is_asked = args.beside == Some(true);
        let files = blocking(move || match is_asked {
            true => data_files(&shared.folder.data)
                .map_err(|error| Refusal::new(Code::StorageUnavailable, error.to_string())),
            false => Ok(Vec::new()),
        })
        .await?;
        let published = cx.read(None).await?;
        let durable = cx.engine.is_durable();
        blocking(move || {
            let after = args.after.unwrap_or(Position(0));
            let page = shelf(&cx, &published).page(after, bytes_max)?;
            Ok(BackupReply {
                beside: files.into_iter().map(file).collect(),
                durable,
                ..reply(page)
            })
        })
        .await
    }
}

fn file((name, bytes): (String, Vec<u8>)) -> DataFile {
    DataFile {
        name,
        content: BASE64.encode(bytes),
    }
}

fn reply(page: Page) -> BackupReply {
    let encode = |record: Vec<u8>| BASE64.encode(record);
    let object = |(hash, tag): (Hash, crate::backup::page::Tag)| NamedObject {
        object: hash.to_string(),
        tag: tag.0.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let blob = |blob: BlobRef| NamedBlob {
        blob: blob.hex(),
        bytes: blob.bytes,
    };
    BackupReply {
        store: page.store.to_string(),
        link: page.link.map(|link| link.to_string()),
        records: page.records.into_iter().map(encode).collect(),
        last: page.last,
        objects: page.objects.into_iter().map(object).collect(),
        objects_gone: page.objects_gone,
        blobs: page.blobs.into_iter().map(blob).collect(),
        beside: Vec::new(),
        position: page.position,
        durable: true,
    }
}

/// The `backup_objects` operation.
pub struct BackupObjects;

impl Op for BackupObjects {
    type Args = BackupObjectsArgs;
    type Reply = BackupObjectsReply;
    const NAME: &'static str = "backup_objects";
    const TITLE: &'static str = "Read objects for a backup";
    const DESCRIPTION: &'static str =
        "Returns objects, the values of checkpoints, in their stored form. `backup` names them.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<BackupObjectsArgs>) -> Result<BackupObjectsReply, Refusal> {
        let Call { cx, args, .. } = call;
        if args.objects.len() > OBJECTS_MAX {
            return Err(Refusal::invalid(format!(
                "`objects` has {} items; at most {OBJECTS_MAX} are given at once",
                args.objects.len()
            )));
        }
        let published = cx.read(None).await?;
        let durable = cx.engine.is_durable();
        blocking(move || {
            let wanted = args.objects.iter().map(|text| hash("objects", text));
            let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
            let found = shelf(&cx, &published).objects(&wanted)?;
            let kept = |(hash, row): (Hash, Vec<u8>)| StoredObject {
                object: hash.to_string(),
                row: BASE64.encode(row),
            };
            Ok(BackupObjectsReply {
                objects: found.into_iter().map(kept).collect(),
                position: published.tail.position,
                durable,
            })
        })
        .await
    }
}

/// The `backup_blob` operation.
pub struct BackupBlob;

impl Op for BackupBlob {
    type Args = BackupBlobArgs;
    type Reply = BackupBlobReply;
    const NAME: &'static str = "backup_blob";
    const TITLE: &'static str = "Read a blob for a backup";
    const DESCRIPTION: &'static str =
        "Returns a part of a blob, a large text that events name. `backup` names it.";
    const ACCESS: Access = Access::Read;
    const MEMORY: MemoryBound = MemoryBound::Content;

    async fn call(call: Call<BackupBlobArgs>) -> Result<BackupBlobReply, Refusal> {
        let Call { cx, args, .. } = call;
        let blob = BlobRef {
            hash: hash("blob", &args.blob)?.0,
            bytes: args.bytes,
        };
        let from = args.from.unwrap_or(0);
        let published = cx.read(None).await?;
        let durable = cx.engine.is_durable();
        let first = {
            let (cx, published) = (Arc::clone(&cx), Arc::clone(&published));
            blocking(move || Ok(shelf(&cx, &published).piece(&blob, from))).await?
        };
        // The blob may have been deleted after that state was published; the newest state decides.
        let (piece, position) = match first {
            Err(Error::Corrupt { .. }) => {
                let published = cx.read(None).await?;
                let position = published.tail.position;
                let piece = blocking(move || Ok(shelf(&cx, &published).piece(&blob, from)?));
                (piece.await?, position)
            }
            first => (first?, published.tail.position),
        };
        Ok(BackupBlobReply {
            content: piece.map(|piece| BASE64.encode(piece)),
            position,
            durable,
        })
    }
}
