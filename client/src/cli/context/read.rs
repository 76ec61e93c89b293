//! `lore context get`: the content alone, for people and for pipes.

use std::fmt::Write;

use lore::protocol::projects::{GetContextArgs, GetContextReply, ToWrite};

use super::{Which, author, flaws};
use crate::cli::exchange::{Told, ask, moment};
use crate::cli::output::{is_terminal, shown, shown_lines, text_for};
use crate::cli::{Caller, End, Failure};

/// Print a context file; what is said about it goes to standard error
#[derive(Debug, clap::Args)]
pub struct Get {
    #[command(flatten)]
    which: Which,
    /// This section alone, by its heading or its key such as open_issues
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// This version, as `lore context history` tells it
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// Your last content that did not fit, instead of the file
    #[arg(long, conflicts_with_all = ["version", "as_of"])]
    draft: bool,
    /// As it was at this position or RFC 3339 time
    #[arg(long, value_name = "WHEN", conflicts_with = "version")]
    as_of: Option<String>,
    /// At most so many tokens, cut at the end of a line
    #[arg(long, value_name = "COUNT")]
    max_tokens: Option<u64>,
}

impl Get {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = GetContextArgs {
            project_id: self.which.project.id()?,
            file_type: self.which.file_type,
            section: self.section,
            version: self.version,
            draft: self.draft.then_some(true),
            as_of: moment(self.as_of.as_deref())?,
            max_tokens: self.max_tokens,
            at_least: None,
            agent: None,
        };
        ask(caller, "get_context", &args, |reply: &GetContextReply| {
            told(reply, is_terminal())
        })
    }
}

fn told(reply: &GetContextReply, is_terminal: bool) -> Told {
    let Some(content) = &reply.content else {
        return Told::nothing(nothing(reply));
    };
    let mut out = text_for(content, is_terminal).into_owned();
    if is_terminal && !out.ends_with('\n') {
        out.push('\n');
    }
    Told {
        out,
        aside: about(reply),
        end: End::Good,
    }
}

/// Which version it is, whose, and what is wrong with it.
fn about(reply: &GetContextReply) -> String {
    let (file_type, project) = (shown(&reply.file_type, 80), shown(&reply.project, 80));
    let at = shown(reply.updated_at.as_deref().unwrap_or_default(), 30);
    let by = author(reply.updated_by.as_deref());
    let mut text = match reply.attempt_count {
        Some(attempts) => format!(
            "lore: draft of {file_type} in {project}, attempt {attempts} by {by} at {at}: not \
             written, because it does not fit\n"
        ),
        None => format!(
            "lore: {file_type} of {project}, version {}, by {by} at {at}\n",
            reply.version
        ),
    };
    if reply.truncated == Some(true) {
        let tokens = reply.tokens.unwrap_or_default();
        // Writing into a string does not fail.
        let _ = writeln!(text, "lore: cut; the whole has {tokens} tokens");
    }
    if let Some(validation) = &reply.validation {
        text += &flaws(&validation.errors, validation.more);
    }
    text
}

/// That nothing stands there, and how to write it.
fn nothing(reply: &GetContextReply) -> String {
    let (file_type, project) = (shown(&reply.file_type, 80), shown(&reply.project, 80));
    let mut text = match reply.version {
        0 => format!("lore: {file_type} of {project} was never written\n"),
        version => format!(
            "lore: {file_type} of {project} is empty since version {version}, by {} at {}\n",
            author(reply.updated_by.as_deref()),
            shown(reply.updated_at.as_deref().unwrap_or_default(), 30)
        ),
    };
    if let Some(template) = &reply.template {
        text += &to_write(&file_type, template);
    }
    text
}

fn to_write(file_type: &str, template: &ToWrite) -> String {
    let mut text = format!("  It is for: {}\n", shown_lines(&template.description));
    if !template.required_sections.is_empty() {
        let sections = shown(&template.required_sections.join(", "), 0);
        // Writing into a string does not fail.
        let _ = writeln!(text, "  It has the sections {sections}");
    }
    text + &format!(
        "  `lore context template {file_type} --example` prints one that fits; \
         `lore context update {file_type} FILE` writes yours\n"
    )
}
