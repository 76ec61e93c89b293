//! `lore context history` and `diff`: the versions of a context file.

use lore::protocol::projects::{
    ContextHistoryArgs, ContextHistoryReply, ContextVersion, DiffContextArgs, DiffContextReply,
};

use super::{Which, author};
use crate::cli::exchange::{Told, ask};
use crate::cli::given::{Page, counted, more, word};
use crate::cli::output::{is_terminal, shown, table, text_for};
use crate::cli::status::bytes;
use crate::cli::{Caller, End, Failure};

/// List the versions of a context file, the newest first
#[derive(Debug, clap::Args)]
pub struct History {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    page: Page,
}

impl History {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ContextHistoryArgs {
            project_id: self.which.project.id()?,
            file_type: self.which.file_type,
            limit: self.page.limit,
            next: self.page.next,
            at_least: None,
            agent: None,
        };
        ask(caller, "context_history", &args, versions)
    }
}

fn versions(reply: &ContextHistoryReply) -> Told {
    if reply.versions.is_empty() {
        return Told::nothing(format!(
            "lore: {} of {} was never written\n",
            shown(&reply.file_type, 80),
            shown(&reply.project, 80)
        ));
    }
    let rows: Vec<_> = reply.versions.iter().map(row).collect();
    let heading = [
        "version", "at", "by", "change", "size", "errors", "from", "sections", "reason",
    ];
    Told::good(table(heading, &rows) + &more(reply.next.as_deref()))
}

fn row(version: &ContextVersion) -> [String; 9] {
    let from = match (version.base, version.beside) {
        (Some(base), Some(beside)) => format!("{base}, without {beside}"),
        (Some(base), None) => base.to_string(),
        (None, Some(beside)) => format!("without {beside}"),
        (None, None) => "-".to_owned(),
    };
    let sections = match version.changed_sections.as_slice() {
        [] => "-".to_owned(),
        sections => shown(&sections.join(", "), 60),
    };
    [
        version.version.to_string(),
        shown(&version.at, 30),
        author(Some(&version.agent)),
        word(&version.change),
        bytes(version.bytes),
        version.errors.to_string(),
        from,
        sections,
        shown(version.reason.as_deref().unwrap_or_default(), 60),
    ]
}

/// Tell what changed between two versions of a context file
///
/// A unified diff, on standard output.
#[derive(Debug, clap::Args)]
pub struct Diff {
    #[command(flatten)]
    which: Which,
    /// The earlier version; otherwise the one before TO. 0 is the empty file
    from: Option<u64>,
    /// The later version; otherwise the newest
    to: Option<u64>,
}

impl Diff {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = DiffContextArgs {
            project_id: self.which.project.id()?,
            file_type: self.which.file_type,
            from: self.from,
            to: self.to,
            at_least: None,
            agent: None,
        };
        ask(caller, "diff_context", &args, |reply| {
            difference(reply, is_terminal())
        })
    }
}

fn difference(reply: &DiffContextReply, is_terminal: bool) -> Told {
    let sections = match reply.changed_sections.as_slice() {
        [] => String::new(),
        sections => format!(", in {}", shown(&sections.join(", "), 0)),
    };
    Told {
        out: text_for(&reply.diff, is_terminal).into_owned(),
        aside: format!(
            "lore: {} of {} from version {} to {}: {} more, {} less{sections}\n",
            shown(&reply.file_type, 80),
            shown(&reply.project, 80),
            reply.from,
            reply.to,
            counted(reply.added, "line"),
            counted(reply.removed, "line"),
        ),
        end: End::Good,
    }
}
