//! One event of every project kind, in every shape of its fields, and a pack that cites a context file.

use lored::log::{EncodedEvent, EventKind};
use lored::projects::{
    Change, ContextWritten, DraftMeta, DraftSaved, ProjectInitialised, ProjectShared, ShareAccess,
    VersionMeta, WorktreeSeen,
};
use lored::steps::Text;

use super::{Events, talk};

/// Returns the kinds in the order of their introduction.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let mut events = Events::new(12, None, "shop-12345678");
    let made = ProjectInitialised {
        git: Vec::new(),
        name: "My Shop ä".to_owned(),
        path: "/srv/My Shop ä".to_owned(),
    };
    let recorded = |branch: Option<&str>| WorktreeSeen {
        path: "/srv/fix".to_owned(),
        branch: branch.map(str::to_owned),
    };
    events.add_meta("project_initialised", EventKind::ProjectInitialised, &made);
    for (name, branch) in [
        ("worktree_noted", Some("fix/tax")),
        ("worktree_noted_least", None),
    ] {
        events.add_meta(name, EventKind::WorktreeNoted, &recorded(branch));
    }
    written(&mut events);
    let content = Text::Inline("# Bugs\r\n".to_owned());
    let drafted = DraftMeta {
        is_entry: false,
        file_type: "bugs".to_owned(),
        attempt: 2,
        blobs: Vec::new(),
    };
    let kind = EventKind::ContextDrafted;
    events.add("context_drafted", kind, &drafted, &DraftSaved { content });
    let with_blob = DraftMeta {
        is_entry: false,
        blobs: vec![[8; 32].into()],
        ..drafted
    };
    let body = DraftSaved { content: blob() };
    events.add("context_drafted_with_blob", kind, &with_blob, &body);
    let pack = talk::pack_of_files();
    events.add_meta("pack_made_of_files", EventKind::PackMade, &pack);
    for (name, access) in [
        ("project_shared", Some(ShareAccess::Write)),
        ("project_shared_no_more", None),
    ] {
        let shared = ProjectShared { user: 1001, access };
        events.add_meta(name, EventKind::ProjectShared, &shared);
    }
    events.found
}

fn blob() -> Text {
    Text::Blob {
        blob: [8; 32],
        bytes: 70_000,
    }
}

/// Adds a version for every kind of change.
fn written(events: &mut Events) {
    let least = |change| VersionMeta {
        conflicts: Vec::new(),
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
        suspect: Vec::new(),
        blobs: Vec::new(),
    };
    let edited = VersionMeta {
        version: 9,
        errors: 3,
        warnings: 2,
        attempt: 0,
        base: Some(7),
        beside: Some(8),
        suspect: Vec::new(),
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
    for (name, meta, content, reason) in shapes {
        let reason = reason.map(str::to_owned);
        let body = ContextWritten { content, reason };
        events.add(name, EventKind::ContextWritten, &meta, &body);
    }
}
