//! A single search of a result: the text that is searched and the order of the values.

use super::registration::CustomExtractor;
use super::span::Spans;
use super::{
    Extract, ExtractorSet, FormMatches, MINED_BYTES_MAX, Type, ValueForm, date, json, number,
};
use crate::steps::parse::{self, Kind, Node, Nodes, ParsedResult, Span};
use crate::steps::words;
use std::collections::HashSet;
use std::ops::Range;

/// Minimum length of a base64 string that counts as a file, in bytes. Files are not searched.
const FILE_BYTES_MIN: usize = 256;

/// Returns the searched parts of the flat text: all documents up to the limit, without base64 files.
pub(super) fn mined(parsed: &ParsedResult) -> (Vec<Span>, Option<u64>) {
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
        let first = files.partition_point(|file| file.start < start);
        let inside = files.iter().skip(first).take_while(|file| file.end <= end);
        for gap in inside.copied().chain([Span { start: end, end }]) {
            let limit = (start as usize).saturating_add(left);
            if gap.start as usize > limit {
                let end = cut(text, start as usize, limit) as u32;
                spans.push(Span { start, end });
                let searched = MINED_BYTES_MAX - (limit - end as usize);
                return (spans, Some(searched as u64));
            }
            if gap.start > start {
                spans.push(Span {
                    start,
                    end: gap.start,
                });
                left -= (gap.start - start) as usize;
            }
            start = gap.end.max(start);
        }
    }
    (spans, None)
}

/// Longest value that the end of the searched text gives way to, in bytes.
const VALUE_BYTES_MAX: usize = 4096;

/// Returns the last place at or before `limit` between two values: no value is searched in part.
///
/// Values end at blanks and quotes. A blank between digits may be within a date and time.
fn cut(text: &str, start: usize, limit: usize) -> usize {
    let bytes = text.as_bytes();
    let lowest = limit.saturating_sub(VALUE_BYTES_MAX).max(start);
    let is_blank = |at: &usize| bytes.get(*at).is_some_and(u8::is_ascii_whitespace);
    let is_between = |at: &usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let after = bytes.get(at + 1);
        let is_inner = before.is_some_and(u8::is_ascii_digit)
            && after.is_some_and(|byte| byte.is_ascii_digit() || b"+-".contains(byte));
        (is_blank(at) && !is_inner) || bytes.get(*at) == Some(&b'"')
    };
    let places = || (lowest..=limit).rev();
    let found = places()
        .find(is_between)
        .or_else(|| places().find(is_blank));
    words::floor_boundary(text, found.unwrap_or(limit))
}

fn is_file(nodes: &Nodes, node: &Node) -> bool {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-\n".contains(byte);
    node.kind == Kind::String
        && node.text.len() >= FILE_BYTES_MIN
        && nodes.text(node).as_bytes().iter().all(is_base64)
}

/// A single search: the pieces of text with their matches.
pub(super) struct Search<'a> {
    parsed: &'a ParsedResult,
    pieces: Vec<(Span, FormMatches)>,
    /// Fields after this flat offset are not searched.
    limit: u32,
}

impl<'a> Search<'a> {
    pub(super) fn new(parsed: &'a ParsedResult, spans: Vec<Span>, is_cut: bool) -> Self {
        let flat = parsed.nodes().flat();
        let end = spans.last().map_or(0, |span| span.end);
        let limit = if is_cut { end } else { u32::MAX };
        let pieces = spans
            .into_iter()
            .map(|span| (span, FormMatches::of(flat.get(span))));
        Search {
            parsed,
            pieces: pieces.collect(),
            limit,
        }
    }

    pub(super) fn values(&mut self, set: &ExtractorSet, of: Type) -> Vec<Extract> {
        let mut values = Values::new(self.parsed);
        match of {
            Type::Id => {
                self.fields(&mut values, |key| set.is_field_of(of, key), |_| true);
                self.texts(&mut values, |forms| &forms.ids);
            }
            Type::Date => {
                self.texts(&mut values, |forms| &forms.dates);
                let is_date = |text: &str| date::find(text).first() == Some(&(0..text.len()));
                self.fields(&mut values, |key| set.is_field_of(of, key), is_date);
            }
            Type::Number => {
                values.expect(
                    self.pieces
                        .iter()
                        .map(|(_, forms)| forms.numbers.len())
                        .sum(),
                );
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
        pick: impl Fn(&FormMatches) -> &Spans,
    ) -> impl Iterator<Item = (Span, Range<usize>)> {
        let pieces = self.pieces.iter();
        pieces.flat_map(move |(span, forms)| {
            pick(forms).iter().map(move |range| (*span, range.clone()))
        })
    }

    fn texts(&self, values: &mut Values<'a>, pick: impl Fn(&FormMatches) -> &Spans) {
        for (span, range) in self.finds(pick) {
            values.add_text(span, range);
        }
    }

    /// Adds the string and number values of the JSON fields that match by name and form.
    fn fields(
        &self,
        values: &mut Values<'a>,
        is_named: impl Fn(&str) -> bool,
        has_form: impl Fn(&str) -> bool,
    ) {
        let nodes = self.parsed.nodes();
        for (_, node) in nodes.iter().filter(|(_, node)| node.text.end <= self.limit) {
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

/// Returns whether a value comes from a `key: value` line and not from JSON. The document of the lines has no text.
fn is_line(nodes: &Nodes, node: &Node) -> bool {
    nodes
        .get(node.parent)
        .is_some_and(|parent| parent.text.is_empty())
}

pub(super) fn custom_finds(custom: &CustomExtractor, text: &str) -> Spans {
    let Some((regex, group)) = &custom.regex else {
        return Spans::new();
    };
    let mut finds: Spans = if *group == 0 {
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

/// The distinct values of one type.
struct Values<'a> {
    nodes: &'a Nodes,
    list: Vec<Extract>,
    seen: HashSet<&'a str>,
}

impl<'a> Values<'a> {
    fn new(parsed: &'a ParsedResult) -> Self {
        Values {
            nodes: parsed.nodes(),
            list: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Reserves space for `count` values.
    fn expect(&mut self, count: usize) {
        self.list.reserve(count);
        self.seen.reserve(count);
    }

    fn add(&mut self, span: Span, form: impl FnOnce(&str) -> ValueForm) {
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

    fn add_text(&mut self, piece: Span, range: Range<usize>) {
        self.add(within(piece, &range), |text| {
            ValueForm::Text(text.to_owned())
        });
    }

    fn add_number(&mut self, piece: Span, range: Range<usize>) {
        self.add(within(piece, &range), |text| {
            ValueForm::Number(number::digits_of(text))
        });
    }

    fn add_json(&mut self, block: parse::Block) {
        self.add(block.span, |_| ValueForm::Json(block.node));
    }

    fn add_field(&mut self, node: &Node) {
        let is_number = node.kind == Kind::Number;
        self.add(node.text, |text| match is_number {
            true => ValueForm::Number(text.to_owned()),
            false => ValueForm::Text(text.to_owned()),
        });
    }
}

/// Converts a range within a piece to a span of the whole flat text.
fn within(piece: Span, range: &Range<usize>) -> Span {
    Span {
        start: piece.start + range.start as u32,
        end: piece.start + range.end as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wherever the limit falls in the text, no value is divided.
    #[test]
    fn the_cut_is_between_values() {
        let values = [
            "https://example.com/a?b=c,d",
            "2025-10-06 13:55:09",
            "2025-10-06 13:55:09 +02:00",
            "mina@okafor.example",
            "550e8400-e29b-41d4-a716-446655440000",
            "1,000.5",
        ];
        for value in values {
            for text in [
                format!("see {value} or"),
                format!(r#"{{"a":"{value}" "b":1}}"#),
            ] {
                let at = text.find(value).unwrap_or_default();
                for limit in 1..text.len() {
                    let cut = cut(&text, 0, limit);
                    let divides = at < cut && cut < at + value.len();
                    assert!(cut <= limit && !divides, "{text} at {limit}: {cut}");
                }
            }
        }
    }

    #[test]
    fn a_list_of_numbers_is_cut_at_a_blank() {
        assert_eq!(cut("[12345 12345 12345]", 0, 15), 12);
        assert_eq!(cut("é234567", 0, 1), 0, "between characters");
    }
}
