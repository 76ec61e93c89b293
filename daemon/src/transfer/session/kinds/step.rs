//! Kinds of steps: recorded results, registered extractors and mappings.

use lore::protocol::RawObject;

use super::mirror::{Mirror, object};
use super::{LinePayload, Parts, SessionImportBuilder};
use crate::error::Refusal;
use crate::events::body;
use crate::log::{LoggedEvent, codec};
use crate::messages::operations::TOOL_BYTES_MAX;
use crate::steps::extract::{self, ExtractorSet, FieldMapping};
use crate::steps::operations::{PURPOSE_BYTES_MAX, STEP_MAX};
use crate::steps::{
    ExtractorRegistered, FieldMappingRegistered, StepAssigned, StepEvent, StepRecorded,
};
use crate::store::Error;
use crate::transfer::session::check::{Checker, one_more};
use crate::transfer::session::export::{ExportSource, object};
use crate::transfer::session::markdown::{Section, escaped};
use crate::trust;

/// Maximum attempt of a step: far below the type's maximum, so that there is always a next one.
const ATTEMPT_MAX: u32 = 1_000_000_000;

object! {
    /// A tool result that later calls can refer to.
    Step {
        /// Its number, 1 to 1000000.
        step: u32,
        /// Attempt, from 1; it increases from line to line of one step.
        attempt: u32,
        /// Whether it succeeded.
        success: bool,
        /// Name of the tool.
        tool: String,
        /// Parameters of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "RawObject")]
        parameters: Option<RawObject>,
        /// Purpose of the call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        purpose: Option<String>,
        /// Result, unchanged.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        result: Option<String>,
        /// Error message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        error: Option<String>,
    }
}

impl Step {
    /// Exports the event.
    pub fn export(
        from: &ExportSource<'_>,
        event: &LoggedEvent,
        meta: &StepAssigned,
    ) -> Result<Self, Error> {
        let body: StepRecorded = body(event)?;
        Ok(Self {
            step: meta.step,
            attempt: meta.attempt,
            success: meta.success,
            tool: body.tool,
            parameters: object(event, from.read(body.parameters)?)?,
            purpose: body.purpose,
            result: from.read(body.result)?,
            error: from.read(body.error)?,
        })
    }
}

impl LinePayload for Step {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        if self.step == 0 || self.step > STEP_MAX {
            return Err(format!(
                "`step` is {}; step numbers go from 1 to {STEP_MAX}",
                self.step
            ));
        }
        if self.tool.trim().is_empty() || self.tool.len() > TOOL_BYTES_MAX {
            return Err(format!(
                "`tool` is the name of a tool, 1 to {TOOL_BYTES_MAX} bytes"
            ));
        }
        let purpose = self.purpose.as_ref().map_or(0, String::len);
        if purpose > PURPOSE_BYTES_MAX {
            return Err(format!(
                "`purpose` has {purpose} bytes; at most {PURPOSE_BYTES_MAX} are kept"
            ));
        }
        if self.result.is_none() && self.error.is_none() {
            return Err("a step has a `result`, or an `error` that says why not".to_owned());
        }
        // If attempts were forgotten, later ones keep their numbers.
        let before = earlier.attempts.get(&self.step);
        let least = before.map_or(1, |before| before + 1);
        if !(least..=ATTEMPT_MAX).contains(&self.attempt) {
            return Err(format!(
                "`attempt` of step {} is {} where {least} comes next, or a greater one up to {ATTEMPT_MAX}",
                self.step, self.attempt
            ));
        }
        earlier.attempts.insert(self.step, self.attempt);
        Ok(())
    }

    fn import(self, to: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let suspect = trust::of_step(self.result.as_deref(), self.error.as_deref());
        let mut blobs = Vec::new();
        let parameters = self.parameters.map(RawObject::into_string);
        let recorded = StepRecorded {
            tool: self.tool,
            parameters: to.keep_some(parameters, &mut blobs)?,
            purpose: self.purpose,
            result: to.keep_some(self.result, &mut blobs)?,
            error: to.keep_some(self.error, &mut blobs)?,
        };
        let assigned = StepAssigned {
            step: self.step,
            attempt: self.attempt,
            success: self.success,
            suspect,
            blobs,
        };
        let event = StepEvent::Recorded(assigned).into();
        Ok(Some((event, codec::encode(&recorded))))
    }

    fn render(&self, to: &mut Section<'_>) {
        let heading = format!("Step {}: {}", self.step, escaped(&self.tool));
        let failed = if self.success { "" } else { ", failed" };
        to.heading(&heading, &format!(", attempt {}{failed}", self.attempt));
        if let Some(purpose) = &self.purpose {
            to.push(format_args!("{}\n\n", escaped(purpose)));
        }
        to.call(
            self.parameters.as_ref(),
            self.result.as_deref(),
            self.error.as_deref(),
        );
    }
}

object! {
    /// An extractor was registered for the session.
    Extractor = ExtractorRegistered {
        /// Its name, which is also the type of its values.
        name: String,
        /// A regular expression with at most one capture group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        pattern: Option<String>,
        /// The capture group to use; 0 is the whole match.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "u32")]
        group: Option<u32>,
        /// JSON field names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        fields: Vec<String>,
    }
}

impl LinePayload for Extractor {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        earlier.registration()?;
        let tried = extract::Extractor {
            name: self.name.clone(),
            pattern: self.pattern.clone(),
            group: self.group,
            fields: self.fields.clone(),
        };
        let set = ExtractorSet::new(&[tried], &[]);
        set.map_err(|invalid| invalid.to_string())?;
        one_more(&mut earlier.extractors, &self.name, "extractors")
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let body: ExtractorRegistered = self.mirror();
        let event = StepEvent::ExtractorRegistered.into();
        Ok(Some((event, codec::encode(&body))))
    }
}

object! {
    /// Aliases of a field were registered for the session.
    Mapping = FieldMappingRegistered {
        /// The field.
        field: String,
        /// Its other names.
        aliases: Vec<String>,
    }
}

impl LinePayload for Mapping {
    fn check(&self, earlier: &mut Checker) -> Result<(), String> {
        earlier.registration()?;
        let tried = FieldMapping {
            field: self.field.clone(),
            aliases: self.aliases.clone(),
        };
        let set = ExtractorSet::new(&[], &[tried]);
        set.map_err(|invalid| invalid.to_string())?;
        one_more(&mut earlier.mapped, &self.field, "field mappings")
    }

    fn import(self, _: &mut SessionImportBuilder<'_>) -> Result<Option<Parts>, Refusal> {
        let body: FieldMappingRegistered = self.mirror();
        let event = StepEvent::MappingRegistered.into();
        Ok(Some((event, codec::encode(&body))))
    }
}
