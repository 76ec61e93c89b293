//! Converts a document's text to events: parts of a bounded size, each with its chunks, long ones as blobs.

use std::ops::Range;

use lored_ingest::Chunk;
use lored_suspicion::Origin;
use serde_bytes::ByteArray;

use super::command::{AddPart, IngestDocument};
use super::sources::PreparedDocument;
use crate::error::Refusal;
use crate::events::documents::{DocumentIngested, PartAdded, TextPart};
use crate::log::{Body, codec};
use crate::operation::Context;
use crate::steps::Text;
use crate::store::PendingBlob;
use crate::trust;

/// Approximate size of a part's text, in bytes. A part is read whole to quote one chunk, so for each search
/// result.
const PART_BYTES: usize = 16 * 1024;

impl PreparedDocument {
    /// Builds the command that records the document; `moved` is the document that moved to this path, if any. Writes
    /// long parts to disk, so it must run off the event loop.
    pub fn into_command(
        mut self,
        cx: &Context,
        source: &str,
        moved: Option<String>,
    ) -> Result<IngestDocument, Refusal> {
        let ranges = parts(&self.chunks);
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.meta.chunks = number(self.chunks.len());
        self.meta.parts = number(ranges.len());
        self.meta.text_bytes = self.text.len() as u64;
        self.meta.suspect = trust::suspicions([(&*self.text, Origin::Document)]);
        let mut pending: Vec<PendingBlob> = Vec::new();
        let mut first = None;
        let mut further = Vec::new();
        for chunks in ranges {
            let before = pending.len();
            let part = part(cx, &self.text, &self.chunks, chunks.clone(), &mut pending)?;
            let blobs = pending.iter().skip(before);
            let blobs: Vec<ByteArray<32>> =
                blobs.map(|blob| blob.reference().hash.into()).collect();
            let salt = cx.engine.clock().random();
            if first.is_none() {
                self.meta.blobs = blobs;
                let warnings = self.warnings.iter().map(ToString::to_string).collect();
                let body = DocumentIngested { part, warnings };
                first = Some(Body::new(codec::encode(&body), salt));
            } else {
                further.push(AddPart {
                    first_chunk: number(chunks.start),
                    blobs,
                    body: Body::new(codec::encode(&PartAdded { part }), salt),
                });
            }
        }
        Ok(IngestDocument {
            source: source.to_owned(),
            taken: self.meta,
            contexts: self.contexts,
            moved,
            body: first,
            further,
            salt: cx.engine.clock().random(),
            _pending: pending,
        })
    }
}

/// Groups the chunks into at least one part.
fn parts(chunks: &[Chunk]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut begin = 0;
    for (number, chunk) in chunks.iter().enumerate() {
        let start = chunks.get(begin).map_or(0, |first| first.range.start);
        if number > begin && chunk.range.end.saturating_sub(start) > PART_BYTES {
            parts.push(begin..number);
            begin = number;
        }
    }
    parts.push(begin..chunks.len());
    parts
}

fn part(
    cx: &Context,
    text: &str,
    all: &[Chunk],
    numbers: Range<usize>,
    pending: &mut Vec<PendingBlob>,
) -> Result<TextPart, Refusal> {
    let chunks = all.get(numbers.clone()).unwrap_or_default();
    let start = match numbers.start {
        0 => 0,
        _ => chunks.first().map_or(0, |chunk| chunk.range.start),
    };
    // Text between two parts belongs to the first part, so that the parts cover the whole text.
    let own = chunks.last().map_or(text.len(), |chunk| chunk.range.end);
    let end = match all.get(numbers.end) {
        Some(next) => own.max(next.range.start),
        None => text.len(),
    };
    let mut headings: Vec<Vec<String>> = Vec::new();
    let within = |at: usize| u32::try_from(at.saturating_sub(start)).unwrap_or(u32::MAX);
    let mut rows = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        // Chunks under the same headings are consecutive.
        if headings.last() != Some(&chunk.path) {
            headings.push(chunk.path.clone());
        }
        let of = u32::try_from(headings.len().saturating_sub(1)).unwrap_or(u32::MAX);
        rows.push((within(chunk.range.start), within(chunk.range.end), of));
    }
    let text = text.get(start..end).unwrap_or_default().to_owned();
    Ok(TextPart {
        start: start as u64,
        text: Text::keep(&cx.blobs, text, pending)?,
        headings,
        chunks: rows,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use lore::paths::Paths;

    use super::*;
    use crate::config::Config;
    use crate::daemon::Daemon;

    /// The size of a command includes its content: parts are short, so a long text is held inline.
    #[tokio::test]
    async fn a_long_text_is_counted() {
        const BYTES: usize = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let places = Paths {
            config: folder.path().join("lored.toml"),
            data: folder.path().join("data"),
            state: folder.path().join("state"),
            socket: folder.path().join("run/own.sock"),
        };
        let daemon = Daemon::open(&Config::new(), &places).unwrap();
        let chunks: Vec<Chunk> = (0..BYTES / 1024)
            .map(|n| chunk(n, n * 1024..(n + 1) * 1024))
            .collect();
        let document = PreparedDocument {
            text: "x".repeat(BYTES),
            chunks,
            ..PreparedDocument::default()
        };
        let cx = daemon.context().unwrap();
        let command = document.into_command(cx, "source-1", None).unwrap();
        let bytes = command.bytes();
        assert!((BYTES..BYTES + BYTES / 8).contains(&bytes), "{bytes}");
    }

    fn chunk(number: usize, range: Range<usize>) -> Chunk {
        Chunk {
            number,
            range,
            path: Vec::new(),
        }
    }

    /// Parts contain every chunk once and in order. A part exceeds the limit only if it is a single chunk.
    #[test]
    fn parts_are_bounded() {
        assert_eq!(parts(&[]).len(), 1);
        assert!(parts(&[])[0].is_empty());
        let chunks: Vec<Chunk> = (0..1000)
            .map(|n| chunk(n, n * 900..n * 900 + 1000))
            .collect();
        let found = parts(&chunks);
        assert!(found.len() > 5);
        assert_eq!(found[0].start, 0);
        assert_eq!(found.last().unwrap().end, 1000);
        for pair in found.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
        }
        for part in found {
            let bytes = chunks[part.end - 1].range.end - chunks[part.start].range.start;
            assert!(bytes <= PART_BYTES, "{bytes}");
        }
        let long = [
            chunk(0, 0..PART_BYTES * 2),
            chunk(1, PART_BYTES * 2..PART_BYTES * 2 + 5),
        ];
        assert_eq!(parts(&long), [0..1, 1..2]);
    }
}
