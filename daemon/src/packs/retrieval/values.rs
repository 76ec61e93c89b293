//! Values that a message references by name, and checkpoint values for a task.

use super::SessionSnapshot;
use crate::checkpoints::{self, Latest};
use crate::error::{Code, Refusal};
use crate::events::packs::Item;
use crate::log::Position;
use crate::packs::assembly::{Value, keys_in, step_names_in};
use crate::steps;

/// Maximum number of step value names to resolve.
const NAMES_MAX: usize = 20;
/// Maximum number of values to include from one checkpoint.
const KEYS_MAX: usize = 20;

/// Returns the step values and the critical keys of the latest checkpoint that a message names.
pub fn named(
    of: &SessionSnapshot<'_>,
    message: &str,
    warnings: &mut Vec<String>,
) -> Result<Vec<Value>, Refusal> {
    let mut values = of_steps(of, message, warnings)?;
    let wanted = |key: &str| !keys_in(message, [key]).is_empty();
    if let Some(latest) = latest(of, wanted, warnings)? {
        values.extend(of_checkpoint(of, latest).take(KEYS_MAX));
    }
    Ok(values)
}

/// Returns the summary and the critical keys of the latest checkpoint; keys that the task names come first.
pub fn saved(
    of: &SessionSnapshot<'_>,
    task: &str,
    warnings: &mut Vec<String>,
) -> Result<Vec<Value>, Refusal> {
    let Some(mut latest) = latest(of, |_| true, warnings)? else {
        return Ok(Vec::new());
    };
    latest
        .values
        .sort_by_key(|(key, _)| keys_in(task, [key.as_str()]).is_empty());
    let summary = latest.summary.take().map(|text| {
        let json = serde_json::Value::from(text).to_string();
        ("summary".to_owned(), json)
    });
    latest.values.splice(0..0, summary);
    Ok(of_checkpoint(of, latest).take(KEYS_MAX).collect())
}

fn of_steps(
    of: &SessionSnapshot<'_>,
    message: &str,
    warnings: &mut Vec<String>,
) -> Result<Vec<Value>, Refusal> {
    let words = step_names_in(message, NAMES_MAX, |_| true);
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = Vec::new();
    for resolution in steps::resolved(of.cx, of.state, of.session, words)? {
        let name = resolution.name;
        match (resolution.step, resolution.attempt, resolution.position) {
            (Some(step), Some(attempt), Some(position)) if resolution.strategy.is_some() => {
                values.push(Value {
                    source: of.source(Item::Step { step, attempt }, Position(position)),
                    name,
                    origin: format!("step {step}"),
                    json: resolution.value.to_string(),
                });
            }
            _ => {
                let why = resolution.message.unwrap_or_default();
                warnings.push(format!("`{name}` stands for nothing: {why}"));
            }
        }
    }
    Ok(values)
}

/// Loads the latest checkpoint. A damaged one is reported as a warning and skipped.
fn latest(
    of: &SessionSnapshot<'_>,
    wanted: impl Fn(&str) -> bool,
    warnings: &mut Vec<String>,
) -> Result<Option<Latest>, Refusal> {
    match checkpoints::latest(of.cx, of.state, of.session, wanted) {
        Err(refusal) if refusal.code == Code::Corrupt => {
            warnings.push(refusal.message);
            Ok(None)
        }
        found => found,
    }
}

fn of_checkpoint(of: &SessionSnapshot<'_>, latest: Latest) -> impl Iterator<Item = Value> {
    let id = latest.checkpoint.to_string();
    let source = of.source(Item::Checkpoint(id.clone()), latest.position);
    latest.values.into_iter().map(move |(name, json)| Value {
        source: source.clone(),
        name,
        origin: format!("checkpoint {id}"),
        json,
    })
}
