//! Converts validations and guidance to the protocol.

use lore::protocol::projects::{
    CorrectionGuidance, FlawType, Severity as WireSeverity, ValidationError, ValidationResult,
};

use crate::projects::guide::Guidance;
use crate::projects::validate::{Diagnostic, FlawKind, Severity, Validation};

/// Converts a validation.
pub fn validation(validation: &Validation) -> ValidationResult {
    let all = validation.error_count + validation.warning_count;
    let more = all.saturating_sub(validation.errors.len());
    ValidationResult {
        valid: validation.valid,
        errors: validation.errors.iter().map(diagnostic).collect(),
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
