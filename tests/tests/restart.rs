//! What a daemon was told outlives it: stopped in peace, and killed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::json;
use tests::{call, home};

/// Stopping and starting keeps everything: what was recorded before is resolved after, the log
/// goes on at the next position, and the proof is whole.
#[test]
fn stop_and_start_keep_everything() {
    let home = home!();
    let daemon = home.start();
    let first = daemon.call(
        "record_step",
        json!({"tool": "search", "result": {"id": 42}, "key": "k"}),
    );
    let session = first["session"].clone();
    let position = first["position"].as_u64().unwrap();
    daemon.stop();
    let daemon = home.start();
    let resolved = daemon.call(
        "resolve_variables",
        json!({"session": session, "names": ["ID_FROM_STEP_1"]}),
    );
    assert_eq!(resolved["resolutions"][0]["value"], 42, "{resolved:#}");
    let again = daemon.call(
        "record_step",
        json!({"tool": "search", "result": {"id": 42}, "key": "k"}),
    );
    assert_eq!(again, first, "the same key and body give the first reply");
    let next = daemon.call(
        "record_step",
        json!({"tool": "t", "result": "", "session": session}),
    );
    assert_eq!(next["position"], position + 1);
    assert_eq!(next["step"], 2);
    assert_eq!(daemon.verify(), position + 1);
}

/// Four agents with fifty acknowledged records each: all two hundred are there after kill -9, in
/// each agent's order.
#[test]
fn two_hundred_of_two_hundred_survive_a_kill() {
    let home = home!();
    let daemon = home.start();
    daemon.call("create_session", json!({"session": "shared"}));
    let record = |agent: String| {
        let mut connection = daemon.connect(&agent);
        let mut acknowledged = Vec::new();
        for number in 0..50 {
            let args = json!({
                "session": "shared", "tool": agent, "result": {"number": number},
            });
            let reply = call(&mut connection, "record_step", args).unwrap();
            acknowledged.push((reply["step"].as_u64().unwrap(), number));
        }
        acknowledged
    };
    let by_agent: Vec<Vec<(u64, u64)>> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..4)
            .map(|agent| scope.spawn(move || record(format!("agent-{agent}"))))
            .collect();
        agents
            .into_iter()
            .map(|agent| agent.join().unwrap())
            .collect()
    });
    daemon.kill();
    let daemon = home.start();
    let mut connection = daemon.connect("");
    let mut found = 0;
    for (agent, steps) in by_agent.iter().enumerate() {
        assert!(steps.is_sorted(), "agent {agent} has its steps in order");
        for (step, number) in steps {
            let args = json!({"session": "shared", "step": step});
            let reply = call(&mut connection, "get_step", args).unwrap();
            assert_eq!(reply["tool"], format!("agent-{agent}"), "{reply:#}");
            assert_eq!(reply["result"], json!({"number": number}).to_string());
            found += 1;
        }
    }
    assert_eq!(found, 200);
    assert_eq!(daemon.verify(), 201);
}
