//! Checks of the hosts that are installed: whether lore's tools and hooks are in their files, whether the hooks run, and
//! when something last arrived from them.

use std::time::Duration;

use super::Finding;
use super::activity::{Activity, ActivityReader};
use super::codex::{self, Trust};
use crate::cli::Globals;
use crate::cli::setup::{HostCheck, check_hosts};

/// Limit on the answer of Codex's server, which takes a second to start.
const CODEX_MAX: Duration = Duration::from_secs(8);

/// Returns a finding for each installed host.
pub fn check(globals: &Globals) -> Vec<Finding> {
    let mut daemon = ActivityReader::connect(globals);
    let hosts = check_hosts().into_iter();
    hosts
        .map(|host| {
            let activity = daemon.as_mut().and_then(|daemon| daemon.of(host.name));
            finding(&host, activity)
        })
        .collect()
}

fn finding(host: &HostCheck, activity: Option<Activity>) -> Finding {
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
    let trust = match host.name {
        "codex" => codex::trust(CODEX_MAX),
        _ => return arrived(host, &present, activity),
    };
    match trust {
        Trust::Asked { skipped: 0, .. } => {
            arrived(host, &format!("{present}, all trusted"), activity)
        }
        Trust::Asked { skipped, all } => warning(
            format!("{skipped} of {all} hooks were not reviewed, and Codex skips them"),
            "Start `codex` in a terminal and trust them; /hooks shows them.",
        ),
        Trust::Unknown(why) => {
            let present = format!("{present}; whether Codex trusts them is unknown: {why}");
            arrived(host, &present, activity)
        }
    }
}

/// Returns the finding of a host whose hooks are in its files. `activity` is `None` if no daemon runs.
fn arrived(host: &HostCheck, present: &str, activity: Option<Activity>) -> Finding {
    let check = format!("host {}", host.name);
    let Some(activity) = activity else {
        return Finding::new(&check, "good", present.to_owned(), None);
    };
    let Some(event) = activity.event else {
        let seen = format!("{present}; nothing has arrived from it yet");
        let trusts = match host.name {
            "gemini" | "qwen" => " in a folder that it trusts",
            _ => "",
        };
        let remedy = format!(
            "Start {} again and send it a prompt{trusts}. If nothing arrives: its hooks run `lore`, which PATH has to find \
             where it is started.",
            host.title
        );
        return Finding::new(&check, "warning", seen, Some(&remedy));
    };
    let added = activity.added.as_deref().unwrap_or("never or long ago");
    let seen = format!("{present}; last event {event}, last addition {added}");
    Finding::new(&check, "good", seen, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gemini() -> HostCheck {
        HostCheck {
            name: "gemini",
            title: "Gemini CLI",
            present: vec!["the tools".to_owned(), "8 hooks".to_owned()],
            missing: Vec::new(),
            has_hooks: true,
            not_on_path: None,
            fault: None,
        }
    }

    #[test]
    fn a_host_from_which_nothing_arrived_has_a_remedy() {
        let silent = finding(&gemini(), Some(Activity::default()));
        assert_eq!(silent.state, "warning");
        let remedy = silent.remedy.unwrap_or_default();
        assert!(remedy.contains("send it a prompt"), "{remedy}");
        let unknown = finding(&gemini(), None);
        assert_eq!((unknown.state.as_str(), unknown.remedy), ("good", None));
        assert_eq!(unknown.seen, "the tools, 8 hooks");
    }

    #[test]
    fn the_last_event_and_the_last_addition_are_reported() {
        let event = "2026-11-26T10:00:00Z";
        let mut activity = Activity {
            event: Some(event.to_owned()),
            added: None,
        };
        let seen = finding(&gemini(), Some(activity)).seen;
        assert!(seen.ends_with(&format!(
            "last event {event}, last addition never or long ago"
        )));
        activity = Activity {
            event: Some(event.to_owned()),
            added: Some(event.to_owned()),
        };
        let found = finding(&gemini(), Some(activity));
        assert_eq!(found.state, "good");
        assert!(found.seen.ends_with(&format!("last addition {event}")));
    }
}
