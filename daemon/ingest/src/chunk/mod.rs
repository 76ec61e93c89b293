//! Cuts a text into chunks: the pieces that are indexed, found and quoted.

mod ranges;
mod words;

#[cfg(test)]
mod tests;

use super::{ExtractedText, Kind, Section};
use ranges::{TextRange, pieces};
use std::ops::Range;

/// Factor from the word limit of a chunk to its byte limit. Prose needs fewer bytes per word, so the byte limit
/// applies only to text that hardly consists of words.
const BYTES_PER_WORD: usize = 16;

/// Size of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Limit on the words of a chunk; values below 8 count as 8.
    pub words: usize,
    /// Number of sentences repeated at the beginning of the next chunk of the same section.
    pub overlap: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            words: 180,
            overlap: 1,
        }
    }
}

impl Sizes {
    /// Returns the limit on a chunk's bytes.
    fn bytes(&self) -> usize {
        self.words.saturating_mul(BYTES_PER_WORD)
    }
}

/// A part of a document's text. Chunks are in order, cover all text except blank ranges, and share only repeated
/// sentences. A document with a title in its front matter but no text has one empty chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Number of the chunk, from 0.
    pub number: usize,
    /// Byte range of the chunk's text in the document's text.
    pub range: Range<usize>,
    /// The headings above the chunk; if it spans several sections, only their common ones.
    pub path: Vec<String>,
}

/// Cuts a document's text into chunks.
#[must_use]
pub fn chunks(document: &ExtractedText, sizes: &Sizes) -> Vec<Chunk> {
    let sizes = Sizes {
        words: sizes.words.max(8),
        ..*sizes
    };
    let mut packer = Packer {
        sizes,
        sections: &document.sections,
        across: is_packed_across(document.kind),
        open: Vec::new(),
        reported: None,
        words: 0,
        chunks: Vec::new(),
    };
    let mut blocks = document.blocks.iter().peekable();
    for section in &document.sections {
        packer.begin_section();
        let mut is_first = true;
        while let Some(block) = blocks.next_if(|block| block.range.start < section.range.end) {
            for mut piece in pieces(&document.text, &block, &sizes) {
                if packer.across && std::mem::take(&mut is_first) {
                    // It is better to begin a chunk at an outer section than at an inner one.
                    piece.cost = u8::try_from(section.path.len()).unwrap_or(u8::MAX);
                }
                packer.push(piece);
            }
        }
    }
    packer.flush();
    // The title must be found even without text.
    if packer.chunks.is_empty() && document.front_matter.title.is_some() {
        packer.chunks.push(Chunk {
            number: 0,
            range: 0..0,
            path: Vec::new(),
        });
    }
    packer.chunks
}

/// Whether chunks span sections: data has many small sections of a line or two.
fn is_packed_across(kind: Kind) -> bool {
    match kind {
        Kind::Json | Kind::Yaml | Kind::Toml => true,
        Kind::Markdown
        | Kind::Text
        | Kind::Rst
        | Kind::Html
        | Kind::Code
        | Kind::Csv
        | Kind::Docx
        | Kind::Pptx
        | Kind::Xlsx
        | Kind::Ods
        | Kind::Epub
        | Kind::Pdf => false,
    }
}

struct Packer<'d> {
    sizes: Sizes,
    sections: &'d [Section],
    across: bool,
    /// Pieces of the open chunk.
    open: Vec<TextRange>,
    /// The repeated sentences before them: their start and number of words.
    reported: Option<(usize, usize)>,
    /// Number of words in the open chunk, with repeated sentences.
    words: usize,
    chunks: Vec<Chunk>,
}

impl Packer<'_> {
    /// Begins a section. A chunk ends with its section, except that headings alone go with the text below them.
    fn begin_section(&mut self) {
        if !self.across && !self.open.iter().all(|piece| piece.is_heading) {
            self.flush();
        }
    }

    fn push(&mut self, piece: TextRange) {
        while !self.has_room(&piece) {
            if !self.open.is_empty() {
                self.close_before(&piece);
            } else if let Some((_, words)) = self.reported.take() {
                self.words -= words;
            } else {
                break;
            }
        }
        self.words += piece.words;
        self.open.push(piece);
    }

    fn has_room(&self, piece: &TextRange) -> bool {
        self.words + piece.words <= self.sizes.words
            && piece.range.end - self.start().unwrap_or(piece.range.start) <= self.sizes.bytes()
    }

    /// Returns the start of the open chunk.
    fn start(&self) -> Option<usize> {
        let first = self.open.first().map(|first| first.range.start);
        self.reported.map(|(start, _)| start).or(first)
    }

    /// Closes the open chunk at the best place up to `next`, which does not fit: the last place with the least cost.
    fn close_before(&mut self, next: &TextRange) {
        let costs = self.open.iter().chain([next]).map(|piece| piece.cost);
        let leads = self.open.iter().map(|piece| piece.is_heading);
        let places = costs.skip(1).zip(leads).enumerate();
        let best = places.min_by_key(|(at, (cost, after_heading))| {
            // The worst place is after a heading, which would lose its text.
            (*after_heading, *cost, std::cmp::Reverse(*at))
        });
        let end = best.map_or(self.open.len(), |(at, _)| at + 1);
        let rest = self.open.split_off(end);
        let reported = if rest.is_empty() {
            self.overlap(next)
        } else {
            None
        };
        self.flush();
        self.reported = reported;
        self.words = reported.map_or(0, |(_, words)| words);
        self.words += rest.iter().map(|piece| piece.words).sum::<usize>();
        self.open = rest;
    }

    /// Returns the last sentences of the open chunk, if they leave at least half of the next chunk's room.
    fn overlap(&self, next: &TextRange) -> Option<(usize, usize)> {
        if !next.is_sentence {
            return None;
        }
        let last = self.open.iter().rev().take(self.sizes.overlap);
        let mut reported = None;
        let mut words = 0;
        for piece in last.take_while(|piece| piece.is_sentence) {
            words += piece.words;
            let bytes = next.range.end - piece.range.start;
            if words > self.sizes.words / 2 || bytes > self.sizes.bytes() {
                break;
            }
            reported = Some((piece.range.start, words));
        }
        reported
    }

    /// Closes the open chunk.
    fn flush(&mut self) {
        if let (Some(start), Some(first), Some(last)) =
            (self.start(), self.open.first(), self.open.last())
        {
            let path = self.path(first.range.start, last.range.start);
            self.chunks.push(Chunk {
                number: self.chunks.len(),
                range: start..last.range.end,
                path,
            });
        }
        self.open.clear();
        self.reported = None;
        self.words = 0;
    }

    /// Returns the headings common to the sections from offset `first` to `last`. If chunks do not span sections, it
    /// returns the last section's headings, because the sections before it are only headings that lead to it.
    fn path(&self, first: usize, last: usize) -> Vec<String> {
        let of = |at: usize| {
            self.sections
                .partition_point(|section| section.range.end <= at)
        };
        let last = of(last);
        let first = if self.across { of(first) } else { last };
        let mut sections = self.sections.get(first..=last).unwrap_or_default().iter();
        let mut path = sections.next().map_or(&[][..], |section| &section.path[..]);
        for section in sections {
            let shared = path.iter().zip(&section.path).take_while(|(a, b)| a == b);
            path = path.get(..shared.count()).unwrap_or_default();
        }
        path.to_vec()
    }
}
