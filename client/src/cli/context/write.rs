//! `lore context update`, `append` and `clear`: commands that change a context file.

use serde_json::{Value, json};

use super::{WHICH, conflict, indented, project, violations};
use crate::cli::command::Command;
use crate::cli::common::KEY;
use crate::cli::flag::{Fields, Flag, Kind};
use crate::cli::input::file_text;
use crate::cli::output::sanitize_lines;
use crate::cli::parser::Matches;
use crate::cli::report::{Rendered, Report, read};
use crate::cli::template::{at, fill, is, list, raw};
use crate::cli::{Caller, Exit, Failure};

/// Flags of every write to a context file.
const GUARD: &[Flag] = &[
    Flag::number(
        "expect",
        "VERSION",
        "Refuse unless this is the newest version; 0: nothing was ever written",
    )
    .sends("expected_version"),
    KEY,
];

/// `lore context update`.
pub const UPDATE: Command = Command::client("update", "Replace a context file, if the content fits its template", update)
    .details(
        "Content that does not fit is not written: standard error lists what is wrong and how to correct it, and the \
         exit code is 1. If another update was faster than --expect allows, the exit code is 5.",
    )
    .flags(&[
        WHICH,
        &[Flag::positional(Kind::Path, "file", "FILE", "File with the whole new content; - or nothing reads it from standard input")
            .default("-")
            .local()],
        GUARD,
        &[Flag::of(Kind::Path, "merged", "FILE", "If another update was faster: write both changes, merged, to this file")
            .local()
            .requires("expect")],
    ])
    .examples(&["lore context update bugs bugs.md --expect 3"]);

/// `lore context append`.
pub const APPEND: Command = Command::call_with(
    "append",
    "Add an entry to a context file, where its template says",
    "append_context",
    |matches, caller, fields| {
        put_file("entry", matches, fields)?;
        project(matches, caller, fields)
    },
    Report::Rendered(|reply, _| written(reply)),
)
.details("The rest of the file stays unchanged, even with concurrent writers.")
.flags(&[
    WHICH,
    &[Flag::positional(
        Kind::Path,
        "file",
        "FILE",
        "File with the entry, its heading first; - or nothing reads it from standard input",
    )
    .default("-")
    .local()],
    GUARD,
])
.examples(&["lore context append bugs entry.md"]);

/// `lore context clear`.
pub const CLEAR: Command = Command::call_with(
    "clear",
    "Empty a context file; its versions stay",
    "clear_context",
    project,
    Report::Text(cleared),
)
.flags(&[
    WHICH,
    &[Flag::text("reason", "TEXT", "Reason, for the history")],
    GUARD,
])
.examples(&["lore context clear session_summary --reason \"new release\""]);

fn put_file(argument: &str, matches: &Matches, fields: &mut Fields) -> Result<(), Failure> {
    let file = matches.path("file").unwrap_or_default();
    fields.put(
        argument,
        &file_text(&format!("the {argument}"), &file, u64::MAX)?,
    )
}

fn update(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut fields = matches.fields()?;
    put_file("content", matches, &mut fields)?;
    project(matches, caller, &mut fields)?;
    let file_type = matches.needed("file_type");
    let reply = caller.reply("update_context", fields).map_err(|failure| {
        conflict::explained(failure, file_type, matches.path("merged").as_deref())
    })?;
    let rendered = written(&read(&reply.json)?);
    caller.print(reply, rendered)
}

/// Renders the result of an update. Errors go to standard error.
fn written(reply: &Value) -> Rendered {
    match raw(reply, "status") {
        "success" => {
            let line = "{file_type:80} of {project:80} is at version {version=0}\n";
            let found = violations(at(reply, "validation_result"));
            Rendered::good(fill(line, reply)).aside(found + &earlier(reply))
        }
        _ => Rendered::nothing(unfit(reply)),
    }
}

/// Describes the worst error with its correction step by step, then lists all errors.
fn unfit(reply: &Value) -> String {
    let mut text = fill(
        "lore: {file_type:80} of {project:80} was not written: {message}\n",
        reply,
    );
    let guidance = at(reply, "correction_guidance");
    if !guidance.is_null() {
        text += &fill("{primary_issue}\n", guidance);
        for step in list(guidance, "step_by_step_fix") {
            text += &format!("  {}\n", sanitize_lines(step.as_str().unwrap_or_default()));
        }
        text += "Corrected, with a gap `<...>` for each thing that only you know:\n";
        text += &indented(&sanitize_lines(raw(guidance, "example_fix").trim()));
        text += "All that does not fit:\n";
    }
    text += &violations(&json!({
        "errors": at(reply, "validation_errors"),
        "more": at(at(reply, "validation_result"), "more"),
    }));
    text += &earlier(reply);
    let next = at(reply, "next_steps");
    if raw(reply, "status") == "max_attempts_reached" && !next.is_null() {
        text += &format!("{}\n", sanitize_lines(next.as_str().unwrap_or_default()));
    }
    let last = "Attempt {attempt_count}; your content is kept: `lore context get {file_type:80} --draft`\n";
    text + &fill(last, reply)
}

/// Lists the problems that the file had before; empty if it had none.
fn earlier(reply: &Value) -> String {
    let issues = at(reply, "earlier_issues");
    if issues.is_null() {
        return String::new();
    }
    let mut text = match at(issues, "since_version") {
        Value::Null => "The file had this before:\n".to_owned(),
        _ => fill(
            "The file had this before, since version {since_version} by {by:40=-}:\n",
            issues,
        ),
    };
    for problem in list(issues, "problems") {
        text += &format!(
            "  {}\n",
            sanitize_lines(problem.as_str().unwrap_or_default())
        );
    }
    match at(issues, "more") {
        Value::Null => text,
        more => text + &format!("  … and {more} more\n"),
    }
}

fn cleared(reply: &Value) -> String {
    if !is(reply, "cleared") {
        return fill("{file_type:80} of {project:80} was empty already\n", reply);
    }
    let archived = match at(reply, "archived_version") {
        Value::Null => "",
        _ => "; its last content: `lore context get {file_type:80} --version {archived_version}`",
    };
    let line = "{file_type:80} of {project:80} is empty at version {version}";
    fill(&format!("{line}{archived}\n"), reply)
}
