//! One event of every document kind, in every shape of its fields, and a pack that cites a document.

use lored::clock::Clock;
use lored::documents::events::{
    DocumentIngested, DocumentMeta, DocumentRemoved, DocumentRestatted, FileFailed,
    IngestFailureCleared, PartAdded, PartMeta, SourceAdded, TextPart,
};
use lored::documents::sources::FileFingerprint;
use lored::log::{Body, EncodedEvent, EventKind, codec};
use lored::steps::Text;
use serde::Serialize;

use super::talk;

fn event(kind: EventKind, fact: &impl Serialize, body: Vec<u8>, clock: &Clock) -> EncodedEvent {
    EncodedEvent {
        kind,
        session: None,
        project: Some("source-0123456789abcdef".to_owned()),
        meta: codec::encode(fact),
        body: Body::new(body, clock.random()),
        origin: None,
    }
}

/// Returns the kinds in the order of their introduction.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let clock = Clock::fixed(super::TIME, 13);
    let empty = || codec::EMPTY.to_vec();
    let document = || "doc-0123456789abcdef".to_owned();
    let stamp = FileFingerprint {
        bytes: 70_000,
        mtime: i64::MIN,
        inode: 9,
    };
    let mut found = sources(&clock);
    found.extend(taken(&clock, stamp));
    let continued = PartMeta {
        document: document(),
        title: "Ä title".to_owned(),
        first_chunk: 40,
        blobs: vec![[8; 32].into()],
    };
    let body = codec::encode(&PartAdded {
        part: part(blob(), 4000),
    });
    found.push((
        "document_continued",
        event(EventKind::DocumentContinued, &continued, body, &clock),
    ));
    let touched = DocumentRestatted {
        document: document(),
        stamp: FileFingerprint { mtime: 7, ..stamp },
    };
    found.push((
        "document_touched",
        event(EventKind::DocumentTouched, &touched, empty(), &clock),
    ));
    let failed = FileFailed {
        path: "broken.pdf".to_owned(),
        reason: "it is encrypted".to_owned(),
        stamp,
    };
    found.push((
        "file_failed",
        event(EventKind::FileFailed, &failed, empty(), &clock),
    ));
    let gone = IngestFailureCleared {
        path: "broken.pdf".to_owned(),
    };
    found.push((
        "failure_gone",
        event(EventKind::FailureGone, &gone, empty(), &clock),
    ));
    let gone = DocumentRemoved {
        document: document(),
    };
    found.push((
        "document_gone",
        event(EventKind::DocumentGone, &gone, empty(), &clock),
    ));
    let removed = event(
        EventKind::SourceRemoved,
        &serde_json::json!({}),
        empty(),
        &clock,
    );
    found.push(("source_removed", removed));
    let pack = event(
        EventKind::PackMade,
        &talk::pack_of_documents(),
        empty(),
        &clock,
    );
    found.push(("pack_made_of_documents", pack));
    let sent = SourceAdded {
        path: "sent".to_owned(),
        sent: true,
        ..SourceAdded::default()
    };
    found.push((
        "source_added_sent",
        event(EventKind::SourceAdded, &sent, empty(), &clock),
    ));
    found
}

fn sources(clock: &Clock) -> Vec<(&'static str, EncodedEvent)> {
    let whole = SourceAdded {
        path: "/srv/docs ä".to_owned(),
        context_id: Some("WI-1".to_owned()),
        context_name: Some("Work".to_owned()),
        category: Some("technical".to_owned()),
        tags: vec!["red".to_owned()],
        include: vec!["*.md".to_owned()],
        exclude: vec!["old/".to_owned()],
        watch: true,
        sent: false,
    };
    let least = SourceAdded {
        path: "/srv/one.md".to_owned(),
        ..SourceAdded::default()
    };
    let shapes = [("source_added", whole), ("source_added_least", least)];
    shapes
        .map(|(name, fact)| {
            let body = codec::EMPTY.to_vec();
            (name, event(EventKind::SourceAdded, &fact, body, clock))
        })
        .into()
}

fn taken(clock: &Clock, stamp: FileFingerprint) -> Vec<(&'static str, EncodedEvent)> {
    let least = DocumentMeta {
        document: "doc-0123456789abcdef".to_owned(),
        path: "sub/a.md".to_owned(),
        stamp,
        hash: [7; 32].into(),
        file_type: "md".to_owned(),
        title: "Ä title".to_owned(),
        context_id: "sub".to_owned(),
        context_name: "sub".to_owned(),
        chunks: 2,
        parts: 1,
        text_bytes: 20,
        ..DocumentMeta::default()
    };
    let whole = DocumentMeta {
        category: Some("legal".to_owned()),
        tags: vec!["red".to_owned(), "md".to_owned()],
        custom: Some("{\"pages\":12}".to_owned()),
        parts: 2,
        text_bytes: 70_000,
        blobs: vec![[8; 32].into()],
        ..least.clone()
    };
    let inline = DocumentIngested {
        part: part(Text::Inline("One. Two.".to_owned()), 0),
        warnings: Vec::new(),
    };
    let beside = DocumentIngested {
        part: part(blob(), 0),
        warnings: vec!["line 3: it ends in the middle".to_owned()],
    };
    vec![
        (
            "document_taken",
            event(
                EventKind::DocumentTaken,
                &least,
                codec::encode(&inline),
                clock,
            ),
        ),
        (
            "document_taken_with_blob",
            event(
                EventKind::DocumentTaken,
                &whole,
                codec::encode(&beside),
                clock,
            ),
        ),
    ]
}

fn part(text: Text, start: u64) -> TextPart {
    TextPart {
        start,
        text,
        headings: vec![Vec::new(), vec!["Head".to_owned(), "Sub".to_owned()]],
        chunks: vec![(0, 4, 0), (5, 9, 1)],
    }
}

fn blob() -> Text {
    Text::Blob {
        blob: [8; 32],
        bytes: 70_000,
    }
}
