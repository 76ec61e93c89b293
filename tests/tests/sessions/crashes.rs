//! Asynchronous entity recognition survives a kill at any moment: each result once, and equal to a replay.

use serde_json::{Value, json};
use tests::{Random, call, home, seed};

use super::create;

/// Repeated kill -9 while steps arrive: after each start every acknowledged step's device exists, mentioned by that
/// step exactly once, and every row equals a replay. `LORE_ENTITY_CYCLES` for more than 12 kills.
#[test]
fn entities_of_steps_are_found_exactly_once() {
    let seed = seed();
    let mut random = Random::new(seed);
    let cycles: u64 = std::env::var("LORE_ENTITY_CYCLES")
        .map_or(12, |cycles| cycles.parse().expect("a number of cycles"));
    println!("seed {seed}, {cycles} cycles");
    let home = home!();
    let mut acknowledged: Vec<String> = Vec::new();
    let mut cut_off: Vec<String> = Vec::new();
    let mut daemon = home.start();
    create(&daemon, "s-1");
    create(&daemon, "s-2");
    for cycle in 0..cycles {
        let mut connection = daemon.connect("a");
        let steps = random.range(1, 12);
        let session = if random.one_in(4) { "s-2" } else { "s-1" };
        for number in 0..steps {
            let name = format!("{session} sw-{cycle}-{number:02}");
            let device = name.split(' ').next_back().unwrap().to_owned();
            let result =
                json!({"device": {"id": 5, "name": device, "site": {"id": 1, "name": "Berlin"}}});
            let args = json!({"session": session, "tool": "t", "result": result});
            match call(&mut connection, "record_step", args) {
                Ok(_) => acknowledged.push(name),
                Err(_) => cut_off.push(name),
            }
        }
        // The next step may be interrupted anywhere.
        daemon.kill();
        daemon = home.start();
        let position = daemon.call("status", json!({}))["position"].clone();
        for session in ["s-1", "s-2"] {
            let args = json!({
                "session": session, "kind": "device", "at_least": position, "limit": 500,
            });
            let list = daemon.call("list_entities", args);
            let known: Vec<&Value> = list["entities"].as_array().unwrap().iter().collect();
            for one in &known {
                assert_eq!(one["mentions"], 1, "seed {seed}, cycle {cycle}: {one}");
                let name = format!("{session} {}", one["name"].as_str().unwrap());
                let is_known = acknowledged.contains(&name) || cut_off.contains(&name);
                assert!(
                    is_known,
                    "seed {seed}, cycle {cycle}: nobody recorded {name}"
                );
            }
            let wanted = acknowledged.iter().filter(|name| name.starts_with(session));
            for name in wanted {
                let is_there = known
                    .iter()
                    .any(|one| name.ends_with(one["name"].as_str().unwrap()));
                assert!(is_there, "seed {seed}, cycle {cycle}: {name} was not found");
            }
        }
        daemon.verify();
    }
}
