//! What a project's context files say about a message or a task.

use crate::entities::EntityRef;
use crate::error::{Code, Refusal};
use crate::events::packs::Item;
use crate::log::Position;
use crate::operation::Context;
use crate::packs::assembly::{Candidate, Passage, Source, relevant};
use crate::projects::{self, FileRow, FileVersion};
use crate::state::State;
use crate::store::Error;

/// Passages that come into a pack at most.
const PASSAGES: usize = 12;
/// The file that says what a project is, and its section that says it in short.
const OVERVIEW: (&str, &str) = ("mental_model", "system_overview");

/// What a pack follows from in context files: which versions of which there are.
///
/// # Errors
/// [`Error`] when a row cannot be read.
pub fn rests_on(state: &State, project: Option<&str>) -> Result<Vec<u8>, Error> {
    let mut all = Vec::new();
    for row in drawn_on(state, project)? {
        all.extend(row.written.file_type.as_bytes());
        all.push(0);
        all.extend(row.position.to_be_bytes());
    }
    Ok(all)
}

fn drawn_on(state: &State, project: Option<&str>) -> Result<Vec<FileRow>, Error> {
    match project {
        Some(project) => projects::drawn_on(state, project),
        None => Ok(Vec::new()),
    }
}

/// Where passages come from.
pub struct PassageSource<'f> {
    /// Blobs.
    pub cx: &'f Context,
    /// The rows.
    pub state: &'f State,
    /// The project, if there is one.
    pub project: Option<&'f str>,
}

/// The passages of a project's context files, and which of them are wanted.
pub struct ProjectPassages {
    all: Vec<Passage>,
    /// Which of them is the overview.
    transfer: Option<usize>,
    /// Places in `all`, the most relevant first.
    wanted: Vec<usize>,
}

impl PassageSource<'_> {
    /// Finds the passages that share words with a text; those of the entities that it names count double.
    /// A file that is damaged is told, and leaves the pack without it.
    ///
    /// # Errors
    /// When a row, an event or a blob cannot be read.
    pub fn about(
        &self,
        text: &str,
        named: &[EntityRef],
        warnings: &mut Vec<String>,
    ) -> Result<ProjectPassages, Refusal> {
        let (mut all, mut transfer) = (Vec::new(), None);
        for row in drawn_on(self.state, self.project)? {
            let content = match projects::content(self.cx, self.state, &row) {
                Err(refusal) if refusal.code == Code::Corrupt => {
                    warnings.push(refusal.message);
                    continue;
                }
                content => content?,
            };
            let file_type = row.written.file_type.as_str();
            for passage in projects::passages(file_type, &content) {
                if transfer.is_none() && (file_type, passage.key.as_str()) == OVERVIEW {
                    transfer = Some(all.len());
                }
                all.push(self.passage(&row, passage));
            }
        }
        let candidates: Vec<Candidate<'_>> = all
            .iter()
            .map(|passage| Candidate {
                heading: passage.source.section.as_deref().unwrap_or_default(),
                text: &passage.text,
            })
            .collect();
        let names: Vec<&str> = named.iter().map(|entity| entity.key.as_str()).collect();
        let mut wanted = relevant(text, &names, &candidates);
        wanted.truncate(PASSAGES);
        Ok(ProjectPassages {
            all,
            transfer,
            wanted,
        })
    }

    fn passage(&self, row: &FileRow, of: projects::Passage<'_>) -> Passage {
        let file = FileVersion {
            project: self.project.unwrap_or_default().to_owned(),
            file_type: row.written.file_type.clone(),
            version: row.written.version,
        };
        Passage {
            source: Source {
                session: None,
                item: Item::ContextFile(file),
                position: Position(row.position),
                section: Some(of.heading).filter(|heading| !heading.is_empty()),
            },
            time: row.at,
            text: of.text.to_owned(),
        }
    }
}

impl ProjectPassages {
    /// With the overview of the project behind the others, when nothing among them says what the project
    /// is.
    pub fn with_overview(mut self) -> Self {
        let says_it = |at: &usize| {
            let item = self.all.get(*at).map(|passage| &passage.source.item);
            matches!(item, Some(Item::ContextFile(file)) if file.file_type == OVERVIEW.0)
        };
        if let Some(transfer) = self.transfer
            && !self.wanted.iter().any(says_it)
        {
            self.wanted.truncate(PASSAGES - 1);
            self.wanted.push(transfer);
        }
        self
    }

    /// The passages that are wanted, the most relevant first.
    pub fn render(self) -> Vec<Passage> {
        let wanted = self.wanted.iter();
        wanted.filter_map(|at| self.all.get(*at).cloned()).collect()
    }
}
