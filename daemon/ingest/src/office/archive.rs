//! Reads the parts of a zip archive (an office document) within limits, without trusting its declared sizes.

use crate::IngestError;
use crate::limits::Budget;
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};
use std::collections::BTreeMap;
use std::io::Read;

/// Inflated size up to which the compression ratio of a part is not limited, in bytes.
const RATIO_FREE_BYTES: usize = 1 << 20;
/// Bytes inflated between two checks of the limits.
const STEP_BYTES: usize = 64 << 10;
/// Limit on a part's name, in bytes. No part that is read has a longer name.
const NAME_MAX: usize = 512;

/// An open archive.
pub(super) struct Archive<'a> {
    zip: ZipSliceArchive<&'a [u8]>,
    parts: BTreeMap<String, (ZipArchiveEntryWayfinder, CompressionMethod)>,
    /// Bytes that may still be inflated from this archive.
    room: usize,
    budget: &'a Budget<'a>,
}

impl<'a> Archive<'a> {
    /// # Errors
    /// The bytes are not a zip archive, an entry is encrypted, or there are more entries than the limits allow.
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
            // The first of two entries with the same name wins, so that every reader of the archive sees the same part.
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

    /// Inflates a part; `None` if the archive has no part of this name.
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
            // The size that the archive declares is already too large.
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

    /// Inflates every part once to check it, for a reader that inflates the parts itself.
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
                // Doubling the capacity would hold the part in memory twice.
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
