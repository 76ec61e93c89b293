//! One observation of each shape: alone, before a step, with all its fields; and a message that is to be remembered.

use lored::events::capture::{
    CapturePaused, ContentMark, ContinuedSession, Following, Observation, ObservationDetails,
    ObservationRepeated, PlannedItem, TokenUse,
};
use lored::events::trust::{Judgement, SuspicionReviewed, UndoneEvents};
use lored::log::{EncodedEvent, EventKind};
use lored::messages::{Kind, MessageMeta, MessageRecorded, RememberedKind, Sender};
use lored::steps::Text;

use super::{Events, NoFields};

/// Returns the shapes in the order of their introduction.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let mut events = Events::new(17, Some("s-1"), "p-1");
    let kind = EventKind::HostObserved;
    let alone = Observation {
        host: "claude-code".to_owned(),
        what: "start".to_owned(),
        following: None,
        joined: None,
        suspect: Vec::new(),
        mark: None,
        continues: None,
    };
    let least = ObservationDetails::default();
    events.add("host_observed", kind, &alone, &least);
    let before = Observation {
        what: "outcome".to_owned(),
        following: Some(Following::Step),
        joined: Some("process:7:8".to_owned()),
        ..alone.clone()
    };
    let text = |text: &str| Some(text.to_owned());
    let whole = ObservationDetails {
        at_ms: Some(-1),
        session: text("c-1"),
        subagent: text("a-1"),
        parent: text("s-0"),
        turn: text("t-1"),
        folder: text("/home/ada"),
        branch: None,
        text: text("why"),
        model: text("m"),
        tool: text("Bash"),
        command: text("make"),
        edits: vec!["a.rs".to_owned()],
        reads: vec!["b.rs".to_owned()],
        exit_status: Some(-9),
        duration_ms: Some(12),
        is_interrupted: true,
        is_assumed: true,
        plan: vec![PlannedItem {
            id: "1".to_owned(),
            text: "test".to_owned(),
            state: "pending".to_owned(),
        }],
        is_whole_plan: true,
        tokens: None,
        left_out: 5,
        unknown_fields: vec!["odd".to_owned()],
    };
    events.add("host_observed_before_step", kind, &before, &whole);
    let before = Observation {
        what: "prompt".to_owned(),
        following: Some(Following::Message),
        ..alone
    };
    events.add("host_observed_before_message", kind, &before, &least);
    remembered(&mut events);
    let paused = CapturePaused { until: Some(9) };
    events.add_meta("capture_paused", EventKind::CapturePaused, &paused);
    let least = CapturePaused::default();
    events.add_meta("capture_paused_least", EventKind::CapturePaused, &least);
    events.add_meta("capture_resumed", EventKind::CaptureResumed, &NoFields {});
    let start = Observation {
        following: None,
        what: "start".to_owned(),
        ..before
    };
    let on_branch = ObservationDetails {
        branch: Some("fix/cart".to_owned()),
        ..ObservationDetails::default()
    };
    events.add("host_observed_branch", kind, &start, &on_branch);
    suspicious(&mut events, start.clone());
    marked(&mut events, start);
    undone(&mut events);
    let (said, recorded) = message();
    let replacing = MessageRecorded {
        replaces: vec![3],
        ..recorded
    };
    let kind = EventKind::MessageRecorded;
    events.add("message_replacing", kind, &said, &replacing);
    events.found
}

/// An observation of a transcript, and the hook that reported the same.
fn marked(events: &mut Events, start: Observation) {
    let mark = ContentMark {
        content: u64::MAX - 1,
        at_ms: 1_780_308_000_000,
        is_transcript: true,
        has_common_id: true,
    };
    let observed = Observation {
        what: "answer".to_owned(),
        mark: Some(mark),
        ..start
    };
    let details = ObservationDetails::default();
    let kind = EventKind::HostObserved;
    events.add("host_observed_marked", kind, &observed, &details);
    let by_hook = ContentMark {
        content: 1,
        at_ms: -1,
        is_transcript: false,
        has_common_id: false,
    };
    let observed = Observation {
        mark: Some(by_hook),
        ..observed
    };
    events.add("host_observed_marked_least", kind, &observed, &details);
    let repeated = ObservationRepeated { of: 7, mark };
    events.add_meta(
        "observation_repeated",
        EventKind::ObservationRepeated,
        &repeated,
    );
    let observed = Observation {
        what: "tokens".to_owned(),
        ..observed
    };
    let tokens = |cache_read, cache_written| ObservationDetails {
        model: Some("m".to_owned()),
        tokens: Some(TokenUse {
            input: 12,
            output: 3,
            cache_read,
            cache_written,
        }),
        ..ObservationDetails::default()
    };
    events.add("host_observed_tokens", kind, &observed, &tokens(4, 5));
    events.add("host_observed_tokens_least", kind, &observed, &tokens(0, 0));
    let handoff = Observation {
        what: "handoff".to_owned(),
        mark: None,
        continues: Some(ContinuedSession {
            session: "s-0".to_owned(),
            position: 12,
        }),
        ..observed
    };
    events.add("host_observed_handoff", kind, &handoff, &details);
}

/// A suspicious plan and message, and what a person says about the message.
fn suspicious(events: &mut Events, start: Observation) {
    let plan = Observation {
        what: "plan".to_owned(),
        suspect: vec!["tools".to_owned()],
        ..start
    };
    let details = ObservationDetails::default();
    events.add(
        "host_observed_suspicious",
        EventKind::HostObserved,
        &plan,
        &details,
    );
    let (said, recorded) = message();
    let said = MessageMeta {
        remembered: None,
        suspect: vec!["override".to_owned(), "secrecy".to_owned()],
        ..said
    };
    let kind = EventKind::MessageRecorded;
    events.add("message_suspicious", kind, &said, &recorded);
    for (name, judgement) in [
        ("suspicion_accepted", Judgement::Accepted),
        ("suspicion_rejected", Judgement::Rejected),
        ("suspicion_reopened", Judgement::Open),
    ] {
        let reviewed = SuspicionReviewed {
            event: 9,
            judgement,
        };
        events.add_meta(name, EventKind::SuspicionReviewed, &reviewed);
    }
}

/// Undone and redone events.
fn undone(events: &mut Events) {
    let undone = UndoneEvents {
        ranges: vec![(4, 7), (9, 9)],
        events: 5,
    };
    events.add_meta("events_undone", EventKind::EventsUndone, &undone);
    events.add_meta("events_redone", EventKind::EventsRedone, &undone);
}

/// A message that is to be remembered.
fn remembered(events: &mut Events) {
    let (said, recorded) = message();
    let kind = EventKind::MessageRecorded;
    events.add("message_remembered", kind, &said, &recorded);
}

fn message() -> (MessageMeta, MessageRecorded) {
    let said = MessageMeta {
        id: "m-1".to_owned(),
        sender: Sender::User,
        kind: Kind::Query,
        tokens: 6,
        tools: 0,
        rules: Vec::new(),
        known_at: 0,
        mentions: Vec::new(),
        possible: Vec::new(),
        marked: Vec::new(),
        remembered: Some(RememberedKind::Decision),
        suspect: Vec::new(),
        blobs: Vec::new(),
    };
    let recorded = MessageRecorded {
        content: Text::Inline("Prices are stored in cents.".to_owned()),
        tools: Vec::new(),
        pack: None,
        quoted: Vec::new(),
        evidence: vec![4, 7],
        replaces: Vec::new(),
    };
    (said, recorded)
}
