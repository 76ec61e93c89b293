//! `lore context list`: a project's context files as a table.

use lore::protocol::projects::{ContextFile, ListContextsArgs, ListContextsReply};

use super::{Where, author};
use crate::cli::exchange::{Told, ask};
use crate::cli::output::{shown, table};
use crate::cli::status::bytes;
use crate::cli::{Caller, End, Failure};

/// List a project's context files, those that could be written too
#[derive(Debug, clap::Args)]
pub struct List {
    #[command(flatten)]
    project: Where,
}

impl List {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ListContextsArgs {
            project_id: self.project.id()?,
            at_least: None,
            agent: None,
        };
        ask(caller, "list_contexts", &args, human)
    }
}

fn human(reply: &ListContextsReply) -> Told {
    let rows: Vec<_> = reply.contexts.iter().map(row).collect();
    let heading = [
        "file type",
        "version",
        "at",
        "by",
        "size",
        "errors",
        "drafts by",
        "file",
    ];
    Told {
        out: table(heading, &rows),
        aside: format!("lore: project {}\n", shown(&reply.project, 80)),
        end: End::Good,
    }
}

fn row(file: &ContextFile) -> [String; 8] {
    let drafts: Vec<_> = file
        .drafts
        .iter()
        .map(|agent| author(Some(agent)))
        .collect();
    let known = |text: String| match file.version {
        0 => "-".to_owned(),
        _ => text,
    };
    let what = match file.written {
        true => shown(&file.path, 0),
        false => format!("not written: {}", shown(&file.description, 60)),
    };
    [
        shown(&file.file_type, 40),
        known(file.version.to_string()),
        known(shown(file.updated_at.as_deref().unwrap_or_default(), 30)),
        known(author(file.updated_by.as_deref())),
        known(bytes(file.bytes)),
        known(file.errors.to_string()),
        match drafts.as_slice() {
            [] => "-".to_owned(),
            drafts => shown(&drafts.join(", "), 40),
        },
        what,
    ]
}
