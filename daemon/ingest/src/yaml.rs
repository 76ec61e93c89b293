//! YAML: its mappings become sections, with the text unchanged. Front matter is parsed to values.

use super::IngestError;
use super::blocks::BlockKind;
use super::builder::{Draft, short};
use super::limits::Budget;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

/// Depth down to which the keys of mappings begin sections.
const SECTION_DEPTH: usize = 3;
/// YAML events between two checks of the time limit.
const EVENTS_PER_CHECK: usize = 10_000;
/// Limit on the values of front matter, with aliases expanded.
const VALUES_MAX: usize = 10_000;
/// Limit on the texts and keys of front matter in bytes, with aliases expanded. They are stored with the
/// document in addition to its text.
const VALUE_BYTES_MAX: usize = 256 << 10;
/// Limit on the nesting of front matter values.
const VALUE_DEPTH_MAX: usize = 32;

/// A YAML error and its line, from 1.
#[derive(Debug)]
pub(super) struct YamlError {
    pub line: usize,
    pub reason: String,
}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        Self {
            line: error.marker().line(),
            reason: error.info().to_owned(),
        }
    }
}

/// An open mapping or list.
struct Frame {
    is_mapping: bool,
    /// The key whose value follows, and its line.
    key: Option<(String, usize)>,
    /// Number of keys on the path to this frame.
    depth: usize,
}

/// The start of a section, and the path of its keys, shortened like titles.
struct SectionStart {
    line: usize,
    path: Vec<String>,
}

pub(super) fn read<'b>(text: String, budget: &'b Budget<'b>) -> Result<Draft<'b>, IngestError> {
    let mut fault = None;
    let marks = match marks(&text, budget)? {
        Ok(marks) => marks,
        Err(found) => {
            fault = Some(found);
            Vec::new()
        }
    };
    let end = text.len();
    // Lines are counted from 1.
    let starts: Vec<usize> = super::plain::lines(&text).map(|(at, _)| at).collect();
    let mut draft = Draft::over(text, budget);
    for mark in marks {
        if let Some(at) = starts.get(mark.line.saturating_sub(1)) {
            draft.section_of(&mark.path, *at);
        }
    }
    draft.mark(BlockKind::Code, 0..end);
    if let Some(YamlError { line, reason }) = fault {
        draft.warn(Some(line), format!("no valid YAML: {reason}"));
    }
    Ok(draft)
}

/// Returns the section starts, at most one per line, or the YAML error.
fn marks(
    text: &str,
    budget: &Budget<'_>,
) -> Result<Result<Vec<SectionStart>, YamlError>, IngestError> {
    let mut reader = Marks {
        most: budget.limits.sections,
        ..Marks::default()
    };
    let mut parser = Parser::new_from_str(text);
    let mut count = 0usize;
    while let Some(event) = parser.next_event() {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => return Ok(Err(error.into())),
        };
        count += 1;
        if count.is_multiple_of(EVENTS_PER_CHECK) {
            budget.check()?;
        }
        if reader.frames.len() > budget.limits.depth {
            return Err(IngestError::TooDeep {
                what: "YAML".into(),
                most: budget.limits.depth,
            });
        }
        reader.event(&event, span);
    }
    Ok(Ok(reader.marks))
}

#[derive(Default)]
struct Marks {
    frames: Vec<Frame>,
    marks: Vec<SectionStart>,
    /// Limit on the sections; further keys do not begin one.
    most: usize,
    path: Vec<String>,
}

impl Marks {
    fn event(&mut self, event: &Event<'_>, span: Span) {
        match event {
            Event::Scalar(text, ..) => self.scalar(text, span),
            Event::Alias(_) => self.scalar("*", span),
            Event::MappingStart(..) => self.open(true),
            Event::SequenceStart(..) => self.open(false),
            Event::MappingEnd | Event::SequenceEnd => {
                self.frames.pop();
                let depth = self.frames.last().map_or(0, |frame| frame.depth);
                self.path.truncate(depth);
            }
            Event::DocumentStart(_) | Event::DocumentEnd => {
                self.frames.clear();
                self.path.clear();
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd => {}
        }
    }

    fn scalar(&mut self, text: &str, span: Span) {
        let Some(frame) = self.frames.last_mut().filter(|frame| frame.is_mapping) else {
            return;
        };
        match frame.key.take() {
            None => frame.key = Some((short(text), span.start.line())),
            Some((_, line)) => self.mark(line),
        }
    }

    fn open(&mut self, is_mapping: bool) {
        if let Some((key, line)) = self.frames.last_mut().and_then(|frame| frame.key.take()) {
            self.path.push(key);
            self.mark(line);
        }
        self.frames.push(Frame {
            is_mapping,
            key: None,
            depth: self.path.len(),
        });
    }

    /// Begins a section at a line, unless the path equals the previous section's or the line already begins one.
    fn mark(&mut self, line: usize) {
        let depth = self.path.len().min(SECTION_DEPTH);
        let path = self.path.get(..depth).unwrap_or_default();
        let (last_line, last_path) = match self.marks.last() {
            Some(last) => (last.line, last.path.as_slice()),
            None => (0, Default::default()),
        };
        if path != last_path && line > last_line && self.marks.len() < self.most {
            let path = path.to_vec();
            self.marks.push(SectionStart { line, path });
        }
    }
}

/// Parses front matter: numbers, booleans and nested mappings by their type, timestamps as ISO 8601 texts.
///
/// # Errors
/// The line and reason of the first fault: invalid YAML, not a mapping, a duplicate key, or a limit exceeded.
pub(super) fn mapping(text: &str) -> Result<Map<String, Value>, YamlError> {
    let mut reader = Values::default();
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event?;
        let line = span.start.line();
        reader
            .event(event)
            .map_err(|reason| YamlError { line, reason })?;
    }
    match reader.done {
        Some(Value::Object(map)) => Ok(map),
        None | Some(Value::Null) => Ok(Map::new()),
        Some(_) => Err(YamlError {
            line: 1,
            reason: "it is not a mapping of keys to values".to_owned(),
        }),
    }
}

/// A list or mapping during parsing.
enum OpenValue {
    List(Vec<Value>, usize),
    Map(Map<String, Value>, Option<String>, usize),
}

#[derive(Default)]
struct Values {
    open: Vec<OpenValue>,
    /// Anchored values, by anchor id.
    anchors: BTreeMap<usize, Value>,
    size: Size,
    done: Option<Value>,
}

impl Values {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        if self.open.len() > VALUE_DEPTH_MAX {
            return Err(format!("it nests deeper than {VALUE_DEPTH_MAX}"));
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text =
                    tag.is_some_and(|tag| tag.suffix == "str") || style != ScalarStyle::Plain;
                let value = match is_text {
                    true => Value::String(text.into_owned()),
                    false => plain(&text),
                };
                self.size.grow(Size::of(&value))?;
                self.value(value, anchor)
            }
            Event::Alias(anchor) => {
                let value = self.anchors.get(&anchor);
                let value = value.ok_or("an alias names no anchor")?;
                // The limit is checked before the copy is made.
                self.size.grow(Size::of(value))?;
                let value = value.clone();
                self.value(value, 0)
            }
            Event::SequenceStart(anchor, _) => {
                self.open.push(OpenValue::List(Vec::new(), anchor));
                Ok(())
            }
            Event::MappingStart(anchor, _) => {
                self.open.push(OpenValue::Map(Map::new(), None, anchor));
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => {
                // The elements were already counted.
                self.size.grow(Size {
                    values: 1,
                    bytes: 0,
                })?;
                match self.open.pop() {
                    Some(OpenValue::List(list, anchor)) => self.value(Value::Array(list), anchor),
                    Some(OpenValue::Map(map, _, anchor)) => self.value(Value::Object(map), anchor),
                    None => Ok(()),
                }
            }
            Event::DocumentStart(_) if self.done.is_some() => {
                Err("it holds a second document".to_owned())
            }
            Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd => Ok(()),
        }
    }

    fn value(&mut self, value: Value, anchor: usize) -> Result<(), String> {
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.done = Some(value),
            Some(OpenValue::List(list, _)) => list.push(value),
            Some(OpenValue::Map(map, key, _)) => match (key.take(), value) {
                (Some(key), value) => {
                    if map.contains_key(&key) {
                        return Err(format!("the key `{key}` is set twice"));
                    }
                    map.insert(key, value);
                }
                (None, Value::String(name)) => *key = Some(name),
                (None, Value::Object(_) | Value::Array(_)) => {
                    return Err("a key is not text".to_owned());
                }
                (None, scalar) => *key = Some(scalar.to_string()),
            },
        }
        Ok(())
    }
}

/// The size of values.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    values: usize,
    /// Bytes of texts and keys.
    bytes: usize,
}

impl Size {
    /// Returns the size of a value, nested ones included.
    fn of(value: &Value) -> Self {
        let mut size = Self {
            values: 1,
            bytes: 0,
        };
        match value {
            Value::Array(list) => list.iter().for_each(|value| size.add(Self::of(value))),
            Value::Object(map) => {
                for (key, value) in map {
                    size.add(Self::of(value));
                    size.bytes += key.len();
                }
            }
            Value::String(text) => size.bytes = text.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        size
    }

    fn add(&mut self, other: Self) {
        self.values += other.values;
        self.bytes += other.bytes;
    }

    /// Adds to the total size; fails if the total exceeds the limits.
    fn grow(&mut self, by: Self) -> Result<(), String> {
        self.add(by);
        if self.values > VALUES_MAX {
            return Err(format!("it has more than {VALUES_MAX} values"));
        }
        if self.bytes > VALUE_BYTES_MAX {
            return Err(format!(
                "it has more than {VALUE_BYTES_MAX} bytes of values, with what its aliases stand for"
            ));
        }
        Ok(())
    }
}

/// Parses an unquoted scalar by the core schema of YAML 1.2.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let number = || {
        if let Some(hex) = text.strip_prefix("0x") {
            return i64::from_str_radix(hex, 16).ok().map(Number::from);
        }
        if let Some(octal) = text.strip_prefix("0o") {
            return i64::from_str_radix(octal, 8).ok().map(Number::from);
        }
        if let Ok(whole) = text.parse::<i64>() {
            return Some(Number::from(whole));
        }
        let looks_so = text
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'))
            && text.ends_with(|c: char| c.is_ascii_digit() || c == '.')
            && text.chars().any(|c| c.is_ascii_digit());
        let float = looks_so.then(|| text.parse::<f64>().ok()).flatten()?;
        Number::from_f64(float)
    };
    match number() {
        Some(number) => Value::Number(number),
        None => Value::String(super::front_matter::moment(text).unwrap_or_else(|| text.to_owned())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Limits;
    use super::*;

    fn marks_of(text: &str, limits: &Limits) -> Vec<SectionStart> {
        marks(text, &Budget::new(limits)).unwrap().unwrap()
    }

    /// A key that fills half of the file is not stored once for each line below it.
    #[test]
    fn long_keys_do_not_multiply() {
        const LINES: usize = 200;
        let mut text = format!("? \"{}\"\n:\n", "x".repeat(200_000));
        for line in 0..LINES {
            text += &format!("  a{line}: {{}}\n");
        }
        let marks = marks_of(&text, &Limits::default());
        assert!(marks.len() >= LINES, "{}", marks.len());
        let paths = marks.iter().flat_map(|mark| &mark.path);
        let bytes: usize = paths.map(String::len).sum();
        assert!(bytes < LINES * 1000, "{bytes}");
    }

    /// The number of marks does not exceed the limit on sections.
    #[test]
    fn marks_are_as_many_as_sections() {
        let text: String = (0..100).map(|key| format!("a{key}: {{}}\n")).collect();
        let limits = Limits {
            sections: 10,
            ..Limits::default()
        };
        assert_eq!(marks_of(&text, &limits).len(), 10);
        assert_eq!(marks_of(&text, &Limits::default()).len(), 100);
    }

    /// A long text is not stored once for each alias. Without aliases, long front matter is allowed.
    #[test]
    fn aliases_do_not_multiply_bytes() {
        let long = "x".repeat(30_000);
        let text = |aliases: usize| format!("a: &x {long}\nb: [{}]\n", "*x , ".repeat(aliases));
        assert!(mapping(&text(5)).is_ok());
        let fault = mapping(&text(174)).unwrap_err();
        assert!(fault.reason.contains("bytes of values"), "{}", fault.reason);
        assert_eq!(fault.line, 2);
        let keys = format!("a: &x {{? {long} : 1}}\nb: [{}]\n", "*x , ".repeat(20));
        let fault = mapping(&keys).unwrap_err();
        assert!(fault.reason.contains("bytes of values"), "{}", fault.reason);
        let flat: String = (0..3000)
            .map(|key| format!("key-{key}: some text\n"))
            .collect();
        assert_eq!(mapping(&flat).unwrap().len(), 3000);
    }
}
