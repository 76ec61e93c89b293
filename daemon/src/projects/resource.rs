//! `lore://project/{id}/{file_type}`: context files as resources.

use std::sync::Arc;

use super::notes;
use super::operations::content_of;
use super::view::{self, FileRow};
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::projects::ProjectEvent;
use crate::hint::{Tool, hint};
use crate::log::LoggedEvent;
use crate::operation::{Caller, Context, blocking};
use crate::resource::{AffectedResources, Entry, Page, Resource, only_page};
use crate::state::State;
use crate::store::Rows;

/// Limit on the listed files: first the caller's project, then the last changed files.
const LISTED_MAX: usize = 100;

/// The resource of context files.
pub struct ContextFile;

impl Resource for ContextFile {
    const TEMPLATE: &'static str = "lore://project/{id}/{file_type}";
    const NAME: &'static str = "project";
    const TITLE: &'static str = "Context file";
    const DESCRIPTION: &'static str = "The current content of a project's context file, as Markdown: its mental model, session \
        summaries, bugs, features.";
    const MIME: &'static str = "text/markdown";

    async fn list(
        cx: Arc<Context>,
        caller: Caller,
        cursor: Option<String>,
    ) -> Result<Page, Refusal> {
        only_page(cursor.as_deref())?;
        let state = State::live(&cx, None).await?;
        blocking(move || {
            let mut found = Vec::new();
            for (project, row) in view::projects(&state)? {
                for (file_type, file) in view::files(&state, &project)? {
                    if file.is_written() && !notes::is_note(&file_type) {
                        let is_own = caller.project.as_ref() == Some(&project);
                        found.push((
                            is_own,
                            file.at,
                            project.clone(),
                            row.name.clone(),
                            file_type,
                            file,
                        ));
                    }
                }
            }
            found.sort_by_key(|(is_own, at, ..)| std::cmp::Reverse((*is_own, *at)));
            let mut page = Page::default();
            for (_, _, project, name, file_type, file) in found.into_iter().take(LISTED_MAX) {
                page.entries.push(Entry {
                    id: format!("{project}/{file_type}"),
                    title: Some(format!("{file_type} of {name}")),
                    description: Some(described(&file)),
                    bytes: Some(file.written.bytes),
                });
            }
            Ok(page)
        })
        .await
    }

    async fn read(cx: Arc<Context>, _caller: Caller, id: String) -> Result<String, Refusal> {
        let state = State::live(&cx, None).await?;
        blocking(move || {
            let row = row(&state, &id)?;
            content_of(&cx, &state, row.place())
        })
        .await
    }

    fn check(rows: &dyn Rows, id: &str) -> Result<(), Refusal> {
        row(rows, id).map(drop)
    }

    fn touched(event: &LoggedEvent, meta: Option<&Event>) -> AffectedResources {
        let Some(meta) = meta else {
            return AffectedResources::default();
        };
        match meta {
            Event::Project(ProjectEvent::Written(version)) => match &event.header.project {
                Some(project) => {
                    AffectedResources::one(format!("{project}/{}", version.file_type), true)
                }
                None => AffectedResources::default(),
            },
            Event::Project(
                ProjectEvent::Initialised(_)
                | ProjectEvent::WorktreeSeen(_)
                | ProjectEvent::DraftSaved(_)
                | ProjectEvent::Shared(_),
            )
            | Event::Session(_)
            | Event::Step(_)
            | Event::Message(_)
            | Event::Entity(_)
            | Event::Pack(_)
            | Event::Checkpoint(_)
            | Event::Document(_)
            | Event::Capture(_)
            | Event::Trust(_)
            | Event::Forgetting(_) => AffectedResources::default(),
        }
    }
}

fn described(file: &FileRow) -> String {
    let at = crate::clock::format_time(file.at);
    let by = match file.agent.as_str() {
        "" => String::new(),
        agent => format!(" by {agent}"),
    };
    format!("version {}, written {at}{by}", file.written.version)
}

/// Returns the row for the variable part of a URI.
fn row(rows: &dyn Rows, id: &str) -> Result<FileRow, Refusal> {
    let parts = id.split_once('/');
    let found = match parts {
        Some((project, file_type)) if !file_type.contains('/') => {
            view::file(rows, project, file_type)?
        }
        Some(_) | None => None,
    };
    found.filter(FileRow::is_written).ok_or_else(|| {
        let shown: String = id.chars().take(120).collect();
        Refusal::new(
            Code::NotFound,
            format!("context file `lore://project/{shown}` not found"),
        )
        .hint(hint![
            "The address is `lore://project/<project id>/<file type>`.";
            Tool::ListContexts, " lists them."
        ])
    })
}
