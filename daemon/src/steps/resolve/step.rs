//! One recorded step as variables see it, and where they look steps up.

use crate::steps::extract::{ExtractedValues, ExtractorSet, extract};
use crate::steps::parse::{ParsedResult, parse};
use std::sync::{Arc, OnceLock};

/// The steps of one session.
pub trait History {
    /// Why a step could not be read.
    type Error;

    /// The highest step number; `None` in a session without steps.
    ///
    /// # Errors
    /// When the store fails.
    fn last(&self) -> Result<Option<u32>, Self::Error>;

    /// The attempt that answers variables: the latest successful one of this step, else the latest.
    ///
    /// # Errors
    /// When the store fails.
    fn step(&self, step: u32) -> Result<Option<Arc<StepData>>, Self::Error>;
}

/// One attempt of a step. What is derived from its result is computed on first use and kept.
#[derive(Debug)]
pub struct StepData {
    /// Its number, from 1.
    pub step: u32,
    /// Which attempt, from 1.
    pub attempt: u32,
    /// Its position in the log.
    pub position: u64,
    /// Whether it succeeded.
    pub success: bool,
    /// The error its recorder gave.
    pub error: Option<String>,
    /// The result as it was recorded.
    pub raw: String,
    set: Arc<ExtractorSet>,
    parsed: OnceLock<ParsedResult>,
    extracted: OnceLock<ExtractedValues>,
}

impl StepData {
    /// A step whose result is to be read with the extractors of `set`.
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

    /// The step as one with this outcome.
    #[must_use]
    pub fn with_outcome(self, success: bool, error: Option<String>) -> Self {
        StepData {
            success,
            error,
            ..self
        }
    }

    /// The step with values extracted earlier, by the same set.
    #[must_use]
    pub fn with_extracted(self, extracted: ExtractedValues) -> Self {
        StepData {
            extracted: OnceLock::from(extracted),
            ..self
        }
    }

    /// The extractors this step is read with.
    #[must_use]
    pub fn set(&self) -> &ExtractorSet {
        &self.set
    }

    /// The result, read.
    #[must_use]
    pub fn parsed(&self) -> &ParsedResult {
        self.parsed.get_or_init(|| parse(&self.raw))
    }

    /// What was found in the result. An error's text is not searched.
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

    /// Whether the result says nothing but why the step failed: it is an error of itself, or there is no other error
    /// text.
    fn is_error_text(&self) -> bool {
        let said_elsewhere = self.error.as_deref().is_some_and(|error| error != self.raw);
        !self.success && (self.parsed().is_error() || !said_elsewhere)
    }
}
