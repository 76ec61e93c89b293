//! One event of every document kind, in every shape of its fields, and a pack that cites a document.

use lored::documents::events::{
    DocumentIngested, DocumentMeta, DocumentRemoved, DocumentRestatted, FileFailed,
    IngestFailureCleared, PartAdded, PartMeta, SourceAdded, TextPart,
};
use lored::documents::sources::FileFingerprint;
use lored::log::{EncodedEvent, EventKind};
use lored::steps::Text;

use super::{Events, NoFields, talk};

/// Returns the kinds in the order of their introduction.
pub fn events() -> Vec<(&'static str, EncodedEvent)> {
    let mut events = Events::new(13, None, "source-0123456789abcdef");
    let document = || "doc-0123456789abcdef".to_owned();
    let stamp = FileFingerprint {
        bytes: 70_000,
        mtime: i64::MIN,
        inode: 9,
    };
    sources(&mut events);
    taken(&mut events, stamp);
    let continued = PartMeta {
        document: document(),
        title: "Ä title".to_owned(),
        first_chunk: 40,
        blobs: vec![[8; 32].into()],
    };
    let part = part(blob(), 4000);
    let kind = EventKind::DocumentContinued;
    events.add("document_continued", kind, &continued, &PartAdded { part });
    let touched = DocumentRestatted {
        document: document(),
        stamp: FileFingerprint { mtime: 7, ..stamp },
    };
    events.add_meta("document_touched", EventKind::DocumentTouched, &touched);
    let failed = FileFailed {
        path: "broken.pdf".to_owned(),
        reason: "it is encrypted".to_owned(),
        stamp,
    };
    events.add_meta("file_failed", EventKind::FileFailed, &failed);
    let gone = IngestFailureCleared {
        path: "broken.pdf".to_owned(),
    };
    events.add_meta("failure_gone", EventKind::FailureGone, &gone);
    let gone = DocumentRemoved {
        document: document(),
    };
    events.add_meta("document_gone", EventKind::DocumentGone, &gone);
    events.add_meta("source_removed", EventKind::SourceRemoved, &NoFields {});
    let pack = talk::pack_of_documents();
    events.add_meta("pack_made_of_documents", EventKind::PackMade, &pack);
    let sent = SourceAdded {
        path: "sent".to_owned(),
        sent: true,
        ..SourceAdded::default()
    };
    events.add_meta("source_added_sent", EventKind::SourceAdded, &sent);
    events.found
}

fn sources(events: &mut Events) {
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
    for (name, source) in [("source_added", whole), ("source_added_least", least)] {
        events.add_meta(name, EventKind::SourceAdded, &source);
    }
}

fn taken(events: &mut Events, stamp: FileFingerprint) {
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
    let kind = EventKind::DocumentTaken;
    events.add("document_taken", kind, &least, &inline);
    events.add("document_taken_with_blob", kind, &whole, &beside);
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
