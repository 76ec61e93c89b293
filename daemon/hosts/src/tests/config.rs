//! Tests of the hooks of hosts: commands never change, and every hook is one that this crate reads.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use super::fixture;
use crate::config::{Format, OPENCODE_PLUGIN, SETUPS, setup};
use crate::{Delivery, EventKind, Host, Moment};

/// The commands of all releases. Lines may be added, and never changed: see the module.
#[test]
fn commands_never_change() {
    let mut lines = String::new();
    for setup in SETUPS {
        for entry in setup.entries {
            writeln!(
                lines,
                "{} {} {} [{}] {}",
                setup.host.name(),
                setup.user_file,
                entry.event,
                entry.matcher,
                entry.command
            )
            .unwrap();
        }
    }
    let path = fixture("commands.txt");
    let known = fs::read_to_string(&path).unwrap();
    for line in known.lines() {
        assert!(lines.lines().any(|now| now == line), "`{line}` is gone");
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, &lines).unwrap();
    } else {
        assert_eq!(known, lines, "new hooks are written with UPDATE_GOLDEN=1");
    }
}

#[test]
fn every_hook_is_for_a_known_event() {
    for setup in SETUPS {
        for entry in setup.entries {
            let kind = EventKind::of(setup.host, entry.event);
            let is_bus = entry.event == "event";
            assert!(
                is_bus || !matches!(kind, EventKind::Unknown | EventKind::Quiet),
                "{entry:?}"
            );
            assert!(
                entry
                    .command
                    .starts_with(&format!("lore hook {}", setup.host.name()))
            );
        }
    }
}

/// Each moment that a host can reach has a hook that reaches it.
#[test]
fn every_moment_has_its_hook() {
    for setup in SETUPS {
        let host = setup.host;
        let has = |kind| {
            setup
                .entries
                .iter()
                .any(|entry| EventKind::of(host, entry.event) == kind)
        };
        for moment in Moment::ALL {
            let kinds: &[EventKind] = match moment {
                Moment::Start | Moment::AfterCompaction => {
                    &[EventKind::SessionStart, EventKind::CompactionStart]
                }
                Moment::Prompt => &[EventKind::Prompt],
                Moment::BeforeEdit => &[EventKind::ToolStart],
                Moment::ToolFailed => &[EventKind::ToolEnd, EventKind::ToolFailure],
                Moment::BeforeSubagent => &[EventKind::SubagentStart],
            };
            let is_hooked = match host.reaches(moment) {
                Delivery::Event => kinds.iter().any(|kind| has(*kind)),
                Delivery::NextPrompt => has(EventKind::Prompt),
                Delivery::Never => true,
            };
            assert!(is_hooked, "{host:?} {moment:?}");
        }
    }
}

#[test]
fn hooks_have_the_form_of_their_host() {
    let hooks = |host| setup(host).unwrap().hooks().unwrap();
    let claude = hooks(Host::ClaudeCode);
    assert_eq!(
        claude["Stop"].to_string(),
        r#"[{"hooks":[{"type":"command","command":"lore hook claude-code","timeout":5}]}]"#
    );
    assert_eq!(
        hooks(Host::GeminiCli)["PreCompress"][0]["matcher"],
        "manual"
    );
    assert_eq!(
        hooks(Host::GeminiCli)["AfterTool"][0]["hooks"][0]["timeout"],
        Value::from(5000)
    );
    assert_eq!(
        hooks(Host::CopilotCli)["preToolUse"].to_string(),
        r#"[{"type":"command","bash":"lore hook copilot preToolUse","timeoutSec":5}]"#
    );
    assert_eq!(
        hooks(Host::Cursor)["stop"].to_string(),
        r#"[{"command":"lore hook cursor","timeout":5}]"#
    );
    assert_eq!(setup(Host::OpenCode).unwrap().hooks(), None);
    assert_eq!(setup(Host::VsCode), None);
}

#[test]
fn the_plugin_has_the_functions_of_the_table() {
    let plugin = setup(Host::OpenCode).unwrap();
    assert_eq!(plugin.format, Format::Plugin);
    for entry in plugin.entries {
        let event = entry.event;
        let is_there = OPENCODE_PLUGIN.contains(&format!("run(\"{event}\", "));
        assert!(is_there, "{event}");
    }
    for line in OPENCODE_PLUGIN
        .lines()
        .filter(|line| line.trim_start().starts_with("\"session."))
    {
        for name in line.split('"').skip(1).step_by(2) {
            let kind = EventKind::of(Host::OpenCode, &format!("event.{name}"));
            assert!(
                !matches!(kind, EventKind::Unknown | EventKind::Quiet),
                "{name}"
            );
        }
    }
}
