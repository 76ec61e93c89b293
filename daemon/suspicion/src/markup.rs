//! Markup that people do not see: comments, and elements that a style hides.

use std::ops::Range;

use memchr::memmem;

use crate::fold::Folded;
use crate::lexicon::LEXICON;
use crate::signals::Event;

/// Maximum number of hidden ranges of a window.
const RANGES_MAX: usize = 256;

/// Maximum number of bytes of a hidden range.
const RANGE_BYTES_MAX: usize = 2000;

/// Returns the hidden ranges of a folded window.
pub fn hidden(folded: &Folded, events: &[Event]) -> Vec<Range<usize>> {
    let hidden = LEXICON.hidden;
    let opened = events.iter().filter(|event| event.class == hidden);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for event in opened {
        if ranges.len() == RANGES_MAX {
            break;
        }
        let rest = folded.bytes.get(event.end..).unwrap_or_default();
        let rest = rest
            .get(..rest.len().min(RANGE_BYTES_MAX))
            .unwrap_or_default();
        let opening = folded.bytes.get(event.start..event.end).unwrap_or_default();
        let end: &[u8] = match opening {
            b"<!--" => b"-->",
            b"[//]: #" => b")",
            [.., b'='] | [.., b'=', b'"'] => b"\"",
            _ => b"</",
        };
        let length = memmem::find(rest, end).unwrap_or(rest.len());
        ranges.push(event.start..event.end + length);
    }
    ranges
}
