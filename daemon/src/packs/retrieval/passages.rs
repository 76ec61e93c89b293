//! Passages of a project's context files that match a message or a task.

use crate::entities::EntityRef;
use crate::error::{Code, Refusal};
use crate::events::packs::Item;
use crate::log::Position;
use crate::operation::Context;
use crate::packs::assembly::{Candidate, Passage, Source, relevant};
use crate::projects::{self, FileRow, FileVersion};
use crate::state::State;
use crate::store::Error;

/// Maximum number of passages in a pack.
const PASSAGES: usize = 12;
/// The file type and the section that give an overview of the project.
const OVERVIEW: (&str, &str) = ("mental_model", "system_overview");

/// Encodes the dependencies of a pack on context files: the current versions.
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

/// The source of passages.
pub struct PassageSource<'f> {
    /// For access to blobs.
    pub cx: &'f Context,
    /// The state to read from.
    pub state: &'f State,
    /// The project, if any.
    pub project: Option<&'f str>,
}

/// The passages of a project's context files, with the selected ones.
pub struct ProjectPassages {
    all: Vec<Passage>,
    /// Index of the overview in `all`.
    transfer: Option<usize>,
    /// Indices in `all`, the most relevant first.
    wanted: Vec<usize>,
}

impl PassageSource<'_> {
    /// Selects the passages that share words with a text; words of the entities in it count double.
    ///
    /// A damaged file is skipped and reported as a warning.
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
    /// Appends the project's overview if no selected passage comes from the same file type.
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

    /// Returns the selected passages, the most relevant first.
    pub fn render(self) -> Vec<Passage> {
        let wanted = self.wanted.iter();
        wanted.filter_map(|at| self.all.get(*at).cloned()).collect()
    }
}
