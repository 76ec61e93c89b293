//! `lore context templates` and `template`: what context files are to look like.

use std::fmt::Write;

use lore::protocol::projects::{
    GetTemplateArgs, GetTemplateReply, ListTemplatesArgs, ListTemplatesReply, TemplateLine,
    TemplateOrigin,
};

use super::{Where, Which};
use crate::cli::exchange::{Told, ask};
use crate::cli::output::{is_terminal, shown, shown_lines, table, text_for};
use crate::cli::{Caller, End, Failure};

/// List the types of context files there are, and the template files that cannot be used
#[derive(Debug, clap::Args)]
pub struct Templates {
    #[command(flatten)]
    project: Where,
}

impl Templates {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ListTemplatesArgs {
            project_id: self.project.named()?,
            agent: None,
        };
        ask(caller, "list_templates", &args, human)
    }
}

fn human(reply: &ListTemplatesReply) -> Told {
    let rows: Vec<_> = reply.templates.iter().map(row).collect();
    let mut aside = String::new();
    for broken in &reply.broken {
        // Writing into a string does not fail.
        let _ = writeln!(
            aside,
            "lore: {}, line {}: {}",
            shown(&broken.path, 0),
            broken.line,
            shown_lines(&broken.reason)
        );
        aside += "  This file is not in force; what was in force before it broke still is\n";
    }
    Told {
        out: table(["file type", "from", "is for", "file"], &rows),
        aside,
        end: End::Good,
    }
}

fn row(template: &TemplateLine) -> [String; 4] {
    [
        shown(&template.file_type, 40),
        origin(template.origin).to_owned(),
        shown(&template.description, 60),
        shown(template.path.as_deref().unwrap_or("-"), 0),
    ]
}

/// Print a template, or with --example a whole file that fits it
///
/// A copy of it in the folder of your templates, or in your project's, is in force instead.
#[derive(Debug, clap::Args)]
pub struct Template {
    #[command(flatten)]
    which: Which,
    /// Print a whole file that fits instead
    #[arg(long)]
    example: bool,
}

impl Template {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = GetTemplateArgs {
            file_type: self.which.file_type,
            project_id: self.which.project.named()?,
            agent: None,
        };
        let is_example = self.example;
        ask(caller, "get_template", &args, |reply: &GetTemplateReply| {
            let text = match is_example {
                true => &reply.example,
                false => &reply.template,
            };
            Told {
                out: text_for(text, is_terminal()).into_owned(),
                aside: about(reply),
                end: End::Good,
            }
        })
    }
}

fn about(reply: &GetTemplateReply) -> String {
    let from = match &reply.path {
        Some(path) => format!("{}: {}", origin(reply.origin), shown(path, 0)),
        None => origin(reply.origin).to_owned(),
    };
    format!("lore: {} ({from})\n", shown(&reply.file_type, 80))
}

/// Where a template is from, in words.
const fn origin(origin: TemplateOrigin) -> &'static str {
    match origin {
        TemplateOrigin::BuiltIn => "built in",
        TemplateOrigin::User => "yours",
        TemplateOrigin::Project => "the project's",
    }
}
