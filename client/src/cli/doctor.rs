//! `lore doctor`: client-side checks, those of the hosts, and all findings of the daemon's program.

mod activity;
mod codex;
mod hosts;

use std::process;

use lore::connection::Error;
use lore::protocol::{Deserialize, Serialize};
use lore::start::find_daemon;

use super::command::Command;
use super::flag::Flag;
use super::output::{self, sanitize, table};
use super::parser::Matches;
use super::report::{read, to_json};
use super::{Exit, Failure, Globals, service};

/// `lore doctor`.
pub const DOCTOR: Command = Command::local(
    "doctor",
    "Check everything that can be wrong, with a remedy for each problem",
    run,
)
.flags(&[&[Flag::switch(
    "fix",
    "Do what is safe: restrict folders and files of ours, remove what a dead daemon left behind",
)
.local()]])
.examples(&["lore doctor", "lore doctor --fix"]);

/// Output of `lored doctor --json`, printed here too. [`output::write_json`] adds the schema version.
#[derive(Debug, Serialize, Deserialize)]
struct Report {
    findings: Vec<Finding>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Finding {
    check: String,
    state: String,
    seen: String,
    remedy: Option<String>,
    fixed: bool,
}

impl Finding {
    fn new(check: &str, state: &str, seen: String, remedy: Option<&str>) -> Self {
        Self {
            check: check.to_owned(),
            state: state.to_owned(),
            seen,
            remedy: remedy.map(str::to_owned),
            fixed: false,
        }
    }

    fn is_left(&self, state: &str) -> bool {
        self.state == state && !self.fixed
    }
}

fn run(matches: &Matches, globals: &Globals) -> Result<Exit, Failure> {
    let mut findings = vec![client()];
    findings.extend(daemon(matches.is("fix"), globals));
    findings.extend(units(globals));
    findings.extend(hosts::check(globals));
    let report = Report { findings };
    match globals.json {
        true => output::write_json(&to_json(&report)?)?,
        false => output::write(render_text(&report).as_bytes())?,
    }
    let is_bad = report.findings.iter().any(|finding| finding.is_left("bad"));
    Ok(if is_bad { Exit::Nothing } else { Exit::Good })
}

/// Returns the findings of the daemon's program, or the reason why it cannot run.
fn daemon(fixes: bool, globals: &Globals) -> Vec<Finding> {
    const INSTALL: &str = "Install it, with `cargo install --path daemon` in the source of lore, or name it with LORE_DAEMON.";
    let bad = |check: &str, seen: String, remedy: &str| {
        vec![Finding::new(check, "bad", seen, Some(remedy))]
    };
    if let Err(error) = globals.paths() {
        let remedy = "Set HOME to a folder of yours, or LORE_HOME to one for all that is lore's.";
        return bad("places", error.to_string(), remedy);
    }
    let check = "daemon's program";
    let program = match find_daemon() {
        Ok(program) => program,
        Err(error) => return bad(check, Error::from(error).to_body().message, INSTALL),
    };
    let mut command = process::Command::new(&program);
    if let Some(socket) = &globals.socket {
        command.arg("--socket").arg(socket);
    }
    let output = match command
        .args(["doctor", "--json"])
        .args(fixes.then_some("--fix"))
        .output()
    {
        Ok(output) => output,
        Err(error) => return bad(check, format!("{}: {error}", program.display()), INSTALL),
    };
    read::<Report>(&output.stdout).map_or_else(
        |_| {
            let errors = String::from_utf8_lossy(&output.stderr);
            let seen = format!(
                "{} ({}): {}",
                program.display(),
                output.status,
                errors.trim()
            );
            bad(check, seen, "Install lore and lored of one version.")
        },
        |report| report.findings,
    )
}

/// Checks whether the installed units match those of this version.
fn units(globals: &Globals) -> Option<Finding> {
    let (paths, daemon) = (globals.paths().ok()?, find_daemon().ok()?);
    let check = "units";
    match service::outdated(&paths, &daemon) {
        Ok(None) => None,
        Ok(Some(outdated)) => Some(match outdated.first() {
            None => Finding::new(
                check,
                "good",
                "as this version installs them".to_owned(),
                None,
            ),
            Some(first) => {
                let first = first.display();
                let seen = format!("{first} is not as this version installs it");
                let remedy = "`lore service install` writes them again; your own changes belong in a drop-in: \
                              systemctl --user edit lored.service";
                Finding::new(check, "warning", seen, Some(remedy))
            }
        }),
        Err(Failure::Io(error)) => {
            let remedy = "`lore service install` says more.";
            Some(Finding::new(
                check,
                "warning",
                error.to_string(),
                Some(remedy),
            ))
        }
        // Cannot occur: the check neither calls the daemon nor parses arguments.
        Err(Failure::Call(_) | Failure::Usage(_)) => None,
    }
}

fn client() -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    let own = std::env::current_exe().ok();
    let own = own.map_or_else(String::new, |own| format!(", {}", own.display()));
    Finding::new("client", "good", format!("{version}{own}"), None)
}

fn render_text(report: &Report) -> String {
    let mut rows = Vec::new();
    for finding in &report.findings {
        let state = if finding.fixed {
            "fixed"
        } else {
            finding.state.as_str()
        };
        rows.push([
            state.to_owned(),
            sanitize(&finding.check, 40),
            sanitize(&finding.seen, 0),
        ]);
        if let (Some(remedy), false) = (&finding.remedy, finding.fixed) {
            rows.push([
                String::new(),
                String::new(),
                format!("-> {}", sanitize(remedy, 0)),
            ]);
        }
    }
    let count = |state| {
        report
            .findings
            .iter()
            .filter(|finding| finding.is_left(state))
            .count()
    };
    let summary = match (count("bad"), count("warning")) {
        (0, 0) => "all is well\n".to_owned(),
        (bad, warnings) => format!("{bad} bad, {warnings} to be looked at\n"),
    };
    table(&["", "check", "seen"], &rows) + &summary
}
