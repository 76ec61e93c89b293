//! Reads the XML of office documents as a stream of elements and texts. Only XML's five predefined entities are
//! known, document types are refused, and nesting is bounded.

use crate::IngestError;
use crate::limits::Budget;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// XML events between two checks of the time limit.
const EVENTS_PER_CHECK: usize = 10_000;

/// A piece of a part, in document order.
pub(super) enum Node<'n> {
    /// The start of an element.
    Start(Element<'n>),
    /// The end of an element, also of an empty one.
    End(&'n str),
    /// Text between tags. Entities split it into several pieces.
    Text(&'n str),
}

/// The start tag of an element.
pub(super) struct Element<'n> {
    start: &'n BytesStart<'n>,
}

impl Element<'_> {
    /// Returns the element's name without its namespace prefix.
    pub fn name(&self) -> &str {
        local(self.start.name().into_inner())
    }

    /// Returns the value of the first attribute with this name; prefixes are ignored.
    pub fn attribute(&self, name: &str) -> Option<String> {
        self.attributes(name).into_iter().next()
    }

    /// Returns the values of all attributes with this name; prefixes are ignored.
    pub fn attributes(&self, name: &str) -> Vec<String> {
        let mut all = self.start.attributes();
        let named = all
            .with_checks(false)
            .flatten()
            .filter(|attribute| local(attribute.key.into_inner()) == name);
        named.map(|attribute| plain(&attribute.value)).collect()
    }
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// Reads a part and passes each node to `tell`. The limits bound the nesting depth.
pub(super) fn walk(
    bytes: Vec<u8>,
    what: &'static str,
    budget: &Budget<'_>,
    mut tell: impl FnMut(Node<'_>) -> Result<(), IngestError>,
) -> Result<(), IngestError> {
    let broken = |why: String| IngestError::Broken {
        what: what.into(),
        why,
    };
    let Some(decoded) = crate::decode::decode(bytes.into()) else {
        return Err(broken("a part of it is not text".to_owned()));
    };
    let mut reader = Reader::from_str(&decoded.text);
    let most = budget.limits.depth;
    let mut depth = 0usize;
    for count in 1usize.. {
        if count.is_multiple_of(EVENTS_PER_CHECK) {
            budget.check()?;
        }
        match reader
            .read_event()
            .map_err(|error| broken(error.to_string()))?
        {
            Event::Start(start) => {
                depth += 1;
                if depth > most {
                    return Err(IngestError::TooDeep {
                        what: what.into(),
                        most,
                    });
                }
                tell(Node::Start(Element { start: &start }))?;
            }
            Event::Empty(start) => {
                tell(Node::Start(Element { start: &start }))?;
                tell(Node::End(local(start.name().into_inner())))?;
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                tell(Node::End(local(end.name().into_inner())))?;
            }
            Event::Text(text) => tell(Node::Text(&text.into_inner()))?,
            Event::CData(text) => tell(Node::Text(&text.into_inner()))?,
            Event::GeneralRef(reference) => {
                let name = reference.into_inner();
                if let Some(character) = character(&name) {
                    let mut buffer = [0; 4];
                    tell(Node::Text(character.encode_utf8(&mut buffer)))?;
                }
            }
            Event::DocType(_) => {
                return Err(broken(
                    "it has a document type, which is not read".to_owned(),
                ));
            }
            Event::Eof => break,
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) => {}
        }
    }
    Ok(())
}

fn plain(value: &str) -> String {
    let unescaped = quick_xml::escape::unescape(value);
    unescaped.map_or_else(|_| value.to_owned(), Cow::into_owned)
}

/// Returns the character of `&name;`: XML's five predefined entities and numeric references, nothing else.
fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| *c != '\0')
        }
    }
}
