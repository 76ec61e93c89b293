//! `lore context …`: a project's context files.

mod conflict;
mod read;
mod write;

use serde_json::Value;

use super::command::Command;
use super::common::PAGE;
use super::flag::{Fields, Flag, Kind};
use super::input::absolute;
use super::output::{is_terminal, sanitize_lines, text_for};
use super::parser::Matches;
use super::report::{Column, Rendered, Report, column, column_of, rows, table_or};
use super::template::{at, fill, is, list, number, raw};
use super::{Caller, Failure};

/// Names the project of the working directory.
const CURRENT: &str = "current";

const PROJECT: Flag = Flag::text(
    "project",
    "PROJECT",
    "Another project than that of this folder: its id, or a path in it",
)
.local();

/// Flags that select a context file and its project.
const WHICH: &[Flag] = &[
    Flag::positional(
        Kind::Text,
        "file_type",
        "FILE_TYPE",
        "Context file: mental_model, session_summary, bugs, features, or another with a template",
    ),
    PROJECT,
];

/// `lore context` and its commands.
pub const CONTEXT: Command = Command::family(
    "context",
    "Read and update the notes that every agent in a project shares",
    &[
        read::GET,
        write::UPDATE,
        write::APPEND,
        write::CLEAR,
        Command::call_with(
            "history",
            "List the versions of a context file, newest first",
            "context_history",
            project,
            VERSIONS,
        )
        .flags(&[WHICH, PAGE])
        .examples(&["lore context history bugs"]),
        Command::call_with(
            "diff",
            "Print what changed between two versions of a context file",
            "diff_context",
            project,
            Report::Rendered(difference),
        )
        .details("A unified diff, on standard output.")
        .flags(&[
            WHICH,
            &[
                Flag::positional(
                    Kind::Number,
                    "from",
                    "FROM",
                    "Earlier version; otherwise the one before TO. 0 is the empty file",
                )
                .optional(),
                Flag::positional(
                    Kind::Number,
                    "to",
                    "TO",
                    "Later version; otherwise the newest",
                )
                .optional(),
            ],
        ])
        .examples(&["lore context diff bugs", "lore context diff bugs 3 5"]),
        Command::call_with(
            "list",
            "List a project's context files, including those not written yet",
            "list_contexts",
            project,
            Report::Rendered(files),
        )
        .flags(&[&[PROJECT]])
        .examples(&["lore context list"]),
        Command::call_with(
            "templates",
            "List the types of context files, and the template files that cannot be used",
            "list_templates",
            named_project,
            Report::Rendered(templates),
        )
        .flags(&[&[PROJECT]])
        .examples(&["lore context templates"]),
        Command::call_with(
            "template",
            "Print a template, or with --example a whole file that fits it",
            "get_template",
            named_project,
            Report::Rendered(template),
        )
        .details("A copy of it in the folder of your templates, or in your project's, replaces it.")
        .flags(&[
            WHICH,
            &[Flag::switch("example", "Print a whole file that fits instead").local()],
        ])
        .examples(&["lore context template bugs --example"]),
    ],
);

/// Adds the project in the daemon's format; the current project by default.
fn project(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let project = matches.text("project").unwrap_or(CURRENT);
    fields.put("project_id", &project_id(project)?)
}

/// Adds the project only if the command line names it.
fn named_project(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let project = matches.text("project").map(project_id).transpose()?;
    fields.put_some("project_id", project.as_ref())
}

/// Returns an id unchanged, and a path as an absolute path.
fn project_id(text: &str) -> Result<String, Failure> {
    let is_id = text
        .bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
    match is_id {
        true => Ok(text.to_owned()),
        false => absolute(text),
    }
}

const VERSIONS: Report = table_or(
    "versions",
    &[
        column("version", "{version}"),
        column("at", "{at:time}"),
        column_of("by", |version| author(at(version, "agent"))),
        column("change", "{change}"),
        column("size", "{bytes:bytes}"),
        column("errors", "{errors}"),
        column_of("from", |version| {
            let template = match (at(version, "base"), at(version, "beside")) {
                (Value::Null, Value::Null) => "-",
                (_, Value::Null) => "{base}",
                (Value::Null, _) => "without {beside}",
                (_, _) => "{base}, without {beside}",
            };
            fill(template, version)
        }),
        column("sections", "{changed_sections:60=-}"),
        column("reason", "{reason:60}"),
    ],
    "lore: {file_type:80} of {project:80} was never written\n",
);

fn difference(reply: &Value, _: &Matches) -> Rendered {
    let sections = match list(reply, "changed_sections") {
        [] => "",
        _ => ", in {changed_sections}",
    };
    let aside = "lore: {file_type:80} of {project:80} from version {from} to {to}: {added:count line} more, \
                 {removed:count line} less";
    Rendered::good(text_for(raw(reply, "diff"), is_terminal()).into_owned())
        .aside(fill(&format!("{aside}{sections}\n"), reply))
}

/// Fills a template for a file; `-` if the file was never written.
fn known(template: &str, file: &Value) -> String {
    match number(file, "version") {
        0 => "-".to_owned(),
        _ => fill(template, file),
    }
}

const FILES: &[Column] = &[
    column("file type", "{file_type:40}"),
    column_of("version", |file| known("{version}", file)),
    column_of("at", |file| known("{updated_at:time}", file)),
    column_of("by", |file| known("{updated_by:40=-}", file)),
    column_of("size", |file| known("{bytes:bytes}", file)),
    column_of("errors", |file| known("{errors}", file)),
    column_of("drafts by", |file| {
        let drafts: Vec<_> = list(file, "drafts").iter().map(author).collect();
        fill("{:40=-}", &drafts.into())
    }),
    column_of("file", |file| {
        let template = match is(file, "written") {
            true => "{path}",
            false => "not written: {description:60}",
        };
        fill(template, file)
    }),
];

fn files(reply: &Value, _: &Matches) -> Rendered {
    let aside = fill("lore: project {project:80}\n", reply);
    Rendered::good(rows(FILES, list(reply, "contexts"))).aside(aside)
}

const TEMPLATES: &[Column] = &[
    column("file type", "{file_type:40}"),
    column_of("from", |template| origin(template).to_owned()),
    column("is for", "{description:60}"),
    column("file", "{path=-}"),
];

fn templates(reply: &Value, _: &Matches) -> Rendered {
    let mut aside = String::new();
    for broken in list(reply, "broken") {
        aside += &fill("lore: {path}, line {line}: ", broken);
        aside += &sanitize_lines(raw(broken, "reason"));
        aside += "\n  This file is not in force; its last valid version still is\n";
    }
    Rendered::good(rows(TEMPLATES, list(reply, "templates"))).aside(aside)
}

fn template(reply: &Value, matches: &Matches) -> Rendered {
    let text = match matches.is("example") {
        true => raw(reply, "example"),
        false => raw(reply, "template"),
    };
    let from = match at(reply, "path") {
        Value::Null => origin(reply).to_owned(),
        path => format!("{}: {}", origin(reply), fill("{}", path)),
    };
    let aside = fill("lore: {file_type:80} (", reply) + &from + ")\n";
    Rendered::good(text_for(text, is_terminal()).into_owned()).aside(aside)
}

fn origin(template: &Value) -> &str {
    match raw(template, "origin") {
        "built_in" => "built in",
        "user" => "yours",
        "project" => "the project's",
        other => other,
    }
}

/// Lists violations of a template, two lines each: the location and the remedy.
fn violations(found: &Value) -> String {
    let mut text = String::new();
    for error in list(found, "errors") {
        text += &fill("  line {line}: {severity}: {message}\n", error);
        match raw(error, "correction_prompt") {
            "" => {}
            prompt => text += &indented(&sanitize_lines(prompt)),
        }
    }
    match at(found, "more") {
        Value::Null => text,
        more => text + &format!("  … and {more} more\n"),
    }
}

/// Indents the lines of a text by four spaces; empty lines stay empty.
fn indented(text: &str) -> String {
    let indent = |line: &str| match line {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    };
    text.trim_end().split('\n').map(indent).collect()
}

/// Formats an author; `-` for an author without a name.
fn author(agent: &Value) -> String {
    fill("{:40=-}", agent)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_paths_are_distinguished() {
        let read = |text: &str| project_id(text).ok().unwrap();
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(read("shop-0123abcd"), "shop-0123abcd");
        assert_eq!(read("current"), "current");
        assert_eq!(read("/srv/shop"), "/srv/shop");
        assert_eq!(read("./shop"), format!("{here}/shop"));
        assert_eq!(read("My Shop"), format!("{here}/My Shop"));
        assert_eq!(read("../shop"), format!("{here}/../shop"));
        assert_eq!(read("."), here);
    }
}
