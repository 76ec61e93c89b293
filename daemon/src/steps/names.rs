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
const FROM_FAILED_STEP: &str = "_FROM_FAILED_STEP_";
const FROM_FAILED_STEPS: &str = "_FROM_FAILED_STEPS_";
const RESULT: &str = "RESULT";
const COMBINED: &str = "COMBINED_RESULTS";

/// A parsed variable name.
///
/// In each form `failed` tells whether the name takes values of a failed step as well: `…_FROM_FAILED_STEP_N`.
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
        /// Whether the step may have failed.
        failed: bool,
    },
    /// `RESULT_FROM_STEP_N`.
    Result {
        /// Step.
        step: StepRef,
        /// Whether the step may have failed.
        failed: bool,
    },
    /// `ALL_FIELDS_FROM_STEP_N`.
    All {
        /// Field name, plural or singular, as written.
        field: String,
        /// Step.
        step: StepRef,
        /// Required type of the values.
        of: Option<String>,
        /// Whether the step may have failed.
        failed: bool,
    },
    /// `COUNT_FROM_STEP_N`.
    Count {
        /// Step.
        step: StepRef,
        /// Whether the step may have failed.
        failed: bool,
    },
    /// `COMBINED_RESULTS_FROM_STEPS_A_TO_B`.
    Combined {
        /// First step.
        from: StepRef,
        /// Last step.
        to: StepRef,
        /// Whether steps of the range may have failed.
        failed: bool,
    },
}

impl Name {
    /// Returns whether the name takes values of a failed step.
    #[must_use]
    pub fn takes_failed(&self) -> bool {
        match self {
            Name::Field { failed, .. }
            | Name::Result { failed, .. }
            | Name::All { failed, .. }
            | Name::Count { failed, .. }
            | Name::Combined { failed, .. } => *failed,
        }
    }

    /// Returns the name that takes the same value of a step that failed.
    #[must_use]
    pub fn of_failed(&self, number: u32) -> Name {
        let mut name = self.clone();
        match &mut name {
            Name::Field { step, failed, .. }
            | Name::Result { step, failed }
            | Name::All { step, failed, .. }
            | Name::Count { step, failed } => (*step, *failed) = (StepRef::Number(number), true),
            Name::Combined { failed, .. } => *failed = true,
        }
        name
    }
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
/// Marks around the name and a trailing note in parentheses are removed, as [`bare`] does. Case does not matter.
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
    if let Some((head, range, failed)) = split_from(name, FROM_STEPS, FROM_FAILED_STEPS) {
        return combined(head, range, failed);
    }
    let Some((field, rest, failed)) = split_from(name, FROM_STEP, FROM_FAILED_STEP) else {
        return Err(NameError(format!(
            "`{name}` is not a variable: write FIELD_FROM_STEP_N, for example ID_FROM_STEP_2"
        )));
    };
    if split_from(rest, FROM_STEP, FROM_FAILED_STEP).is_some() {
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
    let from = FromStep {
        step: step_ref(step)?,
        failed,
    };
    match suffix {
        None => Ok(of_field(field, from, None)),
        Some(suffix) => with_suffix(field, from, suffix, set),
    }
}

/// Marks that people and models put around a name, outermost first in any order.
const MARKS: [(&str, &str); 9] = [
    ("${", "}"),
    ("{", "}"),
    ("`", "`"),
    ("**", "**"),
    ("*", "*"),
    ("<", ">"),
    ("\"", "\""),
    ("'", "'"),
    ("%", "%"),
];

/// Removes the marks around a name (`{X}`, `${X}`, `` `X` ``, `**X**`, `<X>`, quotes), a `$` before it and a trailing
/// note in parentheses.
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
        for (open, close) in MARKS {
            let inner = name
                .strip_prefix(open)
                .and_then(|rest| rest.strip_suffix(close));
            name = inner.map_or(name, str::trim);
        }
        let after_dollar = name.strip_prefix('$').filter(|rest| {
            rest.chars()
                .all(|c| c.is_alphanumeric() || "_.[]".contains(c))
        });
        name = after_dollar.unwrap_or(name);
        if name == before {
            return name;
        }
    }
}

/// Returns whether a text contains the marker of a variable.
#[must_use]
pub(super) fn has_marker(text: &str) -> bool {
    let words = ["_FROM_STEP", "_FROM_FAILED_STEP"];
    words.iter().any(|word| split_at(text, word).is_some())
}

/// Whether a text has the word that all names and placeholders have: `_FROM_`.
pub(super) fn has_from(text: &str) -> bool {
    split_at(text, "_FROM_").is_some()
}

/// Splits at the first of two markers; tells whether it is the one for failed steps.
fn split_from<'a>(
    text: &'a str,
    from: &str,
    from_failed: &str,
) -> Option<(&'a str, &'a str, bool)> {
    let plain = split_at(text, from).map(|(head, rest)| (head, rest, false));
    let failed = split_at(text, from_failed).map(|(head, rest)| (head, rest, true));
    let found = [plain, failed].into_iter().flatten();
    found.min_by_key(|(head, _, _)| head.len())
}

/// Splits at an ASCII word, ignoring case.
fn split_at<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let (bytes, word) = (text.as_bytes(), word.as_bytes());
    let first = word.first().map(u8::to_ascii_lowercase)?;
    // Most texts have none, and calls repeat them for each value of a list.
    let starts = memchr::memchr2_iter(first, first.to_ascii_uppercase(), bytes);
    let is_word = |at: &usize| {
        let found = bytes.get(*at..*at + word.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    let at = starts.into_iter().find(is_word)?;
    Some((text.get(..at)?, text.get(at + word.len()..)?))
}

fn combined(head: &str, range: &str, failed: bool) -> Result<Name, NameError> {
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
        (from, to) => Ok(Name::Combined { from, to, failed }),
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

/// The step that a name refers to, and whether it may have failed.
#[derive(Clone, Copy)]
struct FromStep {
    step: StepRef,
    failed: bool,
}

impl fmt::Display for FromStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = match self.failed {
            true => FROM_FAILED_STEP,
            false => FROM_STEP,
        };
        write!(f, "{from}{}", self.step)
    }
}

/// Returns the name of a field that has no suffix after the step.
fn of_field(field: &str, from: FromStep, of: Option<String>) -> Name {
    let FromStep { step, failed } = from;
    let list = split_at(field, "ALL_").filter(|(head, list)| head.is_empty() && !list.is_empty());
    match list {
        Some((_, field)) => Name::All {
            field: field.to_owned(),
            step,
            of,
            failed,
        },
        None if of.is_none() && field.eq_ignore_ascii_case(RESULT) => Name::Result { step, failed },
        None if of.is_none() && field.eq_ignore_ascii_case("COUNT") => Name::Count { step, failed },
        None => Name::Field {
            field: field.to_owned(),
            step,
            of,
            failed,
        },
    }
}

/// Returns the name of a field with a suffix. The legacy forms take precedence over a type.
fn with_suffix(
    field: &str,
    from: FromStep,
    suffix: &str,
    set: &ExtractorSet,
) -> Result<Name, NameError> {
    if words::normal_chars(suffix).next().is_none() {
        return Err(NameError(format!(
            "nothing follows the `_` after the step: omit it, {field}{from}"
        )));
    }
    if field.eq_ignore_ascii_case(RESULT) {
        // Not the whole result again.
        if suffix.eq_ignore_ascii_case(RESULT) {
            let FromStep { step, failed } = from;
            return Ok(Name::Field {
                field: suffix.to_owned(),
                step,
                of: None,
                failed,
            });
        }
        return Ok(of_field(suffix, from, None));
    }
    if suffix.eq_ignore_ascii_case(RESULT) {
        return Ok(of_field(field, from, None));
    }
    match set.type_named(suffix) {
        Some(of) => Ok(of_field(field, from, Some(set.name_of(of).to_owned()))),
        None => {
            let known: Vec<&str> = set.types().map(|(name, _)| name).collect();
            Err(NameError(format!(
                "`{suffix}` is not a type: known are {}; for the field write {suffix}{from}",
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
        let (list, field, step, of, failed) = match self {
            // The bare name is that of the whole result.
            Name::Field {
                field,
                step,
                of: None,
                failed,
            } if field.eq_ignore_ascii_case(RESULT) => {
                let (step, failed) = (*step, *failed);
                return write!(f, "{RESULT}{}_{field}", FromStep { step, failed });
            }
            Name::Field {
                field,
                step,
                of,
                failed,
            } => ("", field.as_str(), *step, of.as_deref(), *failed),
            Name::All {
                field,
                step,
                of,
                failed,
            } => ("ALL_", field.as_str(), *step, of.as_deref(), *failed),
            Name::Result { step, failed } => ("", "RESULT", *step, None, *failed),
            Name::Count { step, failed } => ("", "COUNT", *step, None, *failed),
            Name::Combined { from, to, failed } => {
                let steps = match failed {
                    true => FROM_FAILED_STEPS,
                    false => FROM_STEPS,
                };
                return write!(f, "{COMBINED}{steps}{from}_TO_{to}");
            }
        };
        write!(f, "{list}{field}{}", FromStep { step, failed })?;
        of.map_or(Ok(()), |of| write!(f, "_{of}"))
    }
}

#[cfg(test)]
mod tests;
