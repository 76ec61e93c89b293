//! Parser of variable names, such as `ID_FROM_STEP_2`, into a closed set of forms.

use super::extract::ExtractorSet;
use super::words;
use std::fmt;

/// Highest step number.
pub const STEP_MAX: u32 = 1_000_000;

/// Maximum length of a name, in bytes.
pub const NAME_BYTES_MAX: usize = 256;

const FROM_STEP: &str = "_FROM_STEP_";
const FROM_STEPS: &str = "_FROM_STEPS_";
const COMBINED: &str = "COMBINED_RESULTS";

/// A parsed variable name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// `FIELD_FROM_STEP_N`, `FIELD_FROM_STEP_N_TYPE` and both legacy forms.
    Field {
        /// Field name, as written.
        field: String,
        /// Step.
        step: StepRef,
        /// Required type, by its name in the set.
        of: Option<String>,
    },
    /// `RESULT_FROM_STEP_N`.
    Result {
        /// Step.
        step: StepRef,
    },
    /// `ALL_FIELDS_FROM_STEP_N`.
    All {
        /// Field name, plural or singular, as written.
        field: String,
        /// Step.
        step: StepRef,
        /// Required type of the values.
        of: Option<String>,
    },
    /// `COUNT_FROM_STEP_N`.
    Count {
        /// Step.
        step: StepRef,
    },
    /// `COMBINED_RESULTS_FROM_STEPS_A_TO_B`.
    Combined {
        /// First step.
        from: StepRef,
        /// Last step.
        to: StepRef,
    },
}

/// A reference to a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRef {
    /// A step number, from 1 to [`STEP_MAX`].
    Number(u32),
    /// The newest step.
    Last,
    /// The step before the current one; without a current step, the newest.
    Previous,
}

/// The text is not a variable name. The message suggests a valid form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(pub String);

/// Parses a variable name.
///
/// Braces, backticks and a trailing note in parentheses are removed. Case does not matter.
///
/// # Errors
/// [`NameError`] when the text is not a variable name, with a message that suggests a valid form.
pub fn parse(text: &str, set: &ExtractorSet) -> Result<Name, NameError> {
    let name = bare(text);
    if name.len() > NAME_BYTES_MAX {
        return Err(NameError(format!(
            "a name has at most {NAME_BYTES_MAX} bytes, this one has {}",
            name.len()
        )));
    }
    if let Some((head, range)) = split_at(name, FROM_STEPS) {
        return combined(head, range);
    }
    let Some((field, rest)) = split_at(name, FROM_STEP) else {
        return Err(NameError(format!(
            "`{name}` is not a variable: write FIELD_FROM_STEP_N, for example ID_FROM_STEP_2"
        )));
    };
    if split_at(rest, FROM_STEP).is_some() {
        return Err(NameError(format!(
            "`{name}` names two steps: write one name for each"
        )));
    }
    if words::normal_chars(field).next().is_none() {
        return Err(NameError(format!(
            "`{name}` names no field: write what you want before {FROM_STEP}, for example ID{name}"
        )));
    }
    let (step, suffix) = match rest.split_once('_') {
        Some((step, suffix)) => (step, Some(suffix)),
        None => (rest, None),
    };
    let step = step_ref(step)?;
    match suffix {
        None => Ok(of_field(field, step, None)),
        Some(suffix) => with_suffix(field, step, suffix, set),
    }
}

/// Removes braces, backticks and a trailing note in parentheses around a name.
#[must_use]
pub fn bare(text: &str) -> &str {
    let mut name = text.trim();
    loop {
        let before = name;
        if let Some(inner) = name.strip_suffix(')').filter(|_| !name.starts_with('(')) {
            name = inner
                .split_once('(')
                .map_or(name, |(name, _)| name.trim_end());
        }
        for (open, close) in [('{', '}'), ('`', '`')] {
            let inner = name
                .strip_prefix(open)
                .and_then(|rest| rest.strip_suffix(close));
            name = inner.map_or(name, str::trim);
        }
        if name == before {
            return name;
        }
    }
}

/// Splits at an ASCII word, ignoring case.
fn split_at<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let at = text
        .as_bytes()
        .windows(word.len())
        .position(|window| window.eq_ignore_ascii_case(word.as_bytes()))?;
    Some((text.get(..at)?, text.get(at + word.len()..)?))
}

fn combined(head: &str, range: &str) -> Result<Name, NameError> {
    if !head.eq_ignore_ascii_case(COMBINED) {
        return Err(NameError(format!(
            "only results are combined: write {COMBINED}{FROM_STEPS}1_TO_3, or {head}{FROM_STEP}1 for one step"
        )));
    }
    let Some((from, to)) = split_at(range, "_TO_") else {
        return Err(NameError(format!(
            "`{range}` is not a range of steps: write {COMBINED}{FROM_STEPS}1_TO_3"
        )));
    };
    let (from, to) = (step_ref(from)?, step_ref(to)?);
    match (from, to) {
        (StepRef::Number(first), StepRef::Number(last)) if first > last => Err(NameError(format!(
            "the range goes backwards: write {COMBINED}{FROM_STEPS}{last}_TO_{first}"
        ))),
        (from, to) => Ok(Name::Combined { from, to }),
    }
}

fn step_ref(text: &str) -> Result<StepRef, NameError> {
    if text.eq_ignore_ascii_case("LAST") {
        return Ok(StepRef::Last);
    }
    if text.eq_ignore_ascii_case("PREVIOUS") {
        return Ok(StepRef::Previous);
    }
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number @ 1..=STEP_MAX) if is_number => Ok(StepRef::Number(number)),
        _ => Err(NameError(format!(
            "`{text}` is not a step: write a number from 1 to {STEP_MAX}, LAST or PREVIOUS"
        ))),
    }
}

/// Returns the name of a field that has no suffix after the step.
fn of_field(field: &str, step: StepRef, of: Option<String>) -> Name {
    let list = split_at(field, "ALL_").filter(|(head, list)| head.is_empty() && !list.is_empty());
    match list {
        Some((_, field)) => Name::All {
            field: field.to_owned(),
            step,
            of,
        },
        None if of.is_none() && field.eq_ignore_ascii_case("RESULT") => Name::Result { step },
        None if of.is_none() && field.eq_ignore_ascii_case("COUNT") => Name::Count { step },
        None => Name::Field {
            field: field.to_owned(),
            step,
            of,
        },
    }
}

/// Returns the name of a field with a suffix. The legacy forms take precedence over a type.
fn with_suffix(
    field: &str,
    step: StepRef,
    suffix: &str,
    set: &ExtractorSet,
) -> Result<Name, NameError> {
    if words::normal_chars(suffix).next().is_none() {
        return Err(NameError(format!(
            "nothing follows the `_` after the step: omit it, {field}{FROM_STEP}{step}"
        )));
    }
    if field.eq_ignore_ascii_case("RESULT") {
        return Ok(of_field(suffix, step, None));
    }
    if suffix.eq_ignore_ascii_case("RESULT") {
        return Ok(of_field(field, step, None));
    }
    match set.type_named(suffix) {
        Some(of) => Ok(of_field(field, step, Some(set.name_of(of).to_owned()))),
        None => {
            let known: Vec<&str> = set.types().map(|(name, _)| name).collect();
            Err(NameError(format!(
                "`{suffix}` is not a type: known are {}; for the field write {suffix}{FROM_STEP}{step}",
                known.join(", ")
            )))
        }
    }
}

impl fmt::Display for StepRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepRef::Number(number) => write!(f, "{number}"),
            StepRef::Last => f.write_str("LAST"),
            StepRef::Previous => f.write_str("PREVIOUS"),
        }
    }
}

/// Formats the name in its generic or typed form, which parses to the same name.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Field {
                field,
                step,
                of: None,
            } => write!(f, "{field}{FROM_STEP}{step}"),
            Name::Field {
                field,
                step,
                of: Some(of),
            } => write!(f, "{field}{FROM_STEP}{step}_{of}"),
            Name::Result { step } => write!(f, "RESULT{FROM_STEP}{step}"),
            Name::All {
                field,
                step,
                of: None,
            } => write!(f, "ALL_{field}{FROM_STEP}{step}"),
            Name::All {
                field,
                step,
                of: Some(of),
            } => write!(f, "ALL_{field}{FROM_STEP}{step}_{of}"),
            Name::Count { step } => write!(f, "COUNT{FROM_STEP}{step}"),
            Name::Combined { from, to } => write!(f, "{COMBINED}{FROM_STEPS}{from}_TO_{to}"),
        }
    }
}

#[cfg(test)]
mod tests;
