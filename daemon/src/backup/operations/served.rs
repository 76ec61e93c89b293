//! Reads a served store over the daemon's socket.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use lore::connection::Connection;
use lore::protocol::log::{
    BackupArgs, BackupBlobArgs, BackupBlobReply, BackupObjectsArgs, BackupObjectsReply, BackupReply,
};
use lore::protocol::{Args, Code, Position};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::backup::page::{Page, Tag};
use crate::backup::source::{BESIDE, Rows};
use crate::backup::{Error, Source};
use crate::log::Hash;
use crate::store::{BlobRef, StoreId};

/// A connection to the daemon that serves the store.
pub struct DaemonSource(pub Connection);

impl DaemonSource {
    fn call<T: DeserializeOwned>(&mut self, name: &str, args: &impl Serialize) -> Result<T, Error> {
        let refused = |error: &dyn std::fmt::Display| Error::refused(format!("{name}: {error}"));
        let args = serde_json::to_vec(args).map_err(|error| refused(&error))?;
        let reply = self.0.call(name, &Args::Json(args));
        let reply = reply.map_err(|error| match error.to_body() {
            body if body.code == Code::Corrupt => Error::Corrupt(body.message),
            _ => refused(&error),
        })?;
        serde_json::from_slice(&reply.json).map_err(|error| refused(&error))
    }
}

fn bytes(text: &str) -> Result<Vec<u8>, Error> {
    let decoded = BASE64.decode(text);
    decoded.map_err(|error| Error::refused(format!("the daemon sent no Base64: {error}")))
}

fn hash(text: &str) -> Result<Hash, Error> {
    let parsed = text.parse();
    parsed.map_err(|what: String| Error::refused(format!("the daemon sent no hash: {what}")))
}

fn tag(text: &str) -> Option<Tag> {
    let number = u64::from_str_radix(text, 16).ok()?;
    Some(Tag(number.to_be_bytes()))
}

impl Source for DaemonSource {
    fn page(&mut self, after: Position) -> Result<Page, Error> {
        let args = BackupArgs {
            after: Some(after),
            ..BackupArgs::default()
        };
        let reply: BackupReply = self.call("backup", &args)?;
        let store = StoreId::parse(&reply.store)
            .ok_or_else(|| Error::refused("the daemon names no store"))?;
        let objects = reply.objects.iter().map(|named| {
            let tag = tag(&named.tag).ok_or_else(|| Error::refused("the daemon sent no tag"))?;
            Ok((hash(&named.object)?, tag))
        });
        let blobs = reply.blobs.iter().map(|named| {
            Ok(BlobRef {
                hash: hash(&named.blob)?.0,
                bytes: named.bytes,
            })
        });
        Ok(Page {
            store,
            link: reply.link.as_deref().map(hash).transpose()?,
            records: reply
                .records
                .iter()
                .map(|text| bytes(text))
                .collect::<Result<_, _>>()?,
            last: reply.last,
            objects: objects.collect::<Result<_, Error>>()?,
            objects_gone: reply.objects_gone,
            blobs: blobs.collect::<Result<_, Error>>()?,
            position: reply.position,
        })
    }

    fn objects(&mut self, wanted: &[Hash]) -> Result<(Rows, Position), Error> {
        let args = BackupObjectsArgs {
            objects: wanted.iter().map(Hash::to_string).collect(),
        };
        let reply: BackupObjectsReply = self.call("backup_objects", &args)?;
        let objects = reply.objects.iter();
        let objects = objects.map(|kept| Ok((hash(&kept.object)?, bytes(&kept.row)?)));
        Ok((objects.collect::<Result<_, Error>>()?, reply.position))
    }

    fn piece(&mut self, blob: &BlobRef, from: u64) -> Result<(Option<Vec<u8>>, Position), Error> {
        let args = BackupBlobArgs {
            blob: blob.hex(),
            bytes: blob.bytes,
            from: Some(from),
        };
        let reply: BackupBlobReply = self.call("backup_blob", &args)?;
        let piece = reply.content.as_deref().map(bytes).transpose()?;
        Ok((piece, reply.position))
    }

    fn data_files(&mut self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let args = BackupArgs {
            after: Some(Position(u64::MAX)),
            beside: Some(true),
            ..BackupArgs::default()
        };
        let reply: BackupReply = self.call("backup", &args)?;
        let ours = reply.beside.iter();
        let ours = ours.filter(|file| BESIDE.contains(&file.name.as_str()));
        ours.map(|file| Ok((file.name.clone(), bytes(&file.content)?)))
            .collect()
    }
}
