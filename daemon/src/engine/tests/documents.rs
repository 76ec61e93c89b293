//! Random documents: sources added and removed; files ingested, moved, touched, failed and removed; documents sent.

use proptest::prelude::*;
use serde_bytes::ByteArray;

use super::{Fixture, TestCall};
use crate::documents::decided::{
    AddPart, AddSource, DocumentEvent, DocumentIngested, DocumentRemoved, DocumentRestatted,
    FileFailed, IngestDocument, IngestFailureCleared, PartAdded, PutDocument, RecordFileState,
    RemoveDocument, RemoveSource, TextPart, UnchangedFlag, source_id,
};
use crate::documents::sources::FileFingerprint;
use crate::documents::{DocumentMeta, SourceAdded};
use crate::error::Code;
use crate::log::{Body, Hash, codec};
use crate::steps::Text;
use crate::store::{BlobRef, PendingBlob};

/// A random request for documents. Sources, paths and contents are few.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    source: u8,
    path: u8,
    selector: Action,
}

#[derive(Clone, Debug)]
enum Action {
    Add {
        watch: bool,
        sent: bool,
    },
    Remove,
    Take {
        content: u8,
        further: u8,
        moved: Option<u8>,
        is_blob: bool,
    },
    Put {
        content: u8,
        further: u8,
        is_blob: bool,
        may_begin: bool,
    },
    RemoveDocument(u8),
    Touched(u8),
    Gone(u8),
    Failed(u8),
    FailureCleared,
}

pub(crate) fn document() -> impl Strategy<Value = Document> {
    let selector = prop_oneof![
        4 => (any::<bool>(), any::<bool>()).prop_map(|(watch, sent)| Action::Add { watch, sent }),
        1 => Just(Action::Remove),
        8 => (
            0..4_u8,
            0..3_u8,
            proptest::option::weighted(0.3, 0..12_u8),
            proptest::bool::weighted(0.3),
        )
            .prop_map(|(content, further, moved, is_blob)| Action::Take {
                content, further, moved, is_blob,
            }),
        6 => (0..3_u8, 0..3_u8, proptest::bool::weighted(0.3), any::<bool>()).prop_map(
            |(content, further, is_blob, may_begin)| Action::Put {
                content, further, is_blob, may_begin,
            }
        ),
        2 => (0..12_u8).prop_map(Action::RemoveDocument),
        1 => (0..12_u8).prop_map(Action::Touched),
        2 => (0..12_u8).prop_map(Action::Gone),
        2 => (0..4_u8).prop_map(Action::Failed),
        1 => Just(Action::FailureCleared),
    ];
    (0..2_u8, 0..3_u8, selector).prop_map(|(source, path, selector)| Document {
        source,
        path,
        selector,
    })
}

/// Returns the document ID for a source and path.
fn known(number: u8) -> String {
    let source = format!("source-{}", number % 2);
    let path = format!("f-{}.md", number / 2 % 3);
    crate::documents::decided::id_of(&source, &path, u64::from(number / 6))
}

impl Document {
    pub(crate) fn request(&self) -> TestCall {
        let source = format!("source-{}", self.source);
        let path = format!("f-{}.md", self.path);
        match self.selector {
            Action::Add { watch, sent } => TestCall::new(AddSource {
                added: SourceAdded {
                    path: format!("/{source}"),
                    watch,
                    sent,
                    ..SourceAdded::default()
                },
                source,
                salt: [1; 16],
                unchanged: UnchangedFlag::default(),
            }),
            Action::Remove => TestCall::new(RemoveSource {
                source,
                salt: [2; 16],
            }),
            Action::Take {
                content,
                further,
                moved,
                is_blob,
            } => TestCall::new(take(source, path, content, further, moved, is_blob)),
            Action::Put {
                content,
                further,
                is_blob,
                may_begin,
            } => TestCall::new(PutDocument {
                under: sent(&source),
                take: take(source, path, content, further, None, is_blob),
                may_begin,
                has_key: false,
                unchanged: UnchangedFlag::default(),
            }),
            Action::RemoveDocument(number) => TestCall::new(RemoveDocument {
                document: known(number),
                salt: [7; 16],
            }),
            Action::Touched(number) => note(
                source,
                DocumentEvent::Restatted(DocumentRestatted {
                    document: known(number),
                    stamp: stamp(number),
                }),
            ),
            Action::Gone(number) => note(
                source,
                DocumentEvent::Removed(DocumentRemoved {
                    document: known(number),
                }),
            ),
            Action::Failed(number) => note(
                source,
                DocumentEvent::FileFailed(FileFailed {
                    path,
                    reason: "broken".to_owned(),
                    stamp: stamp(number),
                }),
            ),
            Action::FailureCleared => note(
                source,
                DocumentEvent::FailureCleared(IngestFailureCleared { path }),
            ),
        }
    }
}

/// Builds a source whose documents are sent.
pub(crate) fn sent(source: &str) -> SourceAdded {
    SourceAdded {
        path: format!("/{source}"),
        sent: true,
        ..SourceAdded::default()
    }
}

fn note(source: String, change: DocumentEvent) -> TestCall {
    TestCall::new(RecordFileState {
        source,
        change,
        salt: [3; 16],
    })
}

fn stamp(number: u8) -> FileFingerprint {
    FileFingerprint {
        bytes: u64::from(number),
        mtime: i64::from(number),
        inode: 1,
    }
}

fn take(
    source: String,
    path: String,
    content: u8,
    further: u8,
    moved: Option<u8>,
    is_blob: bool,
) -> IngestDocument {
    let (first, blobs) = part(content, is_blob);
    let body = DocumentIngested {
        part: first,
        warnings: Vec::new(),
    };
    let continued = (1..=further).map(|number| AddPart {
        first_chunk: u32::from(number),
        blobs: Vec::new(),
        body: Body::new(
            codec::encode(&PartAdded {
                part: part(content + number, false).0,
            }),
            [5; 16],
        ),
    });
    let hashes = blobs
        .iter()
        .map(|blob: &PendingBlob| ByteArray::new(blob.reference().hash));
    IngestDocument {
        source,
        taken: DocumentMeta {
            path,
            stamp: stamp(content),
            hash: ByteArray::new(Hash::of(&[content]).0),
            file_type: "md".to_owned(),
            title: format!("title {content}"),
            context_id: "c".to_owned(),
            context_name: "c".to_owned(),
            chunks: u32::from(further) + 1,
            parts: u32::from(further) + 1,
            text_bytes: 1,
            blobs: hashes.collect(),
            ..DocumentMeta::default()
        },
        contexts: None,
        moved: moved.map(known),
        body: Some(Body::new(codec::encode(&body), [4; 16])),
        further: continued.collect(),
        salt: [6; 16],
        _pending: blobs,
    }
}

/// Builds a text part, inline in the event or as a blob.
fn part(content: u8, is_blob: bool) -> (TextPart, Vec<PendingBlob>) {
    let (text, blobs) = match is_blob {
        false => (Text::Inline(char::from(content).to_string()), Vec::new()),
        true => {
            let blob = BlobRef::of(&[content]);
            let text = Text::Blob {
                blob: blob.hash,
                bytes: blob.bytes,
            };
            (text, vec![PendingBlob::nowhere(&[content])])
        }
    };
    let part = TextPart {
        start: 0,
        text,
        headings: vec![Vec::new()],
        chunks: vec![(0, 1, 0)],
    };
    (part, blobs)
}

/// Builds a sent document, and a flag for whether it was unchanged.
pub(crate) fn put(
    source: &str,
    content: u8,
    title: &str,
    under: SourceAdded,
) -> (TestCall, UnchangedFlag) {
    let unchanged = UnchangedFlag::default();
    let mut take = take(
        source.to_owned(),
        "a.md".to_owned(),
        content,
        1,
        None,
        false,
    );
    take.taken.title = title.to_owned();
    let put = PutDocument {
        take,
        may_begin: source == source_id("sent"),
        has_key: false,
        under,
        unchanged: unchanged.clone(),
    };
    (TestCall::new(put), unchanged)
}

/// A sent document is recorded once, and again only with other bytes, another title or other settings.
#[test]
fn documents_that_are_sent() {
    let source = source_id("sent");
    let mut fixture = Fixture::new();
    let send = |fixture: &mut Fixture, content, title, under| {
        let (ask, unchanged) = put(&source, content, title, under);
        let outcome = fixture.one(ask.by("ann"));
        let is_there = *unchanged.unchanged();
        outcome.map_err(|refusal| (refusal.code, is_there))
    };
    let added = SourceAdded {
        path: "sent".to_owned(),
        ..sent("sent")
    };
    let first = send(&mut fixture, 1, "one", added.clone()).unwrap();
    let whole = ["SourceAdded", "DocumentTaken", "DocumentContinued"];
    assert_eq!(fixture.kinds(), whole);
    assert_eq!(first.event.header.actor.agent, "ann");
    assert_eq!(first.event.header.kind, "DocumentContinued");
    let again = send(&mut fixture, 1, "one", added.clone());
    assert_eq!(again.unwrap_err(), (Code::Conflict, true));
    for (content, title) in [(2, "one"), (2, "two")] {
        send(&mut fixture, content, title, added.clone()).unwrap();
        let again = send(&mut fixture, content, title, added.clone());
        assert_eq!(again.unwrap_err(), (Code::Conflict, true));
    }
    let documents = crate::documents::decided::paths(&fixture.rows, &source).unwrap();
    assert_eq!(documents.len(), 1, "each took the place of the one before");

    let other = SourceAdded {
        context_id: Some("c".to_owned()),
        ..added.clone()
    };
    let set = TestCall::new(AddSource {
        source: source.clone(),
        added: other.clone(),
        salt: [1; 16],
        unchanged: UnchangedFlag::default(),
    });
    fixture.one(set).unwrap();
    let under_old = send(&mut fixture, 2, "two", added);
    assert_eq!(under_old.unwrap_err(), (Code::Conflict, false));
    send(&mut fixture, 2, "two", other.clone()).unwrap();
    let again = send(&mut fixture, 2, "two", other);
    assert_eq!(again.unwrap_err(), (Code::Conflict, true));
}

/// File sources refuse sent documents and manual removals.
#[test]
fn files_are_not_sent() {
    let mut fixture = Fixture::new();
    let files = SourceAdded {
        path: "/f".to_owned(),
        ..SourceAdded::default()
    };
    let (ask, _) = put("source-f", 1, "one", files.clone());
    assert_eq!(fixture.one(ask).unwrap_err().code, Code::NotFound);
    let add = TestCall::new(AddSource {
        source: "source-f".to_owned(),
        added: files.clone(),
        salt: [1; 16],
        unchanged: UnchangedFlag::default(),
    });
    fixture.one(add).unwrap();
    let (ask, _) = put("source-f", 1, "one", files);
    assert_eq!(fixture.one(ask).unwrap_err().code, Code::InvalidInput);
    let path = "a.md".to_owned();
    let taken = take("source-f".to_owned(), path, 1, 0, None, false);
    fixture.one(TestCall::new(taken)).unwrap();
    let mut remove = |document: &str| {
        let document = document.to_owned();
        let salt = [2; 16];
        fixture.one(TestCall::new(RemoveDocument { document, salt }))
    };
    let file = crate::documents::decided::id_of("source-f", "a.md", 0);
    assert_eq!(remove(&file).unwrap_err().code, Code::InvalidInput);
    assert_eq!(remove("doc-none").unwrap_err().code, Code::NotFound);

    let source = source_id("sent");
    let (ask, _) = put(&source, 1, "one", sent("sent"));
    fixture.one(ask).unwrap();
    let mut remove = |key: &str| {
        let document = crate::documents::decided::id_of(&source, "a.md", 0);
        let remove = RemoveDocument {
            document,
            salt: [2; 16],
        };
        fixture.one(TestCall::new(remove).key(key, "b"))
    };
    assert!(!remove("k").unwrap().replayed);
    assert!(remove("k").unwrap().replayed);
    assert_eq!(remove("l").unwrap_err().code, Code::NotFound);
    assert_eq!(fixture.kinds().last().unwrap(), "DocumentGone");
}
