//! `lore context get`: prints only the content, for people and for pipes.

use serde_json::Value;

use super::{WHICH, author, project, violations};
use crate::cli::command::Command;
use crate::cli::common::AS_OF;
use crate::cli::flag::Flag;
use crate::cli::output::{is_terminal, sanitize_lines, text_for};
use crate::cli::parser::Matches;
use crate::cli::report::{Rendered, Report};
use crate::cli::template::{at, fill, is, list, number, raw};

/// `lore context get`.
pub const GET: Command = Command::call_with(
    "get",
    "Print a context file; its version and its errors go to standard error",
    "get_context",
    project,
    Report::Rendered(content),
)
.flags(&[
    WHICH,
    &[
        Flag::text(
            "section",
            "NAME",
            "Only this section, by its heading or its key such as open_issues",
        ),
        Flag::number(
            "version",
            "NUMBER",
            "This version, as `lore context history` lists it",
        ),
        Flag::switch(
            "draft",
            "Your last content that did not fit, instead of the file",
        )
        .conflicts(&["version", "as-of"]),
        AS_OF.conflicts(&["version"]),
        Flag::number(
            "max-tokens",
            "COUNT",
            "At most this many tokens, cut at the end of a line",
        ),
    ],
])
.examples(&[
    "lore context get mental_model",
    "lore context get bugs --section open_issues",
]);

fn content(reply: &Value, _: &Matches) -> Rendered {
    let Value::String(content) = at(reply, "content") else {
        return Rendered::nothing(missing(reply));
    };
    let is_terminal = is_terminal();
    let mut out = text_for(content, is_terminal).into_owned();
    if is_terminal && !out.ends_with('\n') {
        out.push('\n');
    }
    Rendered::good(out).aside(about(reply))
}

/// Describes the version, its author and its errors.
fn about(reply: &Value) -> String {
    let template = match at(reply, "attempt_count") {
        Value::Null => {
            "lore: {file_type:80} of {project:80}, version {version}, by {updated_by:40=-} at {updated_at:time}\n"
        }
        _ => {
            "lore: draft of {file_type:80} in {project:80}, attempt {attempt_count} by {updated_by:40=-} at \
             {updated_at:time}: not written, because it does not fit\n"
        }
    };
    let mut text = fill(template, reply);
    if is(reply, "truncated") {
        text += &fill("lore: cut; the whole has {tokens=0} tokens\n", reply);
    }
    text + &violations(at(reply, "validation"))
}

/// Explains that the file has no content, and how to write it.
fn missing(reply: &Value) -> String {
    let empty = "lore: {file_type:80} of {project:80} is empty since version {version}, by ";
    let mut text = match number(reply, "version") {
        0 => fill(
            "lore: {file_type:80} of {project:80} was never written\n",
            reply,
        ),
        _ => {
            fill(empty, reply)
                + &author(at(reply, "updated_by"))
                + &fill(" at {updated_at:time}\n", reply)
        }
    };
    let template = at(reply, "template");
    if !template.is_null() {
        text += &format!(
            "  It is for: {}\n",
            sanitize_lines(raw(template, "description"))
        );
        if !list(template, "required_sections").is_empty() {
            text += &fill("  It has the sections {required_sections}\n", template);
        }
        text += &fill(
            "  `lore context template {file_type:80} --example` prints one that fits; \
             `lore context update {file_type:80} FILE` writes yours\n",
            reply,
        );
    }
    text
}
