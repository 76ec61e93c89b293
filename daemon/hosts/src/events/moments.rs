//! Which moment an event is.

use serde_json::Value;

use super::EventKind;
use crate::fields::text;
use crate::host::Host;
use crate::maker::Maker;
use crate::observation::{Author, Observed};
use crate::{Delivery, Moment};

/// Returns the moment at which the answer to an event reaches the model, and the moment whose text has to go with the
/// next prompt.
pub fn of(
    host: Host,
    kind: EventKind,
    value: &Value,
    maker: &Maker,
) -> (Option<Moment>, Option<Moment>) {
    let Some(moment) = named(host, kind, value, maker) else {
        return (None, None);
    };
    let is_lost = host == Host::GeminiCli
        && kind == EventKind::SessionStart
        && text(value, &["source"]) == Some("clear");
    if host.carries(kind) && !is_lost {
        return (Some(moment), None);
    }
    let is_owed = matches!(moment, Moment::Start | Moment::AfterCompaction)
        && host.carries(EventKind::Prompt);
    (None, is_owed.then_some(moment))
}

/// Returns the moment that an event is, whether or not its answer reaches the model.
fn named(host: Host, kind: EventKind, value: &Value, maker: &Maker) -> Option<Moment> {
    match kind {
        EventKind::SessionStart if text(value, &["source"]) == Some("compact") => {
            Some(Moment::AfterCompaction)
        }
        // A subagent's session gets its text when the subagent starts.
        EventKind::SessionStart if maker.source.parent_session.is_none() => Some(Moment::Start),
        EventKind::CompactionStart => {
            let is_last_chance = host.reaches(Moment::AfterCompaction) == Delivery::NextPrompt
                || host.carries(EventKind::CompactionStart);
            let is_compaction = !maker.made.is_empty();
            (is_last_chance && is_compaction).then_some(Moment::AfterCompaction)
        }
        EventKind::Prompt => maker.made.iter().find_map(|observation| {
            let is_from_user = matches!(
                observation.what,
                Observed::Prompt {
                    author: Author::User,
                    ..
                }
            );
            is_from_user.then_some(Moment::Prompt)
        }),
        EventKind::ToolStart => maker
            .made
            .iter()
            .find_map(|observation| match &observation.what {
                Observed::ToolStarted(call) if !call.edits.is_empty() => Some(Moment::BeforeEdit),
                _ => None,
            }),
        EventKind::ToolEnd | EventKind::ToolFailure => {
            maker
                .made
                .iter()
                .find_map(|observation| match &observation.what {
                    Observed::ToolFailed(call, outcome)
                        if !outcome.is_interrupted && !call.is_own =>
                    {
                        Some(Moment::ToolFailed)
                    }
                    _ => None,
                })
        }
        EventKind::SubagentStart => maker
            .source
            .agent
            .is_some()
            .then_some(Moment::BeforeSubagent),
        _ => None,
    }
}
