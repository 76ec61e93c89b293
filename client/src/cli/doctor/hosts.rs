//! Checks of the hosts that are installed: whether lore's tools and hooks are in their files, and whether the hooks run.

use std::time::Duration;

use super::Finding;
use super::codex::{self, Trust};
use crate::cli::setup::{HostCheck, check_hosts};

/// Limit on the answer of Codex's server, which takes a second to start.
const CODEX_MAX: Duration = Duration::from_secs(8);

/// Returns a finding for each installed host.
pub fn check() -> Vec<Finding> {
    check_hosts()
        .into_iter()
        .map(|host| finding(&host))
        .collect()
}

fn finding(host: &HostCheck) -> Finding {
    let check = format!("host {}", host.name);
    let setup = format!("`lore setup {}`", host.name);
    let warning = |seen: String, remedy: &str| Finding::new(&check, "warning", seen, Some(remedy));
    if let Some(fault) = &host.fault {
        return warning(
            fault.clone(),
            "Correct the file: the host may not read it, either.",
        );
    }
    let present = host.present.join(", ");
    if host.present.is_empty() {
        let seen = format!(
            "{} is installed, and lore is not set up: {setup}",
            host.title
        );
        return Finding::new(&check, "good", seen, None);
    }
    if !host.missing.is_empty() {
        let seen = format!("it has {present}, and lacks {}", host.missing.join(", "));
        return warning(seen, &format!("{setup} adds it."));
    }
    if !host.has_hooks {
        return Finding::new(&check, "good", present, None);
    }
    if let Some(folder) = &host.not_on_path {
        let seen = format!("its hooks run `lore`, which PATH does not find: {present}");
        return warning(seen, &format!("Put {folder} into PATH."));
    }
    if host.name != "codex" {
        return Finding::new(&check, "good", present, None);
    }
    match codex::trust(CODEX_MAX) {
        Trust::Asked { skipped: 0, .. } => {
            Finding::new(&check, "good", format!("{present}, all trusted"), None)
        }
        Trust::Asked { skipped, all } => warning(
            format!("{skipped} of {all} hooks were not reviewed, and Codex skips them"),
            "Start `codex` in a terminal and trust them; /hooks shows them.",
        ),
        Trust::Unknown(why) => {
            let seen = format!("{present}; whether Codex trusts them is unknown: {why}");
            Finding::new(&check, "good", seen, None)
        }
    }
}
