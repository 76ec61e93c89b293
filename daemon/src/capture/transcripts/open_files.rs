//! Transcripts that are being read.

use std::collections::{HashMap, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lored_hosts::Host;
use lored_hosts::transcript::FileState;
use serde_json::Value;

use super::FoundFile;
use super::cursors::open_file;
use crate::locks::lock_unpoisoned;

/// Files whose state is remembered: those that grow now. The others are read from their beginning when they grow again.
const FILES_MAX: usize = 32;

/// Bytes of the description of a subagent or a project that are read.
const DESCRIPTION_BYTES_MAX: u64 = 64 << 10;

/// A transcript that is being read.
#[derive(Clone, Debug)]
pub struct OpenTranscript {
    /// What its records said about later ones.
    pub state: FileState,
    /// Bytes that were read; in a database, the place of the last record.
    pub bytes: u64,
    /// Records that were read.
    pub records: u64,
    /// Records up to this place were recorded before; they are read for the state.
    pub recorded_up_to: u64,
    /// The hash of a file that is one text, or the last record of a database; empty before it is read.
    pub whole: String,
    /// Records of a database or a tree of files that are read next: time of their change, 0 in a tree, and id.
    pub listed: VecDeque<(i64, String)>,
    /// Length of the last line when it was incomplete.
    pub incomplete: u64,
}

impl OpenTranscript {
    /// Begins with a file, whose first bytes were recorded before.
    #[must_use]
    pub fn new(file: &FoundFile, recorded_up_to: u64) -> Self {
        let path = file.path.to_string_lossy();
        let mut state = FileState::of_path(file.host, &path);
        if let Some(agent) = &mut state.source.agent {
            agent.kind = kind_of(&file.path).unwrap_or_default();
        }
        if file.host == Host::GeminiCli {
            state.source.cwd = gemini_project(&file.path);
        }
        Self {
            state,
            bytes: 0,
            records: 0,
            recorded_up_to,
            whole: String::new(),
            listed: VecDeque::new(),
            incomplete: 0,
        }
    }
}

/// Returns the project of a transcript of Gemini CLI, which it writes into a file beside the folder of transcripts.
fn gemini_project(path: &Path) -> Option<String> {
    let file = open_file(&path.parent()?.with_file_name(".project_root")).ok()?;
    let mut text = String::new();
    file.take(DESCRIPTION_BYTES_MAX)
        .read_to_string(&mut text)
        .ok()?;
    Some(text.trim().to_owned()).filter(|root| Path::new(root).is_absolute())
}

/// Returns the kind of a subagent, which Claude Code and Qwen Code write into a file beside its transcript.
fn kind_of(path: &Path) -> Option<String> {
    let file = open_file(&path.with_extension("meta.json")).ok()?;
    let mut text = Vec::new();
    file.take(DESCRIPTION_BYTES_MAX)
        .read_to_end(&mut text)
        .ok()?;
    let described: Value = serde_json::from_slice(&text).ok()?;
    described.get("agentType")?.as_str().map(str::to_owned)
}

/// The transcripts that are being read.
#[derive(Debug, Default)]
pub struct OpenFiles(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    files: HashMap<PathBuf, (u64, OpenTranscript)>,
    uses: u64,
}

impl OpenFiles {
    /// Takes a file out, so that one reader at a time goes on with it.
    pub fn take(&self, path: &Path) -> Option<OpenTranscript> {
        let mut inner = lock_unpoisoned(&self.0);
        inner.files.remove(path).map(|(_, open)| open)
    }

    /// Puts a file back.
    pub fn put(&self, path: &Path, open: OpenTranscript) {
        let mut inner = lock_unpoisoned(&self.0);
        inner.uses += 1;
        let uses = inner.uses;
        inner.files.insert(path.to_owned(), (uses, open));
        if inner.files.len() > FILES_MAX {
            let oldest = inner.files.iter().min_by_key(|(_, (uses, _))| *uses);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                inner.files.remove(&path);
            }
        }
    }
}
