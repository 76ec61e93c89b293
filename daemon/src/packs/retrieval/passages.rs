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

/// Selects the passages of a project's context files that share words with a text, the most relevant first; words of
/// the entities in it count double. With `has_overview`, the project's overview is added unless a passage of its file
/// is selected.
///
/// A damaged file is skipped and reported as a warning.
pub fn about(
    (cx, state, project): (&Context, &State, Option<&str>),
    text: &str,
    named: &[EntityRef],
    has_overview: bool,
    warnings: &mut Vec<String>,
) -> Result<Vec<Passage>, Refusal> {
    let (mut all, mut overview) = (Vec::new(), None);
    for row in drawn_on(state, project)? {
        let content = match projects::content(cx, state, &row) {
            Err(refusal) if refusal.code == Code::Corrupt => {
                warnings.push(refusal.message);
                continue;
            }
            content => content?,
        };
        let file_type = row.written.file_type.as_str();
        for passage in projects::passages(file_type, &content) {
            if overview.is_none() && (file_type, passage.key.as_str()) == OVERVIEW {
                overview = Some(all.len());
            }
            all.push(pack_passage(project, &row, passage));
        }
    }
    let candidates = all.iter().map(|passage: &Passage| Candidate {
        heading: passage.source.section.as_deref().unwrap_or_default(),
        text: &passage.text,
    });
    let candidates: Vec<Candidate<'_>> = candidates.collect();
    let names: Vec<&str> = named.iter().map(|entity| entity.key.as_str()).collect();
    let mut wanted = relevant(text, &names, &candidates);
    wanted.truncate(PASSAGES);
    let is_of_overview = |at: &usize| {
        let item = all.get(*at).map(|passage| &passage.source.item);
        matches!(item, Some(Item::ContextFile(file)) if file.file_type == OVERVIEW.0)
    };
    if let Some(overview) = overview.filter(|_| has_overview)
        && !wanted.iter().any(is_of_overview)
    {
        wanted.truncate(PASSAGES - 1);
        wanted.push(overview);
    }
    let wanted = wanted.into_iter();
    Ok(wanted.filter_map(|at| all.get(at).cloned()).collect())
}

fn pack_passage(project: Option<&str>, row: &FileRow, of: projects::Passage<'_>) -> Passage {
    let file = FileVersion {
        project: project.unwrap_or_default().to_owned(),
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
