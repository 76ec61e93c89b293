//! The parts of an office document: a zip archive, read within limits whatever it claims.

use crate::IngestError;
use crate::limits::Budget;
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};
use std::collections::BTreeMap;
use std::io::Read;

/// A part may inflate to this many bytes whatever its ratio.
const RATIO_FREE_BYTES: usize = 1 << 20;
/// What is read at once.
const STEP_BYTES: usize = 64 << 10;
/// Names longer than this are of no part that is read.
const NAME_MAX: usize = 512;

/// An open archive.
pub(super) struct Archive<'a> {
    zip: ZipSliceArchive<&'a [u8]>,
    parts: BTreeMap<String, (ZipArchiveEntryWayfinder, CompressionMethod)>,
    /// What may still be inflated.
    room: usize,
    budget: &'a Budget<'a>,
}

impl<'a> Archive<'a> {
    /// # Errors
    /// It is no archive, or has more entries than the limits allow.
    pub fn open(bytes: &'a [u8], budget: &'a Budget<'a>) -> Result<Self, IngestError> {
        let zip = ZipArchive::from_slice(bytes).map_err(|error| broken(&error.to_string()))?;
        let mut parts = BTreeMap::new();
        let most = budget.limits.parts;
        let mut entries = zip.entries();
        let mut count = 0;
        while let Some(entry) = entries
            .next_entry()
            .map_err(|error| broken(&error.to_string()))?
        {
            count += 1;
            if count > most {
                return Err(IngestError::TooManyParts { most });
            }
            let name = entry.file_path().as_bytes().to_vec();
            let Ok(name) = String::from_utf8(name) else {
                continue;
            };
            if name.len() > NAME_MAX {
                continue;
            }
            if entry.flags().is_encrypted() {
                return Err(IngestError::Encrypted {
                    what: "archive".into(),
                });
            }
            let part = (entry.wayfinder(), entry.compression_method());
            // Of two with one name the first counts, for every reader here alike.
            parts.entry(name).or_insert(part);
        }
        Ok(Self {
            zip,
            parts,
            room: budget.limits.parts_bytes,
            budget,
        })
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }

    /// A part inflated; none if there is no such part.
    ///
    /// # Errors
    /// The part is broken, or inflates beyond the limits.
    pub fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, IngestError> {
        let Some((wayfinder, method)) = self.parts.get(name).copied() else {
            return Ok(None);
        };
        let fault = |why: String| IngestError::Broken {
            what: "archive".into(),
            why: format!("{name}: {why}"),
        };
        let entry = self
            .zip
            .get_entry(wayfinder)
            .map_err(|error| fault(error.to_string()))?;
        let data = entry.data();
        let by_ratio = data.len().saturating_mul(self.budget.limits.ratio);
        let most = by_ratio
            .max(RATIO_FREE_BYTES)
            .min(self.budget.limits.part_bytes)
            .min(self.room);
        if wayfinder.uncompressed_size_hint() > most as u64 {
            // By its own account.
            return Err(inflates(name, most));
        }
        let bytes = match method {
            CompressionMethod::STORE => self.bounded(entry.verifying_reader(data), name, most),
            CompressionMethod::DEFLATE => self.bounded(
                entry.verifying_reader(DeflateDecoder::new(data)),
                name,
                most,
            ),
            _ => Err(fault("its compression is not known".to_owned())),
        }?;
        self.room -= bytes.len();
        Ok(Some(bytes))
    }

    /// Inflates every part once, for a reader that inflates them itself.
    ///
    /// # Errors
    /// A part is broken, or inflates beyond the limits.
    pub fn check(&mut self) -> Result<(), IngestError> {
        let names: Vec<String> = self.parts.keys().cloned().collect();
        names.iter().try_for_each(|name| self.read(name).map(drop))
    }

    fn bounded(
        &self,
        mut from: impl Read,
        name: &str,
        most: usize,
    ) -> Result<Vec<u8>, IngestError> {
        let mut bytes = Vec::new();
        loop {
            self.budget.check()?;
            let before: usize = bytes.len();
            if bytes.capacity() - before < STEP_BYTES {
                // Not to be held twice when it grows.
                bytes.reserve_exact(STEP_BYTES.max(before / 4));
            }
            let step = (&mut from).take(STEP_BYTES as u64).read_to_end(&mut bytes);
            step.map_err(|error| IngestError::Broken {
                what: "archive".into(),
                why: format!("{name}: {error}"),
            })?;
            if bytes.len() > most {
                return Err(inflates(name, most));
            }
            if bytes.len() == before {
                return Ok(bytes);
            }
        }
    }
}

fn inflates(name: &str, most: usize) -> IngestError {
    IngestError::Inflates {
        part: name.to_owned(),
        most,
    }
}

fn broken(why: &str) -> IngestError {
    IngestError::Broken {
        what: "archive".into(),
        why: why.to_owned(),
    }
}
