//! The decision about imported projects, context file versions and uploaded documents: a part is recorded
//! atomically.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use serde_bytes::ByteArray;

use super::lines::{ContextVersion, Project};
use super::read::GlobalEvent;
use crate::documents;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::projects::ProjectEvent;
use crate::events::{Event, NewEvent};
use crate::locks::lock_unpoisoned;
use crate::log::{Body, Hash, ImportOrigin, codec};
use crate::projects::{self, ContextWritten, ProjectInitialised, VersionMeta};
use crate::steps::Text;
use crate::store::{Blobs, Error, PendingBlob, Rows};

/// Result of importing a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Number of recorded projects.
    pub projects: u64,
    /// Number of recorded versions.
    pub versions: u64,
    /// Number of recorded documents.
    pub documents: u64,
    /// Number of entries that existed already.
    pub there: u64,
    /// Number of processed lines; 0 when a line was refused.
    pub lines: u64,
    /// Number of recorded events.
    pub events: u64,
}

/// Shared result, for the caller of the command.
pub type Report = Arc<Mutex<Count>>;

/// A prepared line: all work that needs no decision is done.
pub struct PreparedLine {
    line: usize,
    origin: ImportOrigin,
    outside: GlobalEvent,
    hash: Hash,
    body: Body,
    /// What makes its text suspicious.
    suspect: Vec<String>,
    /// Protects the blobs from the sweep until the event is committed.
    blobs: Vec<PendingBlob>,
}

impl PreparedLine {
    /// Prepares a line.
    pub fn of(
        (line, origin, mut outside): (usize, ImportOrigin, GlobalEvent),
        suspect: Vec<String>,
        blobs: &Blobs,
        salt: [u8; 16],
    ) -> Result<Self, Error> {
        let mut kept = Vec::new();
        let (hash, bytes) = match &mut outside {
            GlobalEvent::Project(_) | GlobalEvent::Source(_) => {
                (Hash::default(), codec::EMPTY.to_vec())
            }
            GlobalEvent::Version(version) => {
                let content = version.content.take();
                let hash = Hash::of(content.as_deref().unwrap_or_default().as_bytes());
                let content = content.map(|content| Text::keep(blobs, content, &mut kept));
                let written = ContextWritten {
                    content: content.transpose()?,
                    reason: version.reason.take(),
                };
                (hash, codec::encode(&written))
            }
            GlobalEvent::Document(document) => {
                let part = std::mem::take(&mut document.part).keep(blobs, &mut kept)?;
                let warnings = std::mem::take(&mut document.warnings);
                (Hash::default(), documents::first_body(part, warnings))
            }
            GlobalEvent::Part(further) => {
                // The decision needs the number of chunks.
                let chunks = further.part.count();
                let part = std::mem::take(&mut further.part).keep(blobs, &mut kept)?;
                further.part.chunks.resize(chunks as usize, (0, 0, 0));
                (Hash::default(), documents::further_body(part))
            }
        };
        Ok(Self {
            line,
            origin,
            outside,
            hash,
            body: Body::new(bytes, salt),
            suspect,
            blobs: kept,
        })
    }

    /// Approximate size of the event, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.body.bytes.len() + 512
    }
}

/// Command that records the lines that do not exist yet.
pub struct ImportProjects {
    /// The lines in order, each with the length of its content in bytes.
    pub ready: Vec<(PreparedLine, u64)>,
    /// The result, for the caller.
    pub report: Report,
    /// Whether unknown projects are accepted: in a dry run, earlier lines may have declared them.
    pub trusts: bool,
}

impl ImportProjects {
    /// Creates a command for these lines.
    #[must_use]
    pub fn new(ready: Vec<(PreparedLine, u64)>, report: Report) -> Self {
        Self {
            ready,
            report,
            trusts: false,
        }
    }

    /// Decides on these rows and sets the report.
    ///
    /// # Errors
    /// The error in a line; `CONFLICT` also when everything exists already.
    pub fn decide_on(&mut self, rows: &dyn Rows) -> Result<Vec<NewEvent>, Refusal> {
        let mut deciding = LogImportDecision {
            rows,
            trusts: self.trusts,
            projects: BTreeSet::new(),
            versions: BTreeMap::new(),
            documents: documents::ImportBuilder::new(rows, self.trusts),
            count: Count::default(),
        };
        let mut events = Vec::new();
        for (ready, bytes) in std::mem::take(&mut self.ready) {
            let line = ready.line;
            deciding.count.lines += 1;
            let decided = deciding.add(ready, bytes).map_err(|refusal| Refusal {
                message: format!("line {line}: {}", refusal.message),
                ..refusal
            })?;
            events.extend(decided);
        }
        deciding.count.events = events.len() as u64;
        *lock_unpoisoned(&self.report) = deciding.count;
        match events.is_empty() {
            // The caller reads the report instead.
            true => Err(Refusal::new(Code::Conflict, "nothing was recorded")),
            false => Ok(events),
        }
    }
}

impl Command for ImportProjects {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        self.decide_on(on.rows)
    }
}

struct LogImportDecision<'d> {
    rows: &'d dyn Rows,
    trusts: bool,
    /// Projects that this part declares.
    projects: BTreeSet<String>,
    /// Imported versions of each file: number and hash.
    versions: BTreeMap<(String, String), Vec<(u64, Hash)>>,
    documents: documents::ImportBuilder<'d>,
    count: Count,
}

impl LogImportDecision<'_> {
    fn add(&mut self, ready: PreparedLine, bytes: u64) -> Result<Option<NewEvent>, Refusal> {
        let PreparedLine {
            origin,
            outside,
            hash,
            body,
            suspect,
            blobs,
            ..
        } = ready;
        let of_project = |(project, event)| (project, Event::Project(event));
        let of_source = |(source, event)| (source, Event::Document(event));
        let decided = match outside {
            GlobalEvent::Project(reported) => self.project(reported)?.map(of_project),
            GlobalEvent::Version(reported) => self
                .version(*reported, (hash, bytes), suspect, &blobs)?
                .map(of_project),
            GlobalEvent::Source(reported) => {
                self.documents.source(&reported.added())?.map(of_source)
            }
            GlobalEvent::Document(mut reported) => {
                let fact = self
                    .documents
                    .document(reported.imported(suspect, &blobs))?;
                match &fact {
                    Some(_) => self.count.documents += 1,
                    None => self.count.there += 1,
                }
                fact.map(of_source)
            }
            GlobalEvent::Part(mut reported) => {
                let chunks = reported.part.count();
                let further = self.documents.further(reported.imported(chunks, &blobs))?;
                further.map(of_source)
            }
        };
        Ok(decided.map(|(project, event): (String, Event)| NewEvent {
            origin: Some(origin),
            ..NewEvent::in_project(project, event, body)
        }))
    }

    fn is_known(&self, project: &str) -> Result<bool, Error> {
        Ok(self.projects.contains(project) || projects::project(self.rows, project)?.is_some())
    }

    fn project(&mut self, reported: Project) -> Result<Option<(String, ProjectEvent)>, Refusal> {
        if self.is_known(&reported.project)? {
            // An existing project keeps its name and directory.
            self.count.there += 1;
            return Ok(None);
        }
        self.count.projects += 1;
        self.projects.insert(reported.project.clone());
        let made = ProjectInitialised {
            name: reported.name,
            path: reported.path,
            // The repository is recognised again where it is.
            git: Vec::new(),
        };
        Ok(Some((reported.project, ProjectEvent::Initialised(made))))
    }

    fn version(
        &mut self,
        reported: ContextVersion,
        (hash, bytes): (Hash, u64),
        suspect: Vec<String>,
        blobs: &[PendingBlob],
    ) -> Result<Option<(String, ProjectEvent)>, Refusal> {
        let (project, file_type, version) =
            (&reported.project, &reported.file_type, reported.version);
        if !self.trusts && !self.is_known(project)? {
            return Err(Refusal::invalid(format!(
                "project `{project}` not found: a line of the kind Project must come before its versions"
            )));
        }
        let stored = projects::file(self.rows, project, file_type)?;
        let stored = stored.map_or(0, |row| row.written.version);
        let imported = self
            .versions
            .entry((project.clone(), file_type.clone()))
            .or_default();
        let newest = imported.last().map_or(stored, |(newest, _)| *newest);
        if version <= newest {
            let row = projects::version(self.rows, project, file_type, version)?;
            let there = row.map(|row| Hash(row.written.hash.into_array()));
            let there = there.or_else(|| {
                let one = imported.iter().find(|(number, _)| *number == version);
                one.map(|(_, hash)| *hash)
            });
            if there == Some(hash) {
                self.count.there += 1;
                return Ok(None);
            }
            let what = match there {
                Some(_) => format!("another version {version}"),
                // The version was forgotten, or its line comes after a greater version.
                None => format!("version {newest} and no version {version}"),
            };
            return Err(Refusal::new(
                Code::Conflict,
                format!("the context file {project}/{file_type} has {what} here"),
            )
            .hint("Leave its lines out, or import into another store."));
        }
        // If versions were forgotten, later ones keep their numbers.
        imported.push((version, hash));
        self.count.versions += 1;
        let written = VersionMeta {
            conflicts: reported.conflicts,
            file_type: reported.file_type,
            version,
            change: reported.change,
            hash: ByteArray::new(hash.0),
            bytes,
            errors: reported.diagnostics.0,
            warnings: reported.diagnostics.1,
            attempt: reported.attempt.unwrap_or(0),
            base: reported.base,
            beside: reported.beside,
            suspect,
            blobs: blobs
                .iter()
                .map(|blob| ByteArray::new(blob.reference().hash))
                .collect(),
        };
        Ok(Some((reported.project, ProjectEvent::Written(written))))
    }
}
