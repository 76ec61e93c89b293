//! What stands in a result: ids, dates, numbers, JSON, addresses, and what registered extractors look for.
//!
//! Extraction reads the flat text of a result and its fields, each once, in linear time. It depends on nothing but
//! the result and the set, so computing it again gives the same values, in the same order, byte for byte.

mod date;
mod email;
mod id;
mod json;
mod number;
mod set;
mod span;
mod url;

pub use set::{
    BUILT_IN, COMPILED_BYTES_MAX, Extractor, ExtractorSet, FieldMapping, Invalid, MAPPINGS,
    NAME_BYTES_MAX, PATTERN_BYTES_MAX, Type, WORDS_MAX,
};

use super::parse::{self, Kind, Node, NodeId, Nodes, Parsed, Span};
use super::words;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use span::{Finds, Taken};
use std::collections::HashSet;

/// How much of a result is searched, in bytes of its flat text.
pub const MINED_BYTES_MAX: usize = 4 << 20;

/// A string of at least this many bytes, all of them base64, is a file and not searched.
const FILE_BYTES_MIN: usize = 256;

/// What was found in one result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// The types in their order, each with its values.
    pub types: Vec<Found>,
    /// Set when the result is so large that only this many bytes of it were searched.
    pub searched_bytes: Option<u64>,
}

/// The values of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The type's name.
    pub name: String,
    /// Its values, each once, in their order.
    pub values: Vec<Extract>,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extract {
    /// The byte of the raw result where it begins.
    pub offset: u32,
    /// What it is.
    pub form: Form,
}

/// A value's form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Form {
    /// A text.
    Text(String),
    /// A number, by its digits.
    Number(String),
    /// An object or array: a value of the parsed result, by its number there.
    Json(NodeId),
}

impl Extract {
    /// The value as JSON; `parsed` is the result it was found in.
    #[must_use]
    pub fn value(&self, parsed: &Parsed) -> Value {
        match &self.form {
            Form::Text(text) => Value::String(text.clone()),
            Form::Number(digits) => parse::number(digits),
            Form::Json(node) => parsed.nodes().value(*node),
        }
    }
}

impl Extracted {
    /// The values of the type of this name, in its own spelling.
    #[must_use]
    pub fn of(&self, name: &str) -> &[Extract] {
        let found = self.types.iter().find(|found| found.name == name);
        found.map_or(&[], |found| found.values.as_slice())
    }
}

/// Searches a result.
#[must_use]
pub fn extract(parsed: &Parsed, set: &ExtractorSet) -> Extracted {
    let (spans, searched_bytes) = mined(parsed);
    let mut search = Search::new(parsed, spans);
    let types = set.types().map(|(name, of)| Found {
        name: name.to_owned(),
        values: search.values(set, of),
    });
    Extracted {
        types: types.collect(),
        searched_bytes,
    }
}

/// The first value of a type within one text, and whether it is all of the text, trailing punctuation aside.
#[must_use]
pub fn find_in(set: &ExtractorSet, of: Type, text: &str) -> Option<(Form, bool)> {
    let range = match of {
        Type::Id => Forms::of(text).first_id(),
        Type::Date => date::find(text).into_iter().next(),
        Type::Number => Forms::of(text).numbers.into_iter().next(),
        Type::Json => return None,
        Type::Url => url::find(text).into_iter().next(),
        Type::Email => email::find(text, &url::find(text)).into_iter().next(),
        Type::Custom(at) => set
            .custom
            .get(at)
            .and_then(|custom| custom_finds(custom, text).into_iter().next()),
    }?;
    let found = text.get(range.clone())?;
    let before = text.get(..range.start)?.trim();
    let after = text.get(range.end..)?;
    let is_whole = before
        .trim_start_matches(['#', '<', '"', '\'', '('])
        .is_empty()
        && after
            .chars()
            .all(|c| c.is_whitespace() || c.is_ascii_punctuation());
    let form = match of {
        Type::Number => Form::Number(number::digits_of(found)),
        Type::Id | Type::Date | Type::Json | Type::Url | Type::Email | Type::Custom(_) => {
            Form::Text(found.to_owned())
        }
    };
    Some((form, is_whole))
}

/// The parts of the flat text to search: all documents up to the limit, without files in base64.
fn mined(parsed: &Parsed) -> (Vec<Span>, Option<u64>) {
    let nodes = parsed.nodes();
    let text = nodes.flat().text();
    let mut files: Vec<Span> = nodes
        .iter()
        .filter(|(_, node)| is_file(nodes, node))
        .map(|(_, node)| node.text)
        .collect();
    files.sort_unstable_by_key(|span| span.start);
    let mut spans = Vec::new();
    let mut left = MINED_BYTES_MAX;
    for document in parsed.documents() {
        let Span { mut start, end } = document.mined;
        let inside = files
            .iter()
            .filter(|file| file.start >= document.mined.start && file.end <= end);
        for piece_end in inside.clone().map(|file| file.start).chain([end]) {
            let cut = words::floor_boundary(text, (start as usize).saturating_add(left)) as u32;
            if piece_end > cut {
                spans.push(Span { start, end: cut });
                return (spans, Some(MINED_BYTES_MAX as u64));
            }
            if piece_end > start {
                spans.push(Span {
                    start,
                    end: piece_end,
                });
                left -= (piece_end - start) as usize;
            }
            let file = inside.clone().find(|file| file.start == piece_end);
            start = file.map_or(piece_end, |file| file.end.max(start));
        }
    }
    (spans, None)
}

fn is_file(nodes: &Nodes, node: &Node) -> bool {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-\n".contains(byte);
    node.kind == Kind::String
        && node.text.len() >= FILE_BYTES_MIN
        && nodes.text(node).as_bytes().iter().all(is_base64)
}

/// What the finders found in one piece of text.
struct Forms {
    uuids: Finds,
    references: Finds,
    runs: Finds,
    dates: Finds,
    numbers: Finds,
    urls: Finds,
    emails: Finds,
}

impl Forms {
    fn of(text: &str) -> Forms {
        let urls = url::find(text);
        let emails = email::find(text, &urls);
        let dates = date::find(text);
        let uuids = Taken::of(&[&urls, &emails]).rest_of(id::uuids(text));
        let taken = Taken::of(&[&urls, &emails, &dates, &uuids]);
        Forms {
            references: taken.rest_of(id::references(text)),
            runs: taken.rest_of(id::runs(text)),
            numbers: taken.rest_of(number::find(text)),
            uuids,
            dates,
            urls,
            emails,
        }
    }

    fn first_id(mut self) -> Option<std::ops::Range<usize>> {
        let lists = [&mut self.uuids, &mut self.references, &mut self.runs];
        lists
            .into_iter()
            .find(|list| !list.is_empty())
            .map(|list| list.swap_remove(0))
    }
}

/// One search: the pieces of text with what was found in each.
struct Search<'a> {
    parsed: &'a Parsed,
    pieces: Vec<(Span, Forms)>,
    /// Fields behind this flat offset are not searched.
    limit: u32,
}

impl<'a> Search<'a> {
    fn new(parsed: &'a Parsed, spans: Vec<Span>) -> Self {
        let flat = parsed.nodes().flat();
        let end = spans.last().map_or(0, |span| span.end);
        let searched: usize = spans.iter().map(|span| span.len()).sum();
        let limit = if searched >= MINED_BYTES_MAX {
            end
        } else {
            u32::MAX
        };
        let pieces = spans
            .into_iter()
            .map(|span| (span, Forms::of(flat.get(span))));
        Search {
            parsed,
            pieces: pieces.collect(),
            limit,
        }
    }

    fn values(&mut self, set: &ExtractorSet, of: Type) -> Vec<Extract> {
        let mut values = Values::new(self.parsed);
        match of {
            Type::Id => {
                self.fields(&mut values, |key| set.is_field_of(of, key), |_| true);
                self.texts(&mut values, |forms| &forms.uuids);
                self.texts(&mut values, |forms| &forms.references);
                self.texts(&mut values, |forms| &forms.runs);
            }
            Type::Date => {
                self.texts(&mut values, |forms| &forms.dates);
                let is_date = |text: &str| date::find(text).first() == Some(&(0..text.len()));
                self.fields(&mut values, |key| set.is_field_of(of, key), is_date);
            }
            Type::Number => {
                for (span, range) in self.finds(|forms| &forms.numbers) {
                    values.add_number(span, range);
                }
            }
            Type::Json => {
                for block in json::find(self.parsed) {
                    values.add_json(block);
                }
            }
            Type::Url => self.texts(&mut values, |forms| &forms.urls),
            Type::Email => self.texts(&mut values, |forms| &forms.emails),
            Type::Custom(_) => self.custom(set, of, &mut values),
        }
        values.list
    }

    fn custom(&self, set: &ExtractorSet, of: Type, values: &mut Values<'a>) {
        self.fields(values, |key| set.is_field_of(of, key), |_| true);
        let Type::Custom(at) = of else {
            return;
        };
        let Some(custom) = set.custom.get(at) else {
            return;
        };
        for (span, _) in &self.pieces {
            for range in custom_finds(custom, self.parsed.nodes().flat().get(*span)) {
                values.add_text(*span, range);
            }
        }
    }

    fn finds(
        &self,
        pick: impl Fn(&Forms) -> &Finds,
    ) -> impl Iterator<Item = (Span, std::ops::Range<usize>)> {
        let pieces = self.pieces.iter();
        pieces.flat_map(move |(span, forms)| {
            pick(forms).iter().map(move |range| (*span, range.clone()))
        })
    }

    fn texts(&self, values: &mut Values<'a>, pick: impl Fn(&Forms) -> &Finds) {
        for (span, range) in self.finds(pick) {
            values.add_text(span, range);
        }
    }

    /// Adds the values of the JSON fields of some names: strings and numbers that have the right form.
    fn fields(
        &self,
        values: &mut Values<'a>,
        is_named: impl Fn(&str) -> bool,
        has_form: impl Fn(&str) -> bool,
    ) {
        let nodes = self.parsed.nodes();
        for (_, node) in nodes
            .iter()
            .filter(|(_, node)| node.text.start < self.limit)
        {
            let is_value =
                matches!(node.kind, Kind::String | Kind::Number) && !node.text.is_empty();
            if is_value
                && nodes.key(node).is_some_and(&is_named)
                && !is_line(nodes, node)
                && has_form(nodes.text(node))
            {
                values.add_field(node);
            }
        }
    }
}

/// Whether a value comes from a `key: value` line rather than from JSON: the document of the lines has no text.
fn is_line(nodes: &Nodes, node: &Node) -> bool {
    nodes
        .get(node.parent)
        .is_some_and(|parent| parent.text.is_empty())
}

fn custom_finds(custom: &set::Custom, text: &str) -> Finds {
    let Some((regex, group)) = &custom.regex else {
        return Finds::new();
    };
    let mut finds: Finds = if *group == 0 {
        regex.find_iter(text).map(|found| found.range()).collect()
    } else {
        let captures = regex.captures_iter(text);
        captures
            .filter_map(|captures| captures.get(*group).map(|found| found.range()))
            .collect()
    };
    finds.retain(|range| !range.is_empty());
    finds
}

/// The values of one type, each text once.
struct Values<'a> {
    nodes: &'a Nodes,
    list: Vec<Extract>,
    seen: HashSet<&'a str>,
}

impl<'a> Values<'a> {
    fn new(parsed: &'a Parsed) -> Self {
        Values {
            nodes: parsed.nodes(),
            list: Vec::new(),
            seen: HashSet::new(),
        }
    }

    fn add(&mut self, span: Span, form: impl FnOnce(&str) -> Form) {
        let flat = self.nodes.flat();
        let text = flat.get(span);
        if self.seen.insert(text) {
            let offset = flat.raw_of(span.start);
            self.list.push(Extract {
                offset,
                form: form(text),
            });
        }
    }

    fn add_text(&mut self, piece: Span, range: std::ops::Range<usize>) {
        self.add(within(piece, &range), |text| Form::Text(text.to_owned()));
    }

    fn add_number(&mut self, piece: Span, range: std::ops::Range<usize>) {
        self.add(within(piece, &range), |text| {
            Form::Number(number::digits_of(text))
        });
    }

    fn add_json(&mut self, block: parse::Block) {
        self.add(block.span, |_| Form::Json(block.node));
    }

    fn add_field(&mut self, node: &Node) {
        let is_number = node.kind == Kind::Number;
        self.add(node.text, |text| match is_number {
            true => Form::Number(text.to_owned()),
            false => Form::Text(text.to_owned()),
        });
    }
}

/// A range of a piece as a span of the whole flat text.
fn within(piece: Span, range: &std::ops::Range<usize>) -> Span {
    Span {
        start: piece.start + range.start as u32,
        end: piece.start + range.end as u32,
    }
}

#[cfg(test)]
mod tests;
