//! `lore page`: a page to look at everything with a browser.

mod export;

use std::env;
use std::ffi::OsString;
use std::process::{Command as Process, Stdio};

use lore::protocol::page::OpenPageReply;

use crate::cli::command::Command;
use crate::cli::flag::{Fields, Flag};
use crate::cli::output::{self, Output};
use crate::cli::parser::Matches;
use crate::cli::report::read;
use crate::cli::{Caller, Exit, Failure, variable};

/// `lore page`.
pub const PAGE: Command = Command::client(
    "page",
    "Look in a browser at what agents did, and at what they were given",
    page,
)
.details(
    "Prints a link and opens the browser. The link works once, within five minutes, in a browser on this machine. Only then the \
     daemon listens for browsers, and it stops when it has had no viewer for half an hour. The page changes nothing. \
     --export writes one session as an HTML file without scripts, with what `lore session export` has of it.",
)
.flags(&[&[
    Flag::switch("no-open", "Only print the link").local(),
    Flag::text("export", "SESSION", "Write this session as one HTML file, to standard output")
        .local()
        .conflicts(&["no-open"]),
]])
.examples(&["lore page", "lore page --no-open", "lore page --export outage"]);

fn page(matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
    if let Some(session) = matches.text("export") {
        return export::export(session, caller);
    }
    let reply = caller.call("open_page", Fields::default())?;
    if caller.output == Output::Json {
        output::write_json(&reply)?;
        return Ok(Exit::Good);
    }
    let reply: OpenPageReply = read(&reply)?;
    output::write(format!("{}\n", reply.url).as_bytes())?;
    if variable("SSH_CONNECTION").is_some() {
        lore::errln!("{}", forwarding(&reply.url));
        return Ok(Exit::Good);
    }
    if !matches.is("no-open") && !open(&reply.url) {
        lore::errln!(
            "lore: no browser could be started here; open the link in one on this machine"
        );
    }
    Ok(Exit::Good)
}

/// Returns how a browser at the other end of an ssh connection reaches the page.
fn forwarding(url: &str) -> String {
    let port = port(url).unwrap_or_default();
    format!(
        "lore: this shell came over ssh. On your machine, run `ssh -N -L {port}:127.0.0.1:{port} HOST` with the name of this \
         one, then open the link there."
    )
}

fn port(url: &str) -> Option<&str> {
    let (_, after) = url.rsplit_once(':')?;
    after.split('/').next()
}

/// Starts a browser; returns whether one was found.
fn open(url: &str) -> bool {
    let is_possible = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]
            .iter()
            .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()));
    if !is_possible {
        return false;
    }
    let own = env::var_os("BROWSER").filter(|program| !program.is_empty());
    let usual = match cfg!(target_os = "macos") {
        true => "open",
        false => "xdg-open",
    };
    let programs = own.into_iter().chain([OsString::from(usual)]);
    programs.into_iter().any(|program| {
        let mut command = Process::new(program);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null());
        // It goes on by itself, and does not end with this program.
        command.stderr(Stdio::null()).spawn().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_named_for_ssh() {
        let hint = forwarding("http://127.0.0.1:40123/#00ff");
        assert!(hint.contains("-L 40123:127.0.0.1:40123 HOST"), "{hint}");
        assert!(
            !hint.contains("00ff"),
            "the secret is in the link alone: {hint}"
        );
    }
}
