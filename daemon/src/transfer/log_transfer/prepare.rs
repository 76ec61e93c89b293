//! Prepares the lines of a part: all work that needs no decision is done, and no text is recorded unscanned.

use std::collections::HashMap;

use lored_suspicion::Origin;

use super::command::PreparedLine;
use super::read::GlobalEvent;
use crate::log::ImportOrigin;
use crate::store::{Blobs, Error};
use crate::trust;

/// A line with its number and origin.
pub type NumberedLine = (usize, ImportOrigin, GlobalEvent);

/// Prepares lines in order, and returns each with the length of its content in bytes. `salt` makes random bytes.
///
/// # Errors
/// When a long text cannot be stored.
pub fn prepare(
    lines: Vec<NumberedLine>,
    blobs: &Blobs,
    salt: impl Fn() -> [u8; 16],
) -> Result<Vec<(PreparedLine, u64)>, Error> {
    let suspects = suspects(&lines);
    let ready = lines.into_iter().zip(suspects).map(|(line, suspect)| {
        let bytes = line.2.content_bytes();
        Ok((PreparedLine::of(line, suspect, blobs, salt())?, bytes))
    });
    ready.collect()
}

/// Returns what makes the text of each line suspicious. A document has what is found in all of its parts that come with it:
/// parts of a later call are scanned when they are given to a model.
fn suspects(lines: &[NumberedLine]) -> Vec<Vec<String>> {
    let mut further: HashMap<(&str, &str), String> = HashMap::new();
    for (_, _, event) in lines {
        if let GlobalEvent::Part(part) = event {
            let text = further.entry((&part.source, &part.name)).or_default();
            text.push_str(&part.part.text);
        }
    }
    let suspects = lines.iter().map(|(_, _, event)| match event {
        GlobalEvent::Version(version) => {
            let content = version.content.as_deref();
            trust::suspicions(content.map(|content| (content, Origin::Document)))
        }
        GlobalEvent::Document(document) => {
            let further = further.get(&(&*document.source, &*document.name));
            let first = &*document.part.text;
            match further {
                // An order may begin in one part and end in the next.
                Some(further) => {
                    trust::suspicions([(&*format!("{first}{further}"), Origin::Document)])
                }
                None => trust::suspicions([(first, Origin::Document)]),
            }
        }
        GlobalEvent::Project(_) | GlobalEvent::Source(_) | GlobalEvent::Part(_) => Vec::new(),
    });
    suspects.collect()
}
