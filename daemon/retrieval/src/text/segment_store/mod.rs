//! The on-disk part of an index, managed by tantivy. It is written in atomic commits, each with its log position.

mod delete_query;
mod merging;
mod schema;
mod segment;
mod summed;
mod word_list;

use std::path::{Path, PathBuf};

use tantivy::index::{IndexMeta, SegmentId};
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument};
use xxhash_rust::xxh3::xxh3_64;

use self::delete_query::DeleteQuery;
pub use self::merging::Deletions;
use self::merging::Size;
use self::schema::Fields;
pub use self::segment::Segment;
use self::summed::SummedDirectory;
use super::analyser::ANALYSER;
use super::error::Error;
use super::memory_segment::MemorySegment;
use super::postings::{LivePart, PostingsPart, UnitMask};

/// Version of the on-disk format, apart from the terms.
const FORMAT: u32 = 2;

/// Memory of a writer, in bytes. Larger commits create several segments, which are merged at once.
///
/// tantivy's minimum, 15 MB, holds only a thousand texts of 1.6 KB, and merging them takes as long as writing them.
const WRITER_BYTES: usize = 50_000_000;

/// The on-disk segments of an index.
pub struct SegmentStore {
    index: Index,
    fields: Fields,
    folder: PathBuf,
    version: u32,
}

impl SegmentStore {
    /// Opens the folder, or creates it if it is missing or empty.
    ///
    /// # Errors
    /// [`Error::OtherVersion`] and [`Error::Damaged`]: the folder must be deleted.
    pub fn open(folder: &Path, version: u32) -> Result<Self, Error> {
        let (schema, fields) = schema::schema();
        let is_new = match std::fs::read_dir(folder) {
            Ok(mut found) => found.next().is_none(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
            Err(error) => return Err(error.into()),
        };
        let index = if is_new {
            std::fs::create_dir_all(folder)?;
            let files = SummedDirectory::open(folder)?;
            Index::create(files, schema.clone(), IndexSettings::default())?
        } else {
            let damaged = |error: tantivy::TantivyError| Error::Damaged(error.to_string());
            let files = SummedDirectory::open(folder).map_err(damaged)?;
            let index = Index::open(files.clone()).map_err(damaged)?;
            if !files.is_list_whole()? {
                let why = "its list of segments does not match its checksum";
                return Err(Error::Damaged(why.into()));
            }
            index
        };
        index
            .tokenizers()
            .register(word_list::NAME, word_list::Reader::default());
        let shelf = Self {
            index,
            fields,
            folder: folder.to_owned(),
            version,
        };
        if is_new {
            let empty = shelf.commit(&[], &[], 0)?;
            shelf.tidy(empty, Deletions::Many)?;
        }
        shelf.position()?;
        if shelf.index.schema() != schema {
            return Err(Error::Damaged(
                "its fields are not those of its version".into(),
            ));
        }
        Ok(shelf)
    }

    /// Reads every file and compares it with its checksum.
    ///
    /// # Errors
    /// [`Error::Damaged`] with the name of a damaged file.
    pub fn check_files(&self) -> Result<(), Error> {
        let damaged = self.index.validate_checksum();
        let damaged = damaged.map_err(|error| Error::Damaged(error.to_string()))?;
        match damaged.into_iter().next() {
            None => Ok(()),
            Some(file) => Err(Error::Damaged(format!(
                "{} does not match its checksum",
                file.display()
            ))),
        }
    }

    /// Returns the log position of the last commit.
    pub fn position(&self) -> Result<u64, Error> {
        let wanted = self.stamp();
        let metas = self.metas()?;
        let Some(payload) = metas.payload else {
            return Err(Error::Damaged("it was never finished".into()));
        };
        let Some((position, sum)) = position_in(&payload, &wanted) else {
            return Err(Error::OtherVersion {
                found: payload,
                wanted,
            });
        };
        let is_damaged = sum.is_some_and(|sum| sum != sum_of(&wanted, position));
        match position.parse() {
            Ok(position) if !is_damaged => Ok(position),
            Ok(_) | Err(_) => Err(Error::Damaged(format!("no position: {payload}"))),
        }
    }

    /// Returns the segments; segments that are already open are not opened again.
    pub fn segments(
        &self,
        open: impl Fn(&tantivy::Segment) -> bool,
    ) -> Result<OpenSegments, Error> {
        let mut opened = OpenSegments::default();
        for segment in self.index.searchable_segments()? {
            if open(&segment) {
                opened.kept.push(segment);
            } else {
                opened.new.push(Segment::open(&segment, &self.fields)?);
            }
        }
        Ok(opened)
    }

    /// Deletes units by key, adds the live units of in-memory segments, and commits with `position`, atomically.
    pub fn commit(
        &self,
        fresh: &[(&MemorySegment, &UnitMask)],
        to_delete: &[u64],
        position: u64,
    ) -> Result<IndexCommit, Error> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(WRITER_BYTES)
            .build();
        let mut writer: IndexWriter<TantivyDocument> = self.index.writer_with_options(options)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let living = || {
            fresh.iter().flat_map(|(part, gone)| {
                let numbers = 0..part.units();
                let there = numbers.filter(|at| !gone.has(*at));
                there.map(move |at| (*part, at))
            })
        };
        // A unit may exist already, if an earlier flush failed right after its commit.
        let written = living().map(|(part, at)| part.key(at));
        let to_delete = DeleteQuery::new(to_delete.iter().copied().chain(written));
        writer.delete_query(Box::new(to_delete))?;
        for (part, at) in living() {
            writer.add_document(self.fields.document(part, at))?;
        }
        let mut commit = writer.prepare_commit()?;
        let (stamp, position) = (self.stamp(), position.to_string());
        let sum = sum_of(&stamp, &position);
        commit.set_payload(&format!("{stamp} {position} {sum}"));
        commit.commit()?;
        Ok(IndexCommit { writer })
    }

    /// Merges segments as the policy requires and deletes unused files, after a commit.
    pub fn tidy(&self, committed: IndexCommit, deletions: Deletions) -> Result<(), Error> {
        let IndexCommit { mut writer } = committed;
        self.merge(&mut writer, deletions)?;
        writer.garbage_collect_files().wait()?;
        writer.wait_merging_threads()?;
        Ok(())
    }

    /// Returns the size of the files, in bytes.
    pub fn bytes(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        for file in std::fs::read_dir(&self.folder)? {
            match file?.metadata() {
                Ok(known) => bytes += known.len(),
                // A merge may have deleted the file meanwhile.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }

    fn merge(
        &self,
        writer: &mut IndexWriter<TantivyDocument>,
        deletions: Deletions,
    ) -> Result<(), Error> {
        loop {
            let segments = self.index.searchable_segment_metas()?;
            let sizes: Vec<Size> = segments
                .iter()
                .map(|segment| Size {
                    living: u64::from(segment.num_docs()),
                    deleted: u64::from(segment.num_deleted_docs()),
                })
                .collect();
            let next = merging::next(&sizes, deletions);
            let ids: Vec<SegmentId> = next
                .into_iter()
                .filter_map(|at| segments.get(at).map(|segment| segment.id()))
                .collect();
            if ids.is_empty() {
                return Ok(());
            }
            writer.merge(&ids).wait()?;
        }
    }

    fn metas(&self) -> Result<IndexMeta, Error> {
        let metas = self.index.load_metas();
        metas.map_err(|error| Error::Damaged(error.to_string()))
    }

    /// Returns the version stamp that the index must have.
    fn stamp(&self) -> String {
        format!("text {FORMAT}.{ANALYSER}.{}", self.version)
    }
}

/// Splits what a commit says of itself into the position and its checksum, which earlier releases did not write. `None`
/// for another version.
fn position_in<'p>(payload: &'p str, stamp: &str) -> Option<(&'p str, Option<&'p str>)> {
    let position = payload.strip_prefix(stamp)?.strip_prefix(' ')?;
    Some(match position.split_once(' ') {
        Some((position, sum)) => (position, Some(sum)),
        None => (position, None),
    })
}

/// The list of the segments has no checksum, and a wrong position would skip events.
fn sum_of(stamp: &str, position: &str) -> String {
    let sum = xxh3_64(format!("{stamp} {position}").as_bytes());
    format!("{sum:016x}")
}

/// A commit that is on disk but not tidied yet.
#[must_use = "it leaves more segments than there should be"]
pub struct IndexCommit {
    writer: IndexWriter<TantivyDocument>,
}

/// The segments of a commit.
#[derive(Default)]
pub struct OpenSegments {
    /// Segments that were already open.
    pub kept: Vec<tantivy::Segment>,
    /// Newly opened segments.
    pub new: Vec<LivePart<Segment>>,
}
