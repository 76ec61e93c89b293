//! Converts validations and guidance to the protocol.

use lore::protocol::projects::{
    CorrectionGuidance, FlawType, Severity as WireSeverity, UpdateContextReply, ValidationError,
    ValidationResult,
};

use crate::projects::guide::Guidance;
use crate::projects::validate::{Diagnostic, FlawKind, Severity, Validation};

/// Limit on a reply to a change, in bytes of JSON.
const REPLY_BYTES_MAX: usize = 4000;
/// Limits on an example and on a sentence in a reply.
const EXAMPLE_BYTES_MAX: usize = 240;
const SENTENCE_BYTES_MAX: usize = 400;

/// Shortens a reply to a change to its limit: first examples, then the fixed content, then the list of problems. What
/// is left out is counted in `more`.
pub fn fit(reply: &mut UpdateContextReply) {
    for cut in 0..=5 {
        if bytes(reply) <= REPLY_BYTES_MAX {
            return;
        }
        reduce(reply, cut);
    }
    while bytes(reply) > REPLY_BYTES_MAX {
        let errors = match reply.validation_errors.len() {
            0 => reply
                .validation_result
                .as_mut()
                .and_then(|result| result.errors.as_mut()),
            _ => Some(&mut reply.validation_errors),
        };
        let Some(errors) = errors.filter(|errors| errors.len() > 1) else {
            return;
        };
        // Warnings first, then the last ones of the text.
        let warning = errors
            .iter()
            .rposition(|one| matches!(one.severity, WireSeverity::Warning));
        errors.remove(warning.unwrap_or(errors.len() - 1));
        if let Some(result) = &mut reply.validation_result {
            *result.more.get_or_insert(0) += 1;
        }
    }
}

fn bytes(reply: &UpdateContextReply) -> usize {
    serde_json::to_string(reply).map_or(0, |json| json.len())
}

/// Makes a reply shorter, by a further step for each number.
fn reduce(reply: &mut UpdateContextReply, step: u32) {
    let results = reply
        .validation_result
        .iter_mut()
        .flat_map(|result| result.errors.iter_mut().flatten());
    let errors = reply.validation_errors.iter_mut().chain(results);
    match step {
        0 => {
            for error in errors {
                shorten(&mut error.message, SENTENCE_BYTES_MAX);
                shorten(&mut error.correction_prompt, SENTENCE_BYTES_MAX);
                shorten(&mut error.template_example, EXAMPLE_BYTES_MAX);
            }
            for warning in &mut reply.warnings {
                shorten(warning, SENTENCE_BYTES_MAX);
            }
            for problem in reply
                .earlier_issues
                .iter_mut()
                .flat_map(|one| &mut one.problems)
            {
                shorten(problem, SENTENCE_BYTES_MAX);
            }
        }
        // The guidance shows the form of the worst one.
        1 => errors.for_each(|error| shorten(&mut error.template_example, EXAMPLE_BYTES_MAX / 3)),
        2 => {
            if let Some(guidance) = &mut reply.correction_guidance {
                shorten(&mut guidance.template_to_follow, 2 * SENTENCE_BYTES_MAX);
            }
        }
        3 => {
            errors.for_each(|error| error.template_example.clear());
            if let Some(guidance) = &mut reply.correction_guidance {
                shorten(&mut guidance.template_to_follow, SENTENCE_BYTES_MAX);
            }
        }
        4 => {
            if let Some(guidance) = &mut reply.correction_guidance {
                shorten(&mut guidance.example_fix, 2 * SENTENCE_BYTES_MAX);
                // `next_steps` says the same.
                shorten(&mut guidance.retry_instructions, SENTENCE_BYTES_MAX / 2);
            }
        }
        _ => errors.for_each(|error| shorten(&mut error.correction_prompt, SENTENCE_BYTES_MAX / 4)),
    }
}

/// Cuts a text at the end of a line if one is near, else at a character.
fn shorten(text: &mut String, bytes_max: usize) {
    if text.len() <= bytes_max {
        return;
    }
    let end = text.floor_char_boundary(bytes_max);
    let line = text.get(..end).and_then(|head| head.rfind('\n'));
    text.truncate(line.filter(|line| *line > end / 2).unwrap_or(end));
    text.push('…');
}

/// Converts a validation.
pub fn validation(validation: &Validation) -> ValidationResult {
    let all = validation.error_count + validation.warning_count;
    let more = all.saturating_sub(validation.errors.len());
    ValidationResult {
        valid: validation.valid,
        errors: Some(validation.errors.iter().map(diagnostic).collect()),
        more: (more > 0).then_some(more as u64),
        // Two digits are exact: an error is 0.1, a warning 0.02.
        confidence: (validation.confidence * 100.0).round() / 100.0,
    }
}

fn diagnostic(diagnostic: &Diagnostic) -> ValidationError {
    ValidationError {
        kind: match diagnostic.kind {
            FlawKind::MissingSection => FlawType::MissingSection,
            FlawKind::FormatError => FlawType::FormatError,
            FlawKind::ContentQuality => FlawType::ContentQuality,
            FlawKind::SchemaViolation => FlawType::SchemaViolation,
        },
        section: diagnostic.section.clone(),
        line: u64::from(diagnostic.line),
        message: diagnostic.message.clone(),
        severity: match diagnostic.severity {
            Severity::Error => WireSeverity::Error,
            Severity::Warning => WireSeverity::Warning,
        },
        correction_prompt: diagnostic.correction_prompt.clone(),
        template_example: diagnostic.template_example.clone(),
    }
}

/// Converts guidance.
pub fn guidance(guidance: Guidance) -> CorrectionGuidance {
    CorrectionGuidance {
        primary_issue: guidance.primary_issue,
        step_by_step_fix: guidance.step_by_step_fix,
        template_to_follow: guidance.template_to_follow,
        example_fix: guidance.example_fix,
        retry_instructions: guidance.retry_instructions,
    }
}
