//! `lore doctor`: what can be wrong on the client's side, and all that the daemon's program finds.

use std::process::Command;

use clap::Args;
use lore::connection::Error;
use lore::protocol::{Deserialize, Serialize};
use lore::start::find_daemon;

use super::output::{self, shown, table};
use super::{End, Failure, Globals, exchange, service};

/// Check everything that can be wrong, with a remedy for each
#[derive(Debug, Args)]
pub struct Doctor {
    /// Do what is safe: close folders and files of ours, remove what a dead daemon left in the way
    #[arg(long)]
    fix: bool,
}

/// What `lored doctor --json` prints, and what is printed here: [`output::write_json`] puts the version before it.
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

impl Doctor {
    pub fn run(self, globals: &Globals) -> Result<End, Failure> {
        let mut findings = self.findings(globals)?;
        findings.insert(0, client());
        findings.extend(units(globals));
        let report = Report { findings };
        match globals.json {
            true => output::write_json(&exchange::json(&report)?)?,
            false => output::write(human(&report).as_bytes())?,
        }
        let is_bad = report.findings.iter().any(|finding| finding.is_left("bad"));
        Ok(if is_bad { End::Nothing } else { End::Good })
    }

    /// What the daemon's program finds; without one, that it is missing.
    fn findings(&self, globals: &Globals) -> Result<Vec<Finding>, Failure> {
        if let Err(error) = globals.places() {
            let remedy =
                "Set HOME to a folder of yours, or LORE_HOME to one for all that is lore's.";
            let seen = error.to_string();
            return Ok(vec![Finding::new("places", "bad", seen, Some(remedy))]);
        }
        let program = match find_daemon() {
            Ok(program) => program,
            Err(error) => {
                let remedy = "Install it: `cargo install lored`, or name it with LORE_DAEMON.";
                let message = Error::from(error).to_body().message;
                return Ok(vec![Finding::new(
                    "daemon's program",
                    "bad",
                    message,
                    Some(remedy),
                )]);
            }
        };
        let mut command = Command::new(&program);
        if let Some(socket) = &globals.socket {
            command.arg("--socket").arg(socket);
        }
        let fix = self.fix.then_some("--fix");
        let output = match command.args(["doctor", "--json"]).args(fix).output() {
            Ok(output) => output,
            Err(error) => {
                let seen = format!("{}: {error}", program.display());
                let remedy = "Install it: `cargo install lored`, or name it with LORE_DAEMON.";
                return Ok(vec![Finding::new(
                    "daemon's program",
                    "bad",
                    seen,
                    Some(remedy),
                )]);
            }
        };
        match exchange::read::<Report>(&output.stdout) {
            Ok(report) => Ok(report.findings),
            Err(_) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let seen = format!("{} ({}): {}", program.display(), output.status, said.trim());
                let remedy = "Install lore and lored of one version.";
                Ok(vec![Finding::new(
                    "daemon's program",
                    "bad",
                    seen,
                    Some(remedy),
                )])
            }
        }
    }
}

/// Whether the installed units are those that this version installs.
fn units(globals: &Globals) -> Option<Finding> {
    let (places, daemon) = (globals.places().ok()?, find_daemon().ok()?);
    let check = "units";
    match service::outdated(&places, &daemon) {
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
                let remedy = "`lore service install` writes them anew; what is your own goes into a drop-in: \
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
        // Neither calls anybody nor reads arguments.
        Err(Failure::Call(_) | Failure::Usage(_)) => None,
    }
}

fn client() -> Finding {
    let version = env!("CARGO_PKG_VERSION");
    let own = std::env::current_exe().ok();
    let own = own.map_or_else(String::new, |own| format!(", {}", own.display()));
    Finding::new("client", "good", format!("{version}{own}"), None)
}

fn human(report: &Report) -> String {
    let mut rows = Vec::new();
    for finding in &report.findings {
        let state = if finding.fixed {
            "fixed"
        } else {
            finding.state.as_str()
        };
        rows.push([
            state.to_owned(),
            shown(&finding.check, 40),
            shown(&finding.seen, 0),
        ]);
        if let (Some(remedy), false) = (&finding.remedy, finding.fixed) {
            rows.push([
                String::new(),
                String::new(),
                format!("-> {}", shown(remedy, 0)),
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
    let said = match (count("bad"), count("warning")) {
        (0, 0) => "all is well\n".to_owned(),
        (bad, warnings) => format!("{bad} bad, {warnings} to be looked at\n"),
    };
    table(["", "check", "seen"], &rows) + &said
}
