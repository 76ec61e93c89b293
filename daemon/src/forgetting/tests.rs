//! Tests of forgetting through the daemon's operations: counts and limits.

use std::path::Path;
use std::sync::Arc;

use lore::protocol::Args;
use serde_json::{Value, json};

use super::select::{ForgetSelector, Rule, Selection, SelectionContext};
use crate::api::TABLE;
use crate::checkpoints;
use crate::config::Config;
use crate::daemon::Daemon;
use crate::daemon::tests::paths;
use crate::error::{Code, Refusal};
use crate::log::{Hash, Log};
use crate::log_admin::RetentionOutcome;
use crate::operation::{Caller, Context};

async fn answer(cx: &Arc<Context>, name: &str, args: Value) -> Result<Value, Refusal> {
    let args = Args::Json(args.to_string().into_bytes());
    let operation = TABLE.get(name).unwrap();
    let called = operation.call(Arc::clone(cx), Caller::default(), args);
    Ok(serde_json::from_str(called.await?.json.get()).unwrap())
}

/// Calls an operation that succeeds.
pub(crate) async fn call(cx: &Arc<Context>, name: &str, args: Value) -> Value {
    answer(cx, name, args).await.unwrap()
}

pub(super) fn opened(folder: &Path) -> Daemon {
    Daemon::open(&Config::new(), &paths(folder)).unwrap()
}

/// Returns a text of this length that compression cannot shorten to less than half.
fn text(seed: u8, bytes: usize) -> String {
    let mut hash = Hash::of(&[seed]);
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str(&hash.to_string());
        hash = Hash::of(&hash.0);
    }
    text
}

/// Returns the size on disk of all checkpoints' objects.
fn stored(cx: &Context) -> u64 {
    let published = cx.engine.published().unwrap();
    let objects = checkpoints::objects_in_use(&published.snapshot).unwrap();
    let rows = objects.iter();
    let rows = rows.map(|hash| checkpoints::decided::object(&published.snapshot, hash));
    rows.map(|row| row.unwrap().unwrap().stored_bytes).sum()
}

/// Selects with a given limit on events folded again, and returns the result of a function on the selection.
fn examine<R>(
    cx: &Context,
    events_max: usize,
    selector: &ForgetSelector,
    then: impl Fn(&SelectionContext<'_>, Selection) -> R,
) -> R {
    let published = cx.engine.published().unwrap();
    let looking = SelectionContext {
        rows: &published.snapshot,
        event_lookup: &Log::new(&published.snapshot),
        blobs: Some(&cx.blobs),
        looked_at: &|_| None,
        examined: None,
        now: cx.engine.clock().now(),
        events_max,
    };
    let selected = looking.select(selector, published.tail.position).unwrap();
    then(&looking, selected)
}

/// Content shared only by sessions that are forgotten together is counted; content shared with a session that stays
/// is not.
#[tokio::test]
async fn what_is_shared_by_those_that_go_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = opened(folder.path());
    let cx = daemon.context().unwrap();
    let context = json!({"large": text(1, 1_000_000)});
    for (session, project) in [("a", "p"), ("b", "p"), ("c", "q"), ("d", "q"), ("e", "r")] {
        call(
            cx,
            "create_session",
            json!({"session": session, "project": project}),
        )
        .await;
        let context = match project {
            "p" => context.clone(),
            _ => json!({"large": text(2, 1_000_000)}),
        };
        let save = json!({"sessionId": session, "context": context});
        call(cx, "workflow_checkpoint_save", save).await;
        let result = if project == "p" {
            text(3, 200_000)
        } else {
            text(4, 200_000)
        };
        let step = json!({"session": session, "tool": "t", "result": result});
        call(cx, "record_step", step).await;
    }
    let before = stored(cx);
    assert!(before > 1_000_000, "{before}");
    let alone = call(
        cx,
        "forget_session",
        json!({"session": "a", "dry_run": true}),
    )
    .await;
    assert!(alone["bytes"].as_u64().unwrap() < 100_000, "{alone}");
    let reported = call(cx, "forget", json!({"project": "p"})).await;
    let freed = before - stored(cx);
    let bytes = reported["bytes"].as_u64().unwrap();
    assert!(
        freed >= 500_000 && bytes > freed + 100_000,
        "{freed}: {reported}"
    );
    let reported = call(cx, "forget", json!({"project": "q"})).await;
    assert!(reported["bytes"].as_u64().unwrap() < 100_000, "{reported}");
}

/// Objects of forgotten checkpoints are counted when their session stays; objects of remaining checkpoints are not.
#[tokio::test]
async fn the_objects_of_checkpoints_that_go_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = opened(folder.path());
    let cx = daemon.context().unwrap();
    call(cx, "create_session", json!({"session": "s"})).await;
    for (agent, kept) in [("ada", 1), ("scraper", 1), ("scraper", 2)] {
        let context = json!({"large": text(kept, 600_000)});
        let save = json!({"sessionId": "s", "context": context, "agent": agent});
        call(cx, "workflow_checkpoint_save", save).await;
    }
    let before = stored(cx);
    let reported = call(cx, "forget", json!({"of_agent": "scraper"})).await;
    let freed = before - stored(cx);
    let bytes = reported["bytes"].as_u64().unwrap();
    assert!(
        freed >= 300_000 && freed < before / 2 + 10_000,
        "{freed} of {before}"
    );
    assert!(
        bytes > freed && bytes < freed + 10_000,
        "{freed}: {reported}"
    );
}

/// An agent's sessions are forgotten while another agent begins to record in them: every acknowledged event of the
/// other agent remains, and the call completes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_meanwhile_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = opened(folder.path());
    let cx = daemon.context().unwrap();
    let sessions = ["a", "b", "c", "d"];
    let step = |session: &str, agent: &str| json!({"session": session, "tool": "t", "result": agent, "agent": agent});
    for session in sessions {
        let create = json!({"session": session, "agent": "scraper"});
        call(cx, "create_session", create).await;
        for _ in 0..20 {
            call(cx, "record_step", step(session, "scraper")).await;
        }
    }
    let forget = async { call(cx, "forget", json!({"of_agent": "scraper"})).await };
    let record = async {
        let mut acknowledged = Vec::new();
        for session in sessions {
            match answer(cx, "record_step", step(session, "ada")).await {
                Ok(_) => acknowledged.push(session),
                Err(refusal) => assert_eq!(refusal.code, Code::SessionNotFound, "{refusal}"),
            }
        }
        acknowledged
    };
    let (reported, acknowledged) = tokio::join!(forget, record);
    assert_eq!(
        reported["events"],
        4 * 21 - acknowledged.len() as u64,
        "{reported}"
    );
    for session in acknowledged {
        let left = call(cx, "list_steps", json!({"session": session})).await;
        assert_eq!(left["steps"].as_array().unwrap().len(), 1, "{left}");
    }
}

/// A reply reports all content that stays.
#[tokio::test]
async fn what_stays_is_not_denied() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = opened(folder.path());
    let cx = daemon.context().unwrap();
    let put = json!({"name": "a.md", "text": "first", "agent": "scraper"});
    let put = call(cx, "put_document", put).await;
    let reported = call(cx, "forget", json!({"of_agent": "scraper"})).await;
    let document = put["document"].as_str().unwrap();
    assert!(
        reported["kept"][0].as_str().unwrap().contains(document),
        "{reported}"
    );
    assert!(
        reported["warnings"][0].as_str().unwrap().contains("`kept`"),
        "{reported}"
    );
    call(cx, "remove_document", json!({"document": document})).await;
    let reported = call(cx, "forget", json!({"of_agent": "scraper"})).await;
    assert_eq!(
        (&reported["documents"], &reported["kept"]),
        (&json!(1), &Value::Null),
        "{reported}"
    );
}

/// No part can be forgotten of a stream that is too long to be folded again, and the refusal names alternatives. A
/// removed source is forgotten whole, however long it is. The status reports content that a rule cannot forget.
#[tokio::test]
async fn what_is_long_goes_whole() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = opened(folder.path());
    let cx = daemon.context().unwrap();
    let added = call(cx, "add_source", json!({"path": "notes", "sent": true})).await;
    let source = added["source"].as_str().unwrap().to_owned();
    call(cx, "create_session", json!({"session": "s"})).await;
    for number in 0..6 {
        let text = format!("text {number}");
        let put = json!({"source": source, "name": "a.md", "text": text, "agent": "scraper"});
        call(cx, "put_document", put).await;
        let step = json!({"session": "s", "tool": "t", "result": text, "agent": "scraper"});
        call(cx, "record_step", step).await;
    }
    let of_agent = ForgetSelector {
        of_agent: Some("scraper".to_owned()),
        ..ForgetSelector::default()
    };
    examine(cx, 3, &of_agent, |looking, selected| {
        let kept = selected.kept.iter();
        let kept: Vec<&String> = kept.filter(|why| why.contains("by `origin`")).collect();
        assert!(
            kept.len() == 1 && kept[0].contains(&source),
            "{:?}",
            selected.kept
        );
        let refused = looking.check(&selected).unwrap_err();
        assert_eq!(refused.code, Code::InvalidInput);
        assert!(refused.message.contains("the session `s`"), "{refused}");
        assert!(refused.hint.unwrap().plain().contains("alone"));
    });
    examine(cx, usize::MAX, &of_agent, |looking, selected| {
        assert_eq!(selected.parts.len(), 2);
        looking.check(&selected).unwrap();
    });
    let session = ForgetSelector {
        session: Some("s".to_owned()),
        ..ForgetSelector::default()
    };
    examine(cx, 3, &session, |looking, selected| {
        looking.check(&selected).unwrap()
    });
    let rule = ForgetSelector {
        rule: Some((Rule::DocumentsReplaced, cx.engine.clock().now() + 1)),
        ..ForgetSelector::default()
    };
    examine(cx, 3, &rule, |looking, selected| {
        let first = looking.first_of(selected, 10).unwrap();
        assert!(
            first.is_empty() && first.kept[0].contains(&source),
            "{:?}",
            first.kept
        );
        let retained = cx.extensions.get::<RetentionOutcome>().unwrap();
        retained.leave_out(first.kept);
    });
    let status = call(cx, "status", json!({})).await;
    let warnings = status["warnings"].to_string();
    assert!(
        warnings.contains("not obeyed") && warnings.contains(&source),
        "{status}"
    );

    call(cx, "remove_source", json!({"source": source})).await;
    let removed = ForgetSelector {
        origin: Some(super::origin::ContentOrigin::Source(source.clone())),
        ..ForgetSelector::default()
    };
    examine(cx, 3, &removed, |looking, selected| {
        assert!(selected.parts[0].is_whole && selected.parts[0].positions.len() > 3);
        looking.check(&selected).unwrap();
    });
    let reported = call(cx, "forget", json!({"origin": format!("source:{source}")})).await;
    assert_eq!(reported["sources"], 1, "{reported}");
}
