//! The processes of resolvers: started on demand, reused, ended with their child processes, and reaped.

use std::path::Path;
use std::sync::Arc;

use lored::upstream::{ProcessBroker, Resolution, Resolvers, State};
use tests::{has_words, until};

use super::{Fixture, LIMIT};

/// Whether a process exists; an unreaped child still counts.
fn is_there(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}

/// Whether a process runs, and is not a zombie.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map_or("", |(_, rest)| rest.trim());
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// Closing ends the server and its child processes, and reaps it; later lookups are refused.
#[test]
fn closing_leaves_no_process() {
    for mode in ["good", "clinging"] {
        let fixture = Fixture::with(mode, false, |_| {});
        assert!(
            fixture.left("start").is_empty(),
            "started before it is asked"
        );
        assert!(matches!(fixture.resolve("ams1"), Resolution::Found { .. }));
        let servers = fixture.left("start");
        assert!(servers.len() == 1 && is_there(&servers[0]));
        fixture.close();
        assert!(!is_there(&servers[0]), "{mode}");
        assert_eq!(
            fixture.left("clinging").len(),
            usize::from(mode == "clinging")
        );
        for pid in fixture.left("clinging") {
            until("the end of what the server started", LIMIT, || {
                (!runs(&pid)).then_some(())
            });
        }
        let said = fixture.failure("ams2");
        assert!(said.contains("did not start"), "{said}");
    }
}

/// Dropping ends the server, too, after a while.
#[test]
fn dropping_leaves_no_process() {
    let fixture = Fixture::with("good", false, |_| {});
    fixture.resolve("ams1");
    let pid = fixture.left("start").remove(0);
    drop(fixture.resolvers);
    until("the server's end", LIMIT, || {
        (!is_there(&pid)).then_some(())
    });
}

/// A runtime that is dropped without closing kills the server, and reaps it.
#[test]
fn the_runtime_takes_its_processes_along() {
    let fixture = Fixture::with("clinging", false, |_| {});
    fixture.resolve("ams1");
    let pids = [fixture.left("start"), fixture.left("clinging")].concat();
    assert_eq!(pids.len(), 2);
    drop(fixture.runtime);
    until("the server's end", LIMIT, || {
        (!is_there(&pids[0])).then_some(())
    });
    for pid in pids {
        until("the processes' end", LIMIT, || (!runs(&pid)).then_some(()));
    }
}

/// An unused server is ended after a while, and started again on demand.
#[test]
fn an_idle_server_is_ended() {
    let fixture = Fixture::with("good", false, |settings| settings.idle_ms = 50);
    fixture.resolve("ams1");
    let pid = fixture.left("start").remove(0);
    until("the idle server's end", LIMIT, || {
        (!is_there(&pid)).then_some(())
    });
    assert_eq!(fixture.state(), State::Idle);
    assert!(matches!(fixture.resolve("ams2"), Resolution::Found { .. }));
    assert_eq!(fixture.left("start").len(), 2);
    assert_eq!(fixture.resolvers.status()[0].failures, 0);
}

/// A server that ends after each answer is started for each lookup, without visible effect.
#[test]
fn a_server_may_end_between_calls() {
    let fixture = Fixture::with("die-after", false, |_| {});
    for name in ["ams1", "ams2", "ams3"] {
        assert!(
            matches!(fixture.resolve(name), Resolution::Found { .. }),
            "{name}"
        );
    }
    assert_eq!(fixture.left("start").len(), 3);
    assert_eq!(fixture.resolvers.status()[0].failures, 0);
}

/// A program that was configured after the broker's start is not started, nor is any without a broker; the error
/// names the remedy.
#[test]
fn what_was_configured_later_is_told() {
    let lored = Path::new(env!("CARGO_BIN_EXE_lored-under-test"));
    let broker = ProcessBroker::begin(lored, Vec::new()).unwrap();
    for broker in [None, Some(Arc::new(broker))] {
        let mut fixture = Fixture::with("good", false, |_| {});
        let settings = fixture.settings.clone();
        fixture.resolvers = Resolvers::new([("rig".to_owned(), settings)].into(), broker);
        let said = fixture.failure("ams1");
        has_words(&said, &["cannot be started", "restart the daemon"]);
        assert!(fixture.left("start").is_empty());
    }
}
