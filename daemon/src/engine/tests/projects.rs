//! Random projects: initialised, and their files written, drafted, edited and cleared in any order.

use proptest::prelude::*;
use serde_bytes::ByteArray;

use super::TestCall;
use super::session_actions::suspect;
use crate::log::{Body, Hash, codec};
use crate::projects::{
    Change, ContextWritten, DraftContext, DraftSaved, InitialiseProject, KnownDirectory,
    ProjectInitialised, ProjectShared, ProjectSubject, Report, ShareAccess, Shares, WorktreeSeen,
    WriteContext,
};
use crate::steps::Text;
use crate::store::{BlobRef, PendingBlob};

/// A random request for a project. Projects, files and contents are few.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    project: u8,
    /// The caller's worktree, if any; with one, the project need not be known.
    worktree: Option<u8>,
    selector: Action,
}

#[derive(Clone, Debug)]
enum Action {
    /// Initialises a project with this name.
    Initialise(u8),
    Write {
        file: u8,
        change: u8,
        content: u8,
        follows: Option<u64>,
        is_blob: bool,
    },
    Draft {
        file: u8,
        content: u8,
        is_blob: bool,
    },
    Share {
        user: u32,
        access: Option<bool>,
    },
}

pub(crate) fn project() -> impl Strategy<Value = Project> {
    let selector = prop_oneof![
        1 => (0..2_u8).prop_map(Action::Initialise),
        6 => (
            0..2_u8,
            0..5_u8,
            0..6_u8,
            proptest::option::weighted(0.3, 0..4_u64),
            proptest::bool::weighted(0.3),
        )
            .prop_map(|(file, change, content, follows, is_blob)| Action::Write {
                file, change, content, follows, is_blob,
            }),
        3 => (0..2_u8, 0..6_u8, proptest::bool::weighted(0.3))
            .prop_map(|(file, content, is_blob)| Action::Draft { file, content, is_blob }),
        1 => (0..2_u32, proptest::option::weighted(0.7, proptest::bool::ANY))
            .prop_map(|(user, access)| Action::Share { user, access }),
    ];
    (0..3_u8, proptest::option::weighted(0.6, 0..3_u8), selector).prop_map(
        |(project, worktree, selector)| Project {
            project,
            worktree,
            selector,
        },
    )
}

impl Project {
    pub(crate) fn request(&self) -> TestCall {
        match self.selector {
            Action::Initialise(name) => TestCall::new(InitialiseProject {
                subject: self.subject(name),
                report: Report::default(),
            }),
            Action::Write {
                file,
                change,
                content,
                follows,
                is_blob,
            } => {
                let changes = [
                    Change::Updated,
                    Change::Appended,
                    Change::Edited,
                    Change::Merged,
                    Change::Cleared,
                ];
                let change = changes[usize::from(change)];
                let is_cleared = change == Change::Cleared;
                let (text, blobs) = text(content, is_blob && !is_cleared);
                let body = ContextWritten {
                    content: (!is_cleared).then_some(text),
                    reason: is_cleared.then(|| "old".to_owned()),
                };
                let bytes: &[u8] = if is_cleared { b"" } else { &[content] };
                TestCall::new(WriteContext {
                    conflicts: Vec::new(),
                    merged: None,
                    subject: self.subject(0),
                    file_type: file_type(file),
                    change,
                    hash: ByteArray::new(Hash::of(bytes).0),
                    bytes: bytes.len() as u64,
                    diagnostics: (u32::from(content), 0),
                    suspect: suspect(content.into()),
                    follows,
                    base: follows.filter(|_| change == Change::Edited),
                    beside: None,
                    attempts_kept: 1_000_000,
                    body: Some(Body::new(codec::encode(&body), [4; 16])),
                    blobs,
                    report: Report::default(),
                })
            }
            Action::Share { user, access } => TestCall::new(Shares {
                project: format!("p-{}", self.project),
                shared: ProjectShared {
                    user,
                    access: access.map(|writes| match writes {
                        true => ShareAccess::Write,
                        false => ShareAccess::Read,
                    }),
                },
                salt: [8; 16],
            }),
            Action::Draft {
                file,
                content,
                is_blob,
            } => {
                let (content, blobs) = text(content, is_blob);
                TestCall::new(DraftContext {
                    is_entry: false,
                    subject: self.subject(0),
                    file_type: file_type(file),
                    attempts_kept: 1_000_000,
                    body: Some(Body::new(codec::encode(&DraftSaved { content }), [5; 16])),
                    blobs,
                })
            }
        }
    }

    fn subject(&self, name: u8) -> ProjectSubject {
        let known = self.worktree.map(|worktree| KnownDirectory {
            is_moved: false,
            initialised: ProjectInitialised {
                git: Vec::new(),
                name: format!("name-{name}"),
                path: format!("/p-{}", self.project),
            },
            worktree: WorktreeSeen {
                path: format!("/p-{}/w-{}", self.project, worktree / 2),
                branch: (worktree % 2 == 1).then(|| "main".to_owned()),
            },
        });
        ProjectSubject {
            project: format!("p-{}", self.project),
            known,
            salts: [[6; 16], [7; 16]],
        }
    }
}

fn file_type(file: u8) -> String {
    ["bugs", "features"][usize::from(file)].to_owned()
}

/// Builds a content, inline in the event or as a blob.
fn text(content: u8, is_blob: bool) -> (Text, Vec<PendingBlob>) {
    if !is_blob {
        return (Text::Inline(char::from(content).to_string()), Vec::new());
    }
    let blob = BlobRef::of(&[content]);
    let text = Text::Blob {
        blob: blob.hash,
        bytes: blob.bytes,
    };
    (text, vec![PendingBlob::nowhere(&[content])])
}
