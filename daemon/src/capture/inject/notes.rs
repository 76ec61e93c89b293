//! What the notes of a project say: the passages of its context files.

use lored_suspicion::Origin;

use super::Project;
use super::sources::ShownItems;
use crate::error::{Code, Refusal};
use crate::events::packs::Item;
use crate::log::EventScope;
use crate::operation::Context;
use crate::projects::{self, FileVersion};
use crate::state::State;
use crate::trust;

/// Passages that are read.
const PASSAGES_MAX: usize = 60;

/// A passage of the notes.
pub(super) struct NotePassage {
    /// Its file and heading.
    pub title: String,
    /// Its text.
    pub text: String,
    /// The version of its file.
    pub source: Item,
}

/// Returns the passages of a project's context files, the last written file first. Files that the session was shown
/// and files that are damaged are left out.
///
/// # Errors
/// When a row or record cannot be read.
pub(super) fn of(
    cx: &Context,
    state: &State,
    project: &Project,
    shown: &ShownItems,
) -> Result<Vec<NotePassage>, Refusal> {
    let mut notes = Vec::new();
    let Some(project) = &project.id else {
        return Ok(notes);
    };
    for row in projects::drawn_on(state, project)? {
        let source = Item::ContextFile(FileVersion {
            project: project.clone(),
            file_type: row.written.file_type.clone(),
            version: row.written.version,
        });
        if shown.has_note(&source) {
            continue;
        }
        let content = match projects::content(cx, state, &row) {
            Err(refusal) if refusal.code == Code::Corrupt => continue,
            content => content?,
        };
        let file_type = row.written.file_type.as_str();
        for passage in projects::passages(file_type, &content) {
            if notes.len() >= PASSAGES_MAX {
                return Ok(notes);
            }
            // A file may have come with the repository.
            let place = (EventScope::Project(project), row.place().1);
            if trust::is_left_out(state, place, passage.text, Origin::Document)? {
                continue;
            }
            notes.push(NotePassage {
                title: match passage.heading.as_str() {
                    "" => file_type.to_owned(),
                    heading => format!("{file_type}, {heading}"),
                },
                text: passage.text.to_owned(),
                source: source.clone(),
            });
        }
    }
    Ok(notes)
}
