//! From a text to chunks: the pieces that are indexed, found and quoted.

mod ranges;
mod words;

#[cfg(test)]
mod tests;

use super::{ExtractedText, Kind, Section};
use ranges::{TextRange, pieces};
use std::ops::Range;

/// So many bytes are one word of the limit in bytes: more than prose needs, so that it counts only for
/// what is hardly made of words.
const BYTES_PER_WORD: usize = 16;

/// How long chunks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Words of a chunk, at most; at least 8 count.
    pub words: usize,
    /// Sentences that are told again at the beginning of the next chunk of the same section.
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
    /// Bytes of a chunk, at most.
    fn bytes(&self) -> usize {
        self.words.saturating_mul(BYTES_PER_WORD)
    }
}

/// A part of a document's text. Chunks are in order, hold all of the text that is not blank, and share
/// nothing but the sentences that are told again. A document that gives itself a title and says nothing
/// has one chunk without text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// From 0.
    pub number: usize,
    /// Where it is in the text, in bytes: its text is exactly that.
    pub range: Range<usize>,
    /// The headings above it; of a chunk over several sections, those that all of them share.
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
                    // Outer sections are better places to begin a chunk than inner ones.
                    piece.cost = u8::try_from(section.path.len()).unwrap_or(u8::MAX);
                }
                packer.push(piece);
            }
        }
    }
    packer.flush();
    // A title is found even if nothing stands below it.
    if packer.chunks.is_empty() && document.front_matter.title.is_some() {
        packer.chunks.push(Chunk {
            number: 0,
            range: 0..0,
            path: Vec::new(),
        });
    }
    packer.chunks
}

/// Data has many small sections, of a line or two; its chunks go over several of them.
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
    /// The pieces of the chunk that is open.
    open: Vec<TextRange>,
    /// What is told again before them: where it begins, and its words.
    reported: Option<(usize, usize)>,
    /// The words of all these.
    words: usize,
    chunks: Vec<Chunk>,
}

impl Packer<'_> {
    /// Chunks end with their section; headings alone go with what comes below them.
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

    /// Where the open chunk begins.
    fn start(&self) -> Option<usize> {
        let first = self.open.first().map(|first| first.range.start);
        self.reported.map(|(start, _)| start).or(first)
    }

    /// Ends the open chunk at the best place: the last of those that cost least, up to the piece that
    /// has no room in it.
    fn close_before(&mut self, next: &TextRange) {
        let costs = self.open.iter().chain([next]).map(|piece| piece.cost);
        let leads = self.open.iter().map(|piece| piece.is_heading);
        let places = costs.skip(1).zip(leads).enumerate();
        let best = places.min_by_key(|(at, (cost, after_heading))| {
            // Nothing is worse than a heading without what it is about.
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

    /// The last sentences of the open chunk, if they leave at least half of the next one's room.
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

    /// Ends the open chunk.
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

    /// The headings that sections share, from that of one place to that of another; or those of the
    /// last one, where the others are but headings that lead to it.
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
