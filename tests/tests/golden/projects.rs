//! One event of every project kind, in every shape of its fields, and a pack that cites a context file.

use lored::clock::Clock;
use lored::log::{Body, EncodedEvent, EventKind, codec};
use lored::projects::{
    Change, ContextWritten, DraftMeta, DraftSaved, ProjectInitialised, ProjectShared, ShareAccess,
    VersionMeta, WorktreeSeen,
};
use lored::steps::Text;
use serde::Serialize;

use super::talk;

fn event(kind: EventKind, fact: &impl Serialize, body: Vec<u8>, clock: &Clock) -> EncodedEvent {
    EncodedEvent {
        kind,
        session: None,
        project: Some("shop-12345678".to_owned()),
        meta: codec::encode(fact),
        body: Body::new(body, clock.random()),
        origin: None,
    }
}

/// Returns the kinds in the order of their introduction.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let clock = Clock::fixed(super::TIME, 12);
    let made = ProjectInitialised {
        name: "My Shop ä".to_owned(),
        path: "/srv/My Shop ä".to_owned(),
    };
    let recorded = |branch: Option<&str>| WorktreeSeen {
        path: "/srv/fix".to_owned(),
        branch: branch.map(str::to_owned),
    };
    let empty = || codec::EMPTY.to_vec();
    let initialised = event(EventKind::ProjectInitialised, &made, empty(), &clock);
    let mut found = vec![("project_initialised", initialised)];
    for (name, branch) in [
        ("worktree_noted", Some("fix/tax")),
        ("worktree_noted_least", None),
    ] {
        let worktree = event(EventKind::WorktreeNoted, &recorded(branch), empty(), &clock);
        found.push((name, worktree));
    }
    found.extend(written(&clock));
    let content = Text::Inline("# Bugs\r\n".to_owned());
    let drafted = DraftMeta {
        file_type: "bugs".to_owned(),
        attempt: 2,
        blobs: Vec::new(),
    };
    let body = codec::encode(&DraftSaved { content });
    let least = event(EventKind::ContextDrafted, &drafted, body, &clock);
    found.push(("context_drafted", least));
    let with_blob = DraftMeta {
        blobs: vec![[8; 32].into()],
        ..drafted
    };
    let body = codec::encode(&DraftSaved { content: blob() });
    let with_blob = event(EventKind::ContextDrafted, &with_blob, body, &clock);
    found.push(("context_drafted_with_blob", with_blob));
    let pack = event(EventKind::PackMade, &talk::pack_of_files(), empty(), &clock);
    found.push(("pack_made_of_files", pack));
    for (name, access) in [
        ("project_shared", Some(ShareAccess::Write)),
        ("project_shared_no_more", None),
    ] {
        let shared = ProjectShared { user: 1001, access };
        found.push((
            name,
            event(EventKind::ProjectShared, &shared, empty(), &clock),
        ));
    }
    found
}

fn blob() -> Text {
    Text::Blob {
        blob: [8; 32],
        bytes: 70_000,
    }
}

/// Returns a version for every kind of change.
fn written(clock: &Clock) -> Vec<(&'static str, EncodedEvent)> {
    let least = |change| VersionMeta {
        file_type: "bugs".to_owned(),
        version: 1,
        change,
        hash: [7; 32].into(),
        bytes: 8,
        errors: 0,
        warnings: 0,
        attempt: 1,
        base: None,
        beside: None,
        blobs: Vec::new(),
    };
    let edited = VersionMeta {
        version: 9,
        errors: 3,
        warnings: 2,
        attempt: 0,
        base: Some(7),
        beside: Some(8),
        blobs: vec![[8; 32].into()],
        bytes: 70_000,
        ..least(Change::Edited)
    };
    let inline = || Some(Text::Inline("# Bugs\r\n".to_owned()));
    let shapes = [
        ("context_updated", least(Change::Updated), inline(), None),
        ("context_appended", least(Change::Appended), inline(), None),
        ("context_edited", edited, Some(blob()), None),
        ("context_merged", least(Change::Merged), inline(), None),
        (
            "context_cleared",
            least(Change::Cleared),
            None,
            Some("too old"),
        ),
    ];
    shapes
        .into_iter()
        .map(|(name, fact, content, reason)| {
            let reason = reason.map(str::to_owned);
            let body = codec::encode(&ContextWritten { content, reason });
            (name, event(EventKind::ContextWritten, &fact, body, clock))
        })
        .collect()
}
