//! `lore handoff` and `lore continue`: another agent goes on with the work of a session.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process;

use serde_json::Value;

use super::command::Command;
use super::flag::{Flag, Kind};
use super::output::sanitize_lines;
use super::parser::Matches;
use super::report::{Rendered, Report};
use super::template::raw;
use super::{Caller, Exit, Failure};

/// The words after the text, which a host takes for its user's.
const GO_ON: &str = "Continue this work.";

const MAX_TOKENS: Flag = Flag::number(
    "max-tokens",
    "COUNT",
    "At most this many tokens; 2000 by default",
);

/// Hosts that take a first prompt on their command line, with the words before it. Claude Code, Codex, Gemini CLI, Qwen
/// Code, opencode and Copilot CLI by their `--help`, the others by their documentation.
const FIRST_PROMPTS: [(&str, &[&str]); 9] = [
    ("claude-code", &["claude"]),
    ("codex", &["codex"]),
    ("gemini", &["gemini", "--prompt-interactive"]),
    ("qwen", &["qwen", "--prompt-interactive"]),
    ("opencode", &["opencode", "--prompt"]),
    ("copilot", &["copilot", "--interactive"]),
    ("cursor", &["cursor-agent"]),
    ("goose", &["goose", "run", "--interactive", "--text"]),
    ("cline", &["cline"]),
];

/// `lore handoff`.
pub const HANDOFF: Command = Command::call(
    "handoff",
    "Write what another agent needs to continue a session",
    "handoff",
    Report::Rendered(handed_over),
)
.details(
    "What was asked, the plan, decisions, files, commands and the last failure, for an agent of any vendor. Give the text as \
     the first prompt of the other agent, with the marks around it: by them its session is linked to this one. \
     `--session` names another session than your own or the project's newest.",
)
.flags(&[&[
    Flag::text("to", "HOST", "The host whose agent continues the work, such as codex"),
    MAX_TOKENS,
]])
.examples(&["lore handoff", "lore handoff --to codex"]);

/// `lore continue`.
pub const CONTINUE: Command = Command::client(
    "continue",
    "Continue the work of another session, here or in a host",
    continue_session,
)
.details(
    "Links your session to the other one, and prints what was asked, decided and done there. With `--exec` it starts the \
     host instead, with that text as its first prompt.",
)
.flags(&[&[
    Flag::positional(Kind::Session, "from", "SESSION", "The session to continue").local(),
    MAX_TOKENS,
    Flag::switch("exec", "Start the host of --to with the text as its first prompt")
        .local()
        .requires("to"),
    Flag::text("to", "HOST", "The host to start, such as codex").local().requires("exec"),
    Flag::positional(
        Kind::Rest,
        "arguments",
        "ARGUMENTS",
        "More arguments for the host, after --",
    )
    .optional()
    .allows_dash()
    .local(),
]])
.examples(&[
    "lore continue s-0123456789abcdef",
    "lore continue s-0123456789abcdef --exec --to codex",
]);

fn handed_over(reply: &Value, _: &Matches) -> Rendered {
    Rendered::good(format!(
        "{}\n",
        sanitize_lines(raw(reply, "text")).trim_end()
    ))
}

fn continue_session(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut fields = matches.fields()?;
    let from = matches.text("from").unwrap_or_default();
    let more: Vec<OsString> = matches.rest("arguments");
    let Some(host) = matches.text("to") else {
        if !more.is_empty() {
            return Err(Failure::Usage(
                "arguments for a host need --exec and --to, which say which host to start"
                    .to_owned(),
            ));
        }
        fields.put("from", &from)?;
        let reply = caller.reply("continue_session", fields)?;
        let rendered = Report::Rendered(handed_over).render(&reply.json, matches)?;
        return caller.print(reply, rendered);
    };
    let known = FIRST_PROMPTS.iter().find(|(name, _)| *name == host);
    let Some((_, words)) = known else {
        let known: Vec<&str> = FIRST_PROMPTS.iter().map(|(name, _)| *name).collect();
        return Err(Failure::Usage(format!(
            "--to is {host:?}; a first prompt takes {}. For others, copy the text of `lore handoff`.",
            known.join(", ")
        )));
    };
    fields.put("session", &from)?;
    fields.put("to", &host)?;
    let json = caller.call("handoff", fields)?;
    let reply: Value = serde_json::from_slice(&json).map_err(io::Error::other)?;
    let prompt = format!("{}\n\n{GO_ON}", raw(&reply, "text"));
    start(words, more, prompt)
}

/// Replaces this process by a host. Returns only on failure.
fn start(words: &[&str], more: Vec<OsString>, prompt: String) -> Result<Exit, Failure> {
    let (program, options) = words.split_first().unwrap_or((&"", &[]));
    // Options go before the word that the prompt is the value of.
    let (last, before) = match options.split_last() {
        Some((last, before)) => (Some(last), before),
        None => (None, options),
    };
    let mut command = process::Command::new(program);
    command.args(before).args(more).args(last).arg(prompt);
    let error = command.exec();
    Err(io::Error::new(
        error.kind(),
        format!("`{program}` cannot be started: {error}"),
    )
    .into())
}
