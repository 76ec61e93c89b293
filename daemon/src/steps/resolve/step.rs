//! A recorded step as variables see it, and the interface that looks up steps.

use crate::steps::extract::{ExtractedValues, ExtractorSet, extract, searched_bytes};
use crate::steps::parse::{Kind, NodeId, ParsedResult, parse};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// The steps of one session.
pub trait History {
    /// Error of a failed read.
    type Error;

    /// Returns the highest step number; `None` in a session without steps.
    fn last(&self) -> Result<Option<u32>, Self::Error>;

    /// Returns the attempt that variables use: the latest successful one of this step, else the latest.
    fn step(&self, step: u32) -> Result<Option<Arc<StepData>>, Self::Error>;

    /// Reserves memory for a value before it is built; `false` when the values of the call would take too much.
    fn reserve(&self, bytes: usize) -> bool;
}

/// One attempt of a step. Data derived from its result is computed on first use and retained.
#[derive(Debug)]
pub struct StepData {
    /// Step number, from 1.
    pub step: u32,
    /// Attempt number, from 1.
    pub attempt: u32,
    /// Log position.
    pub position: u64,
    /// Whether the attempt succeeded.
    pub success: bool,
    /// Error text from the recorder.
    pub error: Option<String>,
    /// Recorded result, unchanged.
    pub raw: String,
    set: Arc<ExtractorSet>,
    parsed: OnceLock<ParsedResult>,
    extracted: OnceLock<ExtractedValues>,
    /// Number of bytes that extractors search, if they do not search all; counting them takes a pass over the result.
    searched_bytes: OnceLock<Option<u64>>,
}

impl StepData {
    /// Creates a step whose result is read with the extractors of `set`.
    #[must_use]
    pub fn new(
        step: u32,
        attempt: u32,
        position: u64,
        raw: String,
        set: Arc<ExtractorSet>,
    ) -> Self {
        StepData {
            step,
            attempt,
            position,
            success: true,
            error: None,
            raw,
            set,
            parsed: OnceLock::new(),
            extracted: OnceLock::new(),
            searched_bytes: OnceLock::new(),
        }
    }

    /// Sets the outcome.
    #[must_use]
    pub fn with_outcome(self, success: bool, error: Option<String>) -> Self {
        StepData {
            success,
            error,
            ..self
        }
    }

    /// Sets values that the same set extracted earlier.
    #[must_use]
    pub fn with_extracted(self, extracted: ExtractedValues) -> Self {
        StepData {
            extracted: OnceLock::from(extracted),
            ..self
        }
    }

    /// Returns the extractors of this step.
    #[must_use]
    pub fn set(&self) -> &ExtractorSet {
        &self.set
    }

    /// Returns the parsed result.
    #[must_use]
    pub fn parsed(&self) -> &ParsedResult {
        self.parsed.get_or_init(|| parse(&self.raw))
    }

    /// Returns the values extracted from the result. An error text is not searched.
    #[must_use]
    pub fn extracted(&self) -> &ExtractedValues {
        self.extracted.get_or_init(|| {
            if self.is_error_text() {
                extract(&ParsedResult::default(), &self.set)
            } else {
                extract(self.parsed(), &self.set)
            }
        })
    }

    /// Returns the error of a failed step as text: the recorder's, else the one that the result contains, else the
    /// whole result. `None` if there is no text.
    #[must_use]
    pub fn error_text(&self) -> Option<String> {
        let is_said = |text: &String| !text.trim().is_empty();
        let error = self.error.clone().filter(is_said);
        error
            .or_else(|| self.error_field())
            .or_else(|| content_text(&self.raw).filter(is_said))
            .or_else(|| Some(self.raw.clone()).filter(is_said))
    }

    /// Returns the error of a failed step as if it were the result, for names that ask for a failed step.
    #[must_use]
    pub fn of_error(&self) -> Option<StepData> {
        let error = self.error_text().filter(|_| !self.success)?;
        let (number, set) = (self.step, Arc::clone(&self.set));
        Some(StepData::new(
            number,
            self.attempt,
            self.position,
            error,
            set,
        ))
    }

    /// Returns the `error` of a failed step's JSON-RPC envelope as if it were the result.
    #[must_use]
    pub fn of_rpc_error(&self) -> Option<StepData> {
        #[derive(serde::Deserialize)]
        struct Envelope<'a> {
            #[serde(rename = "jsonrpc")]
            _version: String,
            #[serde(borrow)]
            error: &'a serde_json::value::RawValue,
        }
        let raw = self.raw.trim();
        if self.success || !raw.starts_with('{') || !raw.contains("\"jsonrpc\"") {
            return None;
        }
        let envelope: Envelope<'_> = serde_json::from_str(raw).ok()?;
        let error = envelope.error.get();
        let (number, set) = (self.step, Arc::clone(&self.set));
        error
            .starts_with('{')
            .then(|| StepData::new(number, self.attempt, self.position, error.to_owned(), set))
    }

    /// Returns the field `error` of a result that is one object: a text, or an object with a `message`.
    fn error_field(&self) -> Option<String> {
        let parsed = self.parsed();
        let nodes = parsed.nodes();
        let member = |object: NodeId, key: &str| {
            let mut members = nodes.children(object);
            members.find(|(_, node)| nodes.key(node) == Some(key))
        };
        let roots = parsed
            .documents()
            .iter()
            .filter_map(|document| document.json);
        roots
            .filter_map(|root| member(root, "error"))
            .find_map(|(id, node)| match node.kind {
                Kind::String => Some(node),
                Kind::Object => member(id, "message")
                    .map(|(_, node)| node)
                    .filter(|node| node.kind == Kind::String),
                Kind::Null | Kind::Bool(_) | Kind::Number | Kind::Array => None,
            })
            .map(|node| nodes.text(node).to_owned())
            .filter(|text| !text.trim().is_empty())
    }

    /// Returns the size of the parsed and extracted data, in bytes. Derives all of it.
    pub(in crate::steps) fn derived_bytes(&self) -> usize {
        /// Memory of an extracted value with its text, in bytes.
        const VALUE_BYTES: usize = 80;
        let types = self.extracted().types.iter();
        let values: usize = types.map(|found| found.values.len()).sum();
        self.raw.capacity() + self.parsed().bytes() + values * VALUE_BYTES
    }

    /// Returns the memory that the step takes as far as its data was derived, in bytes.
    pub(in crate::steps) fn held_bytes(&self) -> usize {
        self.raw.capacity() + self.parsed.get().map_or(0, ParsedResult::bytes)
    }

    /// Returns the memory that [`ParsedResult::data`] and all extracted values take together, in bytes.
    pub(in crate::steps) fn shown_bytes(&self) -> usize {
        let nodes = self.parsed().nodes();
        let types = self.extracted().types.iter();
        let values = types.flat_map(|found| &found.values);
        let values: usize = values.map(|value| value.held_bytes(nodes)).sum();
        values + self.parsed().data_bytes()
    }

    /// Returns a warning if the result is too large to be read completely.
    #[must_use]
    pub fn size_warning(&self) -> Option<String> {
        let (step, parsed) = (self.step, self.parsed());
        if parsed.overflowed() {
            return Some(format!(
                "the result of step {step} has more than {} values: later ones are no fields",
                crate::steps::parse::VALUES_MAX
            ));
        }
        let searched = self.searched_bytes.get_or_init(|| searched_bytes(parsed));
        searched.map(|bytes| {
            format!(
                "the result of step {step} is large: ids, dates and values of other types were looked for in its first \
                 {bytes} bytes alone; its fields are complete"
            )
        })
    }

    /// Returns whether the result is only an error text: it marks itself as an error, or there is no other error text.
    fn is_error_text(&self) -> bool {
        let said_elsewhere = self.error.as_deref().is_some_and(|error| error != self.raw);
        !self.success && (self.parsed().is_error() || !said_elsewhere)
    }
}

/// Returns the text parts of an MCP tool result.
fn content_text(raw: &str) -> Option<String> {
    let result: Value = serde_json::from_str(raw).ok()?;
    let parts = result
        .get("content")
        .or_else(|| result.get("result")?.get("content"))?
        .as_array()?;
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.get("text")?.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
