//! Converts JSON to lines of `key: value`, under headings of the keys that lead to them. JSON is read as a stream,
//! without a tree of its values.

use super::IngestError;
use super::blocks::BlockKind;
use super::builder::Draft;
use super::limits::Budget;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt::{self, Write as _};

/// Limit on the depth of headings for objects and lists.
const HEADING_DEPTH: usize = 3;
/// Limit on a list's texts that share a line, in bytes.
const SHORT_BYTES: usize = 40;
/// Length beyond which a line of list values is not continued, in bytes.
const LINE_BYTES: usize = 200;
/// The key under which serde_json passes a number as text with its original digits.
const NUMBER_KEY: &str = "$serde_json::private::Number";
/// Limit on nesting, below serde_json's own of 128.
const DEPTH_MAX: usize = 126;
/// Length after which a block is closed, in bytes; it exceeds this by at most one line.
const BLOCK_BYTES: usize = 32 << 10;
/// Values between two checks of the time limit.
const VALUES_PER_CHECK: usize = 10_000;

/// Reads a sequence of JSON values. Invalid JSON is read as plain text, with a warning.
pub(super) fn read<'b>(text: String, budget: &'b Budget<'b>) -> Result<Draft<'b>, IngestError> {
    let mut outline = Outline::new(budget);
    let mut values = serde_json::Deserializer::from_str(&text);
    let mut fault = None;
    while values.end().is_err() {
        if let Err(error) = Node(&mut outline).deserialize(&mut values) {
            fault = Some(error);
            break;
        }
    }
    if let Some(refused) = outline.refused {
        return Err(refused);
    }
    match fault {
        None => {
            outline.flush();
            Ok(outline.draft)
        }
        Some(error) => {
            let mut draft = super::plain::code(text, budget);
            let line = Some(error.line()).filter(|line| *line > 0);
            draft.warn(line, format!("no valid JSON: {error}"));
            Ok(draft)
        }
    }
}

/// A step of the path to a value.
enum Step {
    Key(String),
    Item(usize),
}

struct Outline<'b> {
    draft: Draft<'b>,
    budget: &'b Budget<'b>,
    path: Vec<Step>,
    /// Keys in the current heading.
    heading: Vec<String>,
    /// Number of path steps that the heading already includes.
    said: usize,
    /// Whether an object or list began or ended since the last line.
    has_moved: bool,
    /// Lines under the current heading.
    block: String,
    /// Whether the last line is a list of short values that can be continued.
    is_listing: bool,
    values: usize,
    /// The error that stopped the reader.
    refused: Option<IngestError>,
}

impl<'b> Outline<'b> {
    fn new(budget: &'b Budget<'b>) -> Self {
        Self {
            draft: Draft::over(String::new(), budget),
            budget,
            path: Vec::new(),
            heading: Vec::new(),
            said: 0,
            has_moved: false,
            block: String::new(),
            is_listing: false,
            values: 0,
            refused: None,
        }
    }

    fn scalar(&mut self, text: &str) -> Result<(), IngestError> {
        self.values += 1;
        if self.values.is_multiple_of(VALUES_PER_CHECK) {
            self.budget.check()?;
        }
        let is_item = matches!(self.path.last(), Some(Step::Item(_)));
        let is_short = text.len() <= SHORT_BYTES && !text.contains('\n');
        if is_item && self.is_listing && is_short && self.line_bytes() < LINE_BYTES {
            self.block.push_str(", ");
            self.block.push_str(text);
            return Ok(());
        }
        if self.has_moved {
            self.turn();
            self.has_moved = false;
        }
        if self.block.len() > BLOCK_BYTES {
            self.flush();
        }
        if !self.block.is_empty() {
            self.block.push('\n');
        }
        // The values of a list share its key.
        let end = self.path.len() - usize::from(is_item);
        let unsaid = self.path.get(self.said..end).unwrap_or_default();
        let label = keys(unsaid).join(".");
        if !label.is_empty() {
            self.block.push_str(&label);
            self.block.push_str(": ");
        }
        self.block.push_str(text);
        self.is_listing = is_item && is_short;
        Ok(())
    }

    fn line_bytes(&self) -> usize {
        self.block.len() - self.block.rfind('\n').map_or(0, |at| at + 1)
    }

    /// Begins the section of the object with the current value, unless it is already open.
    fn turn(&mut self) {
        let is_item = |step: &Step| matches!(step, Step::Item(_));
        let items = self
            .path
            .iter()
            .rev()
            .take_while(|step| is_item(step))
            .count();
        let around = self.path.len().saturating_sub(items + 1).min(HEADING_DEPTH);
        let keys = keys(self.path.get(..around).unwrap_or_default());
        if keys == self.heading {
            return;
        }
        self.flush();
        let at = self.draft.text.len();
        self.said = 0;
        if self.draft.section_of(&keys, at) {
            self.said = around;
            if !keys.is_empty() {
                self.draft
                    .put(BlockKind::Heading, &format!("# {}", keys.join(".")));
            }
        }
        self.heading = keys;
    }

    fn flush(&mut self) {
        let block = std::mem::take(&mut self.block);
        self.draft.put(BlockKind::Rows, &block);
        self.is_listing = false;
    }

    /// Marks the begin or the end of an object or list.
    fn end_line(&mut self) {
        self.has_moved = true;
        self.is_listing = false;
    }

    /// Enters an object or list, unless the nesting exceeds the limit.
    fn enter(&mut self, step: Step) -> Result<(), IngestError> {
        let most = self.budget.limits.depth.min(DEPTH_MAX);
        if self.path.len() >= most {
            return Err(IngestError::TooDeep {
                what: "JSON".into(),
                most,
            });
        }
        self.path.push(step);
        Ok(())
    }

    /// Stores the reason for stopping; serde's error only ends the deserialization.
    fn refuse<E: serde::de::Error>(&mut self, refused: IngestError) -> E {
        self.refused = Some(refused);
        E::custom("refused")
    }
}

/// Returns the keys as shown: a list index is appended to the list's key.
fn keys(path: &[Step]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for step in path {
        match (step, keys.last_mut()) {
            (Step::Key(key), _) => keys.push(key.clone()),
            (Step::Item(at), Some(key)) => {
                let _ = write!(key, "[{at}]");
            }
            (Step::Item(at), None) => keys.push(format!("[{at}]")),
        }
    }
    keys
}

/// Deserializes one value into the outline.
struct Node<'o, 'b>(&'o mut Outline<'b>);

impl<'de> DeserializeSeed<'de> for Node<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Node<'_, '_> {
    fn scalar<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        self.0
            .scalar(text)
            .map_err(|refused| self.0.refuse(refused))
    }
}

impl<'de> Visitor<'de> for Node<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.scalar(if value { "true" } else { "false" })
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.scalar(&value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.scalar(&value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.scalar(&value.to_string())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.scalar("null")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.end_line();
        let mut at = 0;
        loop {
            self.0
                .enter(Step::Item(at))
                .map_err(|refused| self.0.refuse(refused))?;
            let next = list.next_element_seed(Node(self.0))?;
            self.0.path.pop();
            if next.is_none() {
                break;
            }
            at += 1;
        }
        self.0.end_line();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut is_first = true;
        while let Some(key) = map.next_key::<String>()? {
            if is_first && key == NUMBER_KEY {
                let number = map.next_value::<String>()?;
                return self.scalar(&number);
            }
            if is_first {
                self.0.end_line();
                is_first = false;
            }
            self.0
                .enter(Step::Key(key))
                .map_err(|refused| self.0.refuse(refused))?;
            map.next_value_seed(Node(self.0))?;
            self.0.path.pop();
        }
        self.0.end_line();
        Ok(())
    }
}
