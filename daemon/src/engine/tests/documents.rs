//! Random documents: sources added and removed, files taken in, moved, touched, failed, gone.

use proptest::prelude::*;
use serde_bytes::ByteArray;

use super::Ask;
use crate::documents::decided::{
    AddSource, DocumentContinued, DocumentGone, DocumentTaken, DocumentTouched, FailureGone,
    FileFailed, Further, Note, NoteFile, Part, RemoveSource, TakeDocument, Unchanged,
};
use crate::documents::sources::Stamp;
use crate::documents::{SourceAdded, Taken};
use crate::log::{Body, Hash, codec};
use crate::steps::Text;
use crate::store::{BlobRef, PendingBlob};

/// What a random caller wants of documents. Sources, paths and contents are few.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    source: u8,
    path: u8,
    wish: Wish,
}

#[derive(Clone, Debug)]
enum Wish {
    Add(bool),
    Remove,
    Take {
        content: u8,
        further: u8,
        moved: Option<u8>,
        is_blob: bool,
    },
    Touched(u8),
    Gone(u8),
    Failed(u8),
    FailureGone,
}

pub(crate) fn document() -> impl Strategy<Value = Document> {
    let wish = prop_oneof![
        4 => any::<bool>().prop_map(Wish::Add),
        1 => Just(Wish::Remove),
        8 => (
            0..4_u8,
            0..3_u8,
            proptest::option::weighted(0.3, 0..12_u8),
            proptest::bool::weighted(0.3),
        )
            .prop_map(|(content, further, moved, is_blob)| Wish::Take {
                content, further, moved, is_blob,
            }),
        1 => (0..12_u8).prop_map(Wish::Touched),
        2 => (0..12_u8).prop_map(Wish::Gone),
        2 => (0..4_u8).prop_map(Wish::Failed),
        1 => Just(Wish::FailureGone),
    ];
    (0..2_u8, 0..3_u8, wish).prop_map(|(source, path, wish)| Document { source, path, wish })
}

/// The id that a document of a source and path gets, whatever its number of the same name.
fn known(number: u8) -> String {
    let source = format!("source-{}", number % 2);
    let path = format!("f-{}.md", number / 2 % 3);
    crate::documents::decided::id_of(&source, &path, u64::from(number / 6))
}

impl Document {
    pub(crate) fn ask(&self) -> Ask {
        let source = format!("source-{}", self.source);
        let path = format!("f-{}.md", self.path);
        match self.wish {
            Wish::Add(watch) => Ask::new(AddSource {
                added: SourceAdded {
                    path: format!("/{source}"),
                    watch,
                    ..SourceAdded::default()
                },
                source,
                salt: [1; 16],
                unchanged: Unchanged::default(),
            }),
            Wish::Remove => Ask::new(RemoveSource {
                source,
                salt: [2; 16],
            }),
            Wish::Take {
                content,
                further,
                moved,
                is_blob,
            } => Ask::new(take(source, path, content, further, moved, is_blob)),
            Wish::Touched(number) => note(
                source,
                Note::Touched(DocumentTouched {
                    document: known(number),
                    stamp: stamp(number),
                }),
            ),
            Wish::Gone(number) => note(
                source,
                Note::Gone(DocumentGone {
                    document: known(number),
                }),
            ),
            Wish::Failed(number) => note(
                source,
                Note::Failed(FileFailed {
                    path,
                    reason: "broken".to_owned(),
                    stamp: stamp(number),
                }),
            ),
            Wish::FailureGone => note(source, Note::FailureGone(FailureGone { path })),
        }
    }
}

fn note(source: String, note: Note) -> Ask {
    Ask::new(NoteFile {
        source,
        note,
        salt: [3; 16],
    })
}

fn stamp(number: u8) -> Stamp {
    Stamp {
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
) -> TakeDocument {
    let (first, blobs) = part(content, is_blob);
    let body = DocumentTaken {
        part: first,
        warnings: Vec::new(),
    };
    let continued = (1..=further).map(|number| Further {
        first_chunk: u32::from(number),
        blobs: Vec::new(),
        body: Body::new(
            codec::encode(&DocumentContinued {
                part: part(content + number, false).0,
            }),
            [5; 16],
        ),
    });
    let hashes = blobs
        .iter()
        .map(|blob: &PendingBlob| ByteArray::new(blob.reference().hash));
    TakeDocument {
        source,
        taken: Taken {
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
            ..Taken::default()
        },
        moved: moved.map(known),
        body: Some(Body::new(codec::encode(&body), [4; 16])),
        further: continued.collect(),
        salt: [6; 16],
        _pending: blobs,
    }
}

/// A text, in the event or beside it.
fn part(content: u8, is_blob: bool) -> (Part, Vec<PendingBlob>) {
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
    let part = Part {
        start: 0,
        text,
        headings: vec![Vec::new()],
        chunks: vec![(0, 1, 0)],
    };
    (part, blobs)
}
