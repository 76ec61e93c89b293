//! Retention: rules by age in days, applied by a background job as the daemon's own events.
//!
//! Every rule spares a session that is held by a lease, the tag `keep`, a checkpoint with a name or tags, or a fork
//! that stays.

use std::sync::Arc;

use super::erasure::{finish, of_daemon};
use super::forget_command::{EVENTS_MAX, Forget};
use super::select::{ExaminedSessions, ForgetSelector, Rule, Selection, SelectionContext};
use crate::clock::Micros;
use crate::error::{Code, Refusal};
use crate::events::forgetting::ContentForgotten;
use crate::log::Log;
use crate::log_admin::RetentionOutcome;
use crate::operation::{Context, blocking};
use crate::sessions::AccessTimes;

const DAY_MICROS: Micros = 24 * 3600 * 1_000_000;
/// Limit on events per commit, so that other writers get their turn between commits.
const BATCH_EVENTS: u64 = EVENTS_MAX as u64 / 4;

/// Retention periods in days; 0 means forever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Closed sessions, after their last event.
    pub closed_sessions_days: u64,
    /// Sessions that were neither written nor read.
    pub inactive_sessions_days: u64,
    /// Document texts that were replaced or removed.
    pub replaced_documents_days: u64,
    /// Large results that hooks recorded, after the last event or read of their session.
    pub captured_results_days: u64,
}

/// Default for captured results, in days: a year of ordinary use stays below 1 GB (docs/performance.md).
const CAPTURED_RESULTS_DAYS: u64 = 90;

impl Rules {
    /// Returns the rules that hold without settings: everything stays but large captured results.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            captured_results_days: CAPTURED_RESULTS_DAYS,
            ..Self::default()
        }
    }

    /// Returns whether any rule is set.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }

    /// Returns the active rules with their cut-off times.
    fn due(self, now: Micros) -> impl Iterator<Item = (Rule, Micros)> {
        let rules = [
            (Rule::SessionsClosed, self.closed_sessions_days),
            (Rule::SessionsUntouched, self.inactive_sessions_days),
            (Rule::DocumentsReplaced, self.replaced_documents_days),
            (Rule::CapturedResults, self.captured_results_days),
        ];
        let set = rules.into_iter().filter(|(_, days)| *days > 0);
        set.map(move |(rule, days)| {
            let before = now.saturating_sub(days.saturating_mul(DAY_MICROS));
            match rule {
                // By whole days: the store is compacted after each run that forgets something.
                Rule::CapturedResults => (rule, before - before % DAY_MICROS),
                Rule::SessionsClosed | Rule::SessionsUntouched | Rule::DocumentsReplaced => {
                    (rule, before)
                }
            }
        })
    }
}

/// Forgets and erases the content that the rules select at a moment; returns the totals.
pub async fn retain(
    cx: &Arc<Context>,
    rules: Rules,
    now: Micros,
) -> Result<ContentForgotten, Refusal> {
    let mut all = ContentForgotten::default();
    let mut left_out: Vec<String> = Vec::new();
    for (rule, before) in rules.due(now) {
        loop {
            let selector = ForgetSelector {
                rule: Some((rule, before)),
                ..ForgetSelector::default()
            };
            let mut selected = select(cx, selector, now).await?;
            let kept = std::mem::take(&mut selected.kept);
            if selected.is_empty() {
                left_out.extend(kept);
                break;
            }
            let command = Forget::by_rule(selected, cx.engine.clock().random());
            let outcome = match cx.write(&of_daemon(), None, 0, command).await {
                // All of it was used meanwhile; other due content waits for the next run.
                Err(refusal) if refusal.code == Code::Conflict => break,
                written => written?,
            };
            let reported = crate::forgetting::forget_command::forgotten_by(&outcome)?;
            let position = outcome.event.position();
            tracing::info!(?rule, %position, ?reported, "forgotten by a rule of retention");
            all = all.and(&reported);
        }
    }
    if let Some(retained) = cx.extensions.get::<RetentionOutcome>() {
        retained.leave_out(left_out);
    }
    if all != ContentForgotten::default() {
        if let Some(retained) = cx.extensions.get::<RetentionOutcome>() {
            retained.note(now, all.events, all.bytes);
        }
        let warnings = finish(cx).await?;
        if !warnings.is_empty() {
            tracing::warn!(?warnings, "what was forgotten is being erased");
        }
    }
    Ok(all)
}

/// Selects the next content that is due by a rule, up to the limit of one commit.
async fn select(
    cx: &Arc<Context>,
    selector: ForgetSelector,
    now: Micros,
) -> Result<Selection, Refusal> {
    let published = cx.read(None).await?;
    let cx = Arc::clone(cx);
    blocking(move || {
        let access = cx.extensions.get::<AccessTimes>();
        let looking = SelectionContext {
            rows: &published.snapshot,
            event_lookup: &Log::new(&published.snapshot),
            blobs: Some(&cx.blobs),
            looked_at: &|session| access.map(|access| access.none_since(session)),
            examined: cx.extensions.get::<ExaminedSessions>(),
            now,
            events_max: EVENTS_MAX,
        };
        let selected = looking.select(&selector, published.tail.position)?;
        looking.first_of(selected, BATCH_EVENTS)
    })
    .await
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::forgetting::tests::{call, opened};
    use crate::sessions;

    fn left(cx: &Context) -> Vec<String> {
        let published = cx.engine.published().unwrap();
        sessions::ids(&published.snapshot, 100).unwrap()
    }

    /// Each of several commits is counted by its own contents.
    #[tokio::test]
    async fn documents_are_counted_in_the_commit_that_they_go_in() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = opened(folder.path());
        let cx = daemon.context().unwrap();
        for source in ["one", "two"] {
            call(cx, "add_source", json!({"path": source, "sent": true})).await;
            for text in ["first", "second"] {
                let put = json!({"source": source, "name": "a.md", "text": text});
                call(cx, "put_document", put).await;
            }
        }
        let published = cx.engine.published().unwrap();
        let looking = SelectionContext {
            rows: &published.snapshot,
            event_lookup: &Log::new(&published.snapshot),
            blobs: Some(&cx.blobs),
            looked_at: &|_| None,
            examined: None,
            now: cx.engine.clock().now(),
            events_max: EVENTS_MAX,
        };
        let selector = ForgetSelector {
            rule: Some((Rule::DocumentsReplaced, looking.now + 1)),
            ..ForgetSelector::default()
        };
        let all = looking.select(&selector, published.tail.position).unwrap();
        assert_eq!((all.parts.len(), all.reported.documents), (2, 2));
        let both = looking.first_of(all.clone(), BATCH_EVENTS).unwrap();
        assert_eq!((both.parts.len(), both.reported.documents), (2, 2));
        let first = looking.first_of(all, 1).unwrap();
        assert_eq!((first.parts.len(), first.reported.documents), (1, 1));
    }

    /// Old sessions are forgotten whole; sessions held by a lease, a tag, a named checkpoint or a fork stay. A second
    /// run finds nothing more, and a rule of 0 days selects nothing.
    #[tokio::test]
    async fn what_is_old_and_held_by_nobody_goes() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = opened(folder.path());
        let cx = daemon.context().unwrap();
        for session in [
            "closed", "fork", "kept", "leased", "named", "open", "parent",
        ] {
            let tags = match session {
                "kept" => json!(["keep"]),
                _ => json!([]),
            };
            call(
                cx,
                "create_session",
                json!({"session": session, "tags": tags}),
            )
            .await;
            let step = json!({"session": session, "tool": "t", "result": "x"});
            call(cx, "record_step", step).await;
        }
        let lease = json!({"session": "leased", "name": "l", "ms": 600_000});
        call(cx, "lease_session", lease).await;
        let named = json!({"sessionId": "named", "context": {"a": 1}, "metadata": {"name": "n"}});
        call(cx, "workflow_checkpoint_save", named).await;
        let fork = json!({"session": "parent", "new_session": "child"});
        call(cx, "fork_session", fork).await;
        for session in ["closed", "kept", "leased", "named", "parent"] {
            call(cx, "close_session", json!({"session": session})).await;
        }
        let now = cx.engine.clock().now();
        let none = retain(cx, Rules::default(), now + 1000 * DAY_MICROS)
            .await
            .unwrap();
        assert_eq!(none, ContentForgotten::default());
        let closed = Rules {
            closed_sessions_days: 30,
            ..Rules::default()
        };
        let early = retain(cx, closed, now + 29 * DAY_MICROS).await.unwrap();
        assert_eq!(early.sessions, 0);
        // The lease has expired by then; an open fork keeps its parent.
        let reported = retain(cx, closed, now + 31 * DAY_MICROS).await.unwrap();
        assert_eq!(reported.sessions, 2);
        assert_eq!(
            left(cx),
            ["child", "fork", "kept", "named", "open", "parent"]
        );
        let again = retain(cx, closed, now + 31 * DAY_MICROS).await.unwrap();
        assert_eq!(again.sessions, 0);
        let untouched = Rules {
            inactive_sessions_days: 30,
            ..Rules::default()
        };
        let reported = retain(cx, untouched, now + 31 * DAY_MICROS).await.unwrap();
        assert_eq!(reported.sessions, 4, "the fork first, then its parent");
        assert_eq!(left(cx), ["kept", "named"]);
        let seen = cx.extensions.get::<RetentionOutcome>().unwrap().status();
        assert_eq!(seen.last, Some(now + 31 * DAY_MICROS));
        assert_eq!(seen.events, reported.events);
    }

    /// A session that is only read is not inactive, however it is read.
    #[tokio::test]
    async fn what_is_read_stays() {
        let folder = tempfile::tempdir().unwrap();
        let daemon = opened(folder.path());
        let cx = daemon.context().unwrap();
        let reads = [
            "diff_session",
            "export_session",
            "get_session",
            "list_entities",
            "list_messages",
        ];
        for session in reads.iter().chain(&["nobody"]) {
            call(cx, "create_session", json!({"session": session})).await;
        }
        let between = cx.engine.clock().now() + 1;
        for read in reads {
            let mut args = json!({"session": read});
            if read == "diff_session" {
                args["a"] = json!(1);
            }
            call(cx, read, args).await;
        }
        let untouched = Rules {
            inactive_sessions_days: 30,
            ..Rules::default()
        };
        let reported = retain(cx, untouched, between + 30 * DAY_MICROS).await;
        assert_eq!(reported.unwrap().sessions, 1);
        assert_eq!(left(cx), reads);
    }

    /// Only active rules select content, by the activity before their cut-off time.
    #[test]
    fn rules_that_are_set_are_due() {
        let rules = Rules {
            replaced_documents_days: 2,
            ..Rules::default()
        };
        let due: Vec<(Rule, Micros)> = rules.due(5 * DAY_MICROS).collect();
        assert_eq!(due, [(Rule::DocumentsReplaced, 3 * DAY_MICROS)]);
        assert!(rules.is_any() && !Rules::default().is_any());
    }
}
