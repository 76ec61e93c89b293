//! A recorded step as variables see it, and the interface that looks up steps.

use crate::steps::extract::{ExtractedValues, ExtractorSet, extract};
use crate::steps::parse::{ParsedResult, parse};
use std::sync::{Arc, OnceLock};

/// The steps of one session.
pub trait History {
    /// Error of a failed read.
    type Error;

    /// Returns the highest step number; `None` in a session without steps.
    fn last(&self) -> Result<Option<u32>, Self::Error>;

    /// Returns the attempt that variables use: the latest successful one of this step, else the latest.
    fn step(&self, step: u32) -> Result<Option<Arc<StepData>>, Self::Error>;
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

    /// Returns whether the result is only an error text: it marks itself as an error, or there is no other error text.
    fn is_error_text(&self) -> bool {
        let said_elsewhere = self.error.as_deref().is_some_and(|error| error != self.raw);
        !self.success && (self.parsed().is_error() || !said_elsewhere)
    }
}
