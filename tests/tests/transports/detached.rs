//! A daemon that a client started outlives the client's host, which ends all that descends from it.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use tests::{cold, until};

use super::client::Host;

const LIMIT: Duration = Duration::from_secs(60);

/// A process, as `/proc` has it.
#[derive(Debug, Clone, Copy)]
struct Process {
    id: u64,
    parent: u64,
    group: u64,
    session: u64,
}

impl Process {
    fn read(id: u64) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name before may contain anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse().ok();
        Some(Self {
            id,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
        })
    }

    fn all() -> Vec<Self> {
        let entries = fs::read_dir("/proc").expect("/proc");
        let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        ids.filter_map(Self::read).collect()
    }
}

/// Returns a process and all that descend from it.
fn family(ancestor: u64) -> BTreeSet<u64> {
    let all = Process::all();
    let mut family = BTreeSet::from([ancestor]);
    loop {
        let before = family.len();
        family.extend(
            all.iter()
                .filter(|process| family.contains(&process.parent))
                .map(|process| process.id)
                .collect::<Vec<_>>(),
        );
        if family.len() == before {
            return family;
        }
    }
}

/// A host ends its MCP server with all descendants, as opencode does, and the server's process group. The daemon that the
/// server started goes on, and is the same one.
#[test]
fn a_daemon_outlives_the_host_that_started_it() {
    let cold = cold!();
    let mut host = Host::start(&cold);
    let initialize = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "host", "version": "1"},
    });
    host.ask(1, "initialize", initialize);
    let call = json!({"name": "record_step", "arguments": {"tool": "t", "result": {"id": 4711}}});
    let answer = host.ask(2, "tools/call", call);
    assert_eq!(answer["result"]["isError"], false, "{answer}");

    let server = u64::from(host.id());
    let daemon = cold.pid();
    let stat = Process::read(daemon).expect("the daemon runs");
    let family = family(server);
    assert!(!family.contains(&daemon), "{family:?} {stat:?}");
    assert_eq!((stat.group, stat.session), (daemon, daemon), "{stat:?}");
    let of_host = Process::read(u64::from(std::process::id())).expect("this process");
    assert_ne!(stat.session, of_host.session);

    for id in family {
        cold.signal(id, Signal::KILL);
    }
    until("the end of the server", LIMIT, || {
        host.has_ended().then_some(())
    });
    assert_eq!(cold.pid(), daemon);
    let steps = cold.json(&["call", "read_events", r#"{"kinds": ["StepRecorded"]}"#]);
    assert_eq!(steps["events"].as_array().unwrap().len(), 1, "{steps}");
}

/// A daemon that ends before it serves is noticed although it is no child of the client, and its words are shown.
#[test]
fn a_detached_daemon_that_ends_is_noticed() {
    let cold = cold!();
    let marker = cold.home.data().join("store/lore-store");
    fs::create_dir_all(marker.parent().expect("a folder")).expect("a folder");
    for folder in [cold.home.data(), cold.home.data().join("store")] {
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .expect("a private folder");
    }
    fs::write(&marker, "nonsense").expect("a file");
    let output = cold.run(&["status"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("ended at once"), "{said}");
    assert!(said.contains("lore-store"), "{said}");
    fs::remove_file(marker).expect("a file to remove");
}
