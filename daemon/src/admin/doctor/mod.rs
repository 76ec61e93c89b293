//! `lored doctor`: checks the daemon's environment for problems, each with its remedy.
//!
//! It changes nothing unless `--fix` is given. Then it applies only safe fixes: modes of the daemon's own folders and
//! files, and removal of leftovers of a dead daemon.

mod folders;
mod machine;
mod serving;
mod spool;
mod store;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use lore::paths::Paths;
use lore::protocol::diagnose::{FindingState, HealthFinding};
use serde_json::{Value, json};

use super::Outcome;
use crate::config::{Config, RawValue};
use crate::log_admin::HealthChecks;

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// No problem.
    Good,
    /// Works now, but may soon fail.
    Warning,
    /// Does not work.
    Bad,
}

impl State {
    /// Returns the state as a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Warning => "warning",
            Self::Bad => "bad",
        }
    }
}

/// Finding of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name of the check.
    pub check: &'static str,
    /// Result.
    pub state: State,
    /// Observation.
    pub seen: String,
    /// Remedy, if the result is not good.
    pub remedy: Option<String>,
    /// Whether the remedy was just applied.
    pub is_fixed: bool,
}

impl Finding {
    fn good(check: &'static str, seen: impl Into<String>) -> Self {
        Self::new(check, State::Good, seen, None)
    }

    fn warning(check: &'static str, seen: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(check, State::Warning, seen, Some(remedy.into()))
    }

    fn bad(check: &'static str, seen: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(check, State::Bad, seen, Some(remedy.into()))
    }

    fn new(
        check: &'static str,
        state: State,
        seen: impl Into<String>,
        remedy: Option<String>,
    ) -> Self {
        Self {
            check,
            state,
            seen: seen.into(),
            remedy,
            is_fixed: false,
        }
    }

    /// Marks the remedy as applied.
    fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }
}

/// Inputs of the checks.
struct DoctorContext<'p> {
    paths: &'p Paths,
    config: &'p Config,
    /// Whether to apply safe fixes.
    fixes: bool,
}

/// Runs all checks, prints the findings, and returns whether nothing is bad.
///
/// # Errors
/// When standard output is closed.
pub fn run(paths: &Paths, config_path: &Path, fixes: bool, as_json: bool) -> Outcome {
    let findings = examine(paths, config_path, fixes);
    let text = match as_json {
        true => format!("{:#}\n", render_json(&findings)),
        false => render(&findings),
    };
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())?;
    Ok(!findings
        .iter()
        .any(|finding| finding.state == State::Bad && !finding.is_fixed))
}

/// Returns all findings, in the order of the checks.
#[must_use]
pub fn examine(paths: &Paths, config_path: &Path, fixes: bool) -> Vec<Finding> {
    let (settings, config) = settings(config_path);
    let doctor_cx = DoctorContext {
        paths,
        config: &config,
        fixes,
    };
    let mut findings = vec![settings];
    findings.extend(folders::check(&doctor_cx));
    findings.extend(machine::check(&doctor_cx));
    findings.extend(serving::check(&doctor_cx));
    findings.extend(spool::check(&doctor_cx));
    findings.extend(store::check(&doctor_cx));
    findings
}

/// Returns the checks that a running daemon makes of itself: without those of its store and its socket, which are open.
#[must_use]
pub fn health_checks(paths: &Paths) -> HealthChecks {
    let paths = paths.clone();
    Arc::new(move |status| {
        let (settings, config) = settings(&paths.config);
        let doctor_cx = DoctorContext {
            paths: &paths,
            config: &config,
            fixes: false,
        };
        let mut findings = vec![settings];
        findings.extend(folders::check(&doctor_cx));
        findings.extend(machine::check(&doctor_cx));
        findings.extend(spool::check(&doctor_cx));
        findings.extend(serving::report(status));
        findings.into_iter().map(HealthFinding::from).collect()
    })
}

impl From<Finding> for HealthFinding {
    fn from(finding: Finding) -> Self {
        Self {
            check: finding.check.to_owned(),
            state: match finding.state {
                State::Good => FindingState::Good,
                State::Warning => FindingState::Warning,
                State::Bad => FindingState::Bad,
            },
            seen: finding.seen,
            remedy: finding.remedy,
        }
    }
}

/// Returns the finding about the settings, and the settings; the defaults if those given are not valid.
fn settings(path: &Path) -> (Finding, Config) {
    let read = RawValue::load(path, std::env::vars_os())
        .and_then(|given| Ok((given.origins.len(), Config::of(given, path)?)));
    match read {
        Ok((count, config)) => {
            let seen = format!("{}: {count} settings, all good", path.display());
            (Finding::good("settings", seen), config)
        }
        Err(error) => {
            let finding = Finding::bad("settings", error.to_string(), mended(&error));
            (finding, Config::new())
        }
    }
}

/// Returns the remedy for invalid settings.
fn mended(error: &crate::config::Error) -> &'static str {
    match error {
        crate::config::Error::Read { .. } => {
            "Make it a file that can be read, or move it away: without one every setting has its default."
        }
        crate::config::Error::Variable { .. } => {
            "Correct the variable, or unset it; `lored config default` lists all settings."
        }
        _ => "Correct the line, or remove it; `lored config default` lists all settings.",
    }
}

/// Renders the findings for people: one line each, with the remedy below it.
fn render(findings: &[Finding]) -> String {
    let mut text = String::new();
    let width = findings
        .iter()
        .map(|finding| finding.check.len())
        .max()
        .unwrap_or(0);
    for finding in findings {
        let word = match (finding.is_fixed, finding.state) {
            (true, _) => "fixed",
            (false, state) => state.word(),
        };
        text.push_str(&format!(
            "{word:<8} {:<width$}  {}\n",
            finding.check, finding.seen
        ));
        if let (Some(remedy), false) = (&finding.remedy, finding.is_fixed) {
            text.push_str(&format!("{:<8} {:<width$}  -> {remedy}\n", "", ""));
        }
    }
    let count = |state| {
        let still = findings
            .iter()
            .filter(|finding| finding.state == state && !finding.is_fixed);
        still.count()
    };
    let (bad, warnings) = (count(State::Bad), count(State::Warning));
    text.push_str(&match (bad, warnings) {
        (0, 0) => "all is well\n".to_owned(),
        _ => format!("{bad} bad, {warnings} to be looked at\n"),
    });
    text
}

fn render_json(findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        json!({
            "check": finding.check,
            "state": finding.state.word(),
            "seen": finding.seen,
            "remedy": finding.remedy,
            "fixed": finding.is_fixed,
        })
    };
    json!({
        "schema_version": 1,
        "findings": findings.iter().map(one).collect::<Vec<_>>(),
    })
}
