//! Concurrent agents: no save is lost, the order is that of the log, and a stale writer gets a conflict.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tests::{Random, noise, serve};

use super::{SaveResult, code, context_of, create_session, listed, load, save};

const AGENTS: usize = 16;
const SAVES: usize = 20;

/// Returns the context of an agent's step: small, or with a value that is shared, changed, or a file.
fn context(agent: usize, number: usize) -> Value {
    let mut random = Random::new((agent * 1000 + number) as u64);
    let mut shared = Random::new(number as u64 / 4);
    json!({
        "agent": agent, "number": number,
        "shared": noise(6_000, &mut shared),
        "own": format!("{}{}", noise(5_000, &mut Random::new(agent as u64)), number),
        "large": if number % 10 == 9 { noise(150_000, &mut random) } else { String::new() },
    })
}

/// Sixteen agents concurrently save to one session and each to a separate one. Every acknowledged checkpoint is
/// listed once and loads unchanged, and every session's order is that of the log positions.
#[test]
fn no_save_is_lost() {
    let (_home, daemon) = serve!();
    create_session(&daemon, "shared");
    let start = Barrier::new(AGENTS);
    let work = |agent: usize| {
        let own = format!("own-{agent}");
        create_session(&daemon, &own);
        let mut connection = daemon.connect(&format!("agent-{agent}"));
        start.wait();
        let mut saved = Vec::new();
        for number in 0..SAVES {
            let context = context(agent, number);
            for session in ["shared", &own] {
                let args = json!({"sessionId": session, "context": context});
                saved.push((save(&mut connection, args).unwrap(), context.clone()));
            }
        }
        saved
    };
    let work = &work;
    let saved: Vec<Vec<(SaveResult, Value)>> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS)
            .map(|at| scope.spawn(move || work(at)))
            .collect();
        agents
            .into_iter()
            .map(|agent| agent.join().unwrap())
            .collect()
    });
    let mut saved: Vec<(SaveResult, Value)> = saved.into_iter().flatten().collect();
    saved.sort_by_key(|(saved, _)| std::cmp::Reverse(saved.position));
    let mut connection = daemon.connect("");
    let sessions: BTreeSet<String> = saved
        .iter()
        .map(|(saved, _)| saved.session.clone())
        .collect();
    assert_eq!(sessions.len(), AGENTS + 1);
    for session in sessions {
        let of_session = saved.iter().filter(|(saved, _)| saved.session == session);
        let newest_first: Vec<String> = of_session.map(|(saved, _)| saved.id.clone()).collect();
        assert_eq!(listed(&mut connection, &session), newest_first, "{session}");
    }
    for (saved, context) in &saved {
        assert!(saved.is_new());
        assert!(
            context_of(&mut connection, &saved.id).unwrap() == *context,
            "{saved:?}"
        );
    }
    daemon.verify();
}

/// Eight agents increment a counter in one context by load and save with the loaded id as expected, and retry on a
/// conflict. The counter ends at the number of increments, and each of its values is a checkpoint.
#[test]
fn a_counter_ends_exact() {
    const COUNTERS: usize = 8;
    const EACH: u64 = 25;
    let (_home, daemon) = serve!();
    create_session(&daemon, "counter");
    let counter = |n: u64| json!({"counter": n, "plan": "the same ".repeat(600)});
    let mut connection = daemon.connect("");
    save(
        &mut connection,
        json!({"sessionId": "counter", "context": counter(0)}),
    )
    .unwrap();
    let value = |context: &str| {
        let context: Value = serde_json::from_str(context).unwrap();
        context["counter"].as_u64().unwrap()
    };
    let conflicts: u64 = std::thread::scope(|scope| {
        let increment = || {
            let mut connection = daemon.connect("");
            let (mut done, mut conflicts) = (0, 0);
            while done < EACH {
                let loaded = load(&mut connection, json!({"sessionId": "counter"})).unwrap();
                let args = json!({
                    "sessionId": "counter", "context": counter(value(loaded.context.get()) + 1),
                    "expectedCheckpointId": loaded.checkpoint_id,
                });
                match save(&mut connection, args) {
                    Ok(saved) if saved.is_new() => done += 1,
                    Ok(saved) => panic!("{saved:?}"),
                    Err(error) => {
                        assert_eq!(code(&error), "CONFLICT", "{error}");
                        conflicts += 1;
                    }
                }
            }
            conflicts
        };
        let agents: Vec<_> = (0..COUNTERS).map(|_| scope.spawn(increment)).collect();
        agents.into_iter().map(|agent| agent.join().unwrap()).sum()
    });
    println!("{conflicts} conflicts");
    let total = COUNTERS as u64 * EACH;
    let ids = listed(&mut connection, "counter");
    assert_eq!(ids.len() as u64, total + 1);
    for (at, id) in ids.iter().enumerate() {
        let loaded = load(&mut connection, json!({ "checkpointId": id })).unwrap();
        assert_eq!(value(loaded.context.get()), total - at as u64);
    }
    daemon.verify();
}

/// The same save by sixteen agents at once is one checkpoint: one agent saves it, and the others get the unchanged
/// status. With one idempotency key it is one save, even when forced.
#[test]
fn equal_saves_at_once() {
    let (_home, daemon) = serve!();
    create_session(&daemon, "s");
    let start = Barrier::new(AGENTS);
    let saves: Vec<(SaveResult, SaveResult)> = std::thread::scope(|scope| {
        let agent = || {
            let mut connection = daemon.connect("");
            start.wait();
            let args = json!({"sessionId": "s", "context": {"equal": "x".repeat(9_000)}});
            let mut keyed = args.clone();
            let equal = save(&mut connection, args).unwrap();
            keyed["key"] = json!("one");
            keyed["force"] = json!(true);
            (equal, save(&mut connection, keyed).unwrap())
        };
        let agents: Vec<_> = (0..AGENTS).map(|_| scope.spawn(agent)).collect();
        agents
            .into_iter()
            .map(|agent| agent.join().unwrap())
            .collect()
    });
    let new: BTreeSet<&String> = saves
        .iter()
        .filter(|(saved, _)| saved.is_new())
        .map(|(saved, _)| &saved.id)
        .collect();
    assert_eq!(new.len(), 1, "{saves:?}");
    let keyed: BTreeSet<&String> = saves.iter().map(|(_, keyed)| &keyed.id).collect();
    assert_eq!(keyed.len(), 1, "{saves:?}");
    assert_eq!(listed(&mut daemon.connect(""), "s").len(), 2);
    daemon.verify();
}

/// Loads concurrent with deletions of the same values, by id and by session, with values in files: each returns a
/// complete context or reports a missing checkpoint; none reports a deletion as damage.
#[test]
fn loads_while_checkpoints_go() {
    let (_home, daemon) = serve!("[checkpoints]\nper_session_max = 1\n");
    create_session(&daemon, "s");
    let context =
        |number: u64| json!({"n": number, "large": noise(150_000, &mut Random::new(number))});
    let is_done = AtomicBool::new(false);
    let latest = std::sync::Mutex::new(String::new());
    let read = |by_session: bool| {
        let mut connection = daemon.connect("");
        let (mut whole, mut gone) = (0, 0);
        while !is_done.load(Ordering::Relaxed) {
            let id = latest.lock().unwrap().clone();
            let args = match by_session {
                true => json!({"sessionId": "s"}),
                false => json!({ "checkpointId": id }),
            };
            match load(&mut connection, args) {
                Ok(loaded) => {
                    let text = loaded.context.get();
                    assert_eq!(loaded.metadata["contextHash"], super::sha256(text));
                    whole += 1;
                }
                Err(error) => {
                    let code = code(&error);
                    let wanted = ["CHECKPOINT_NOT_FOUND", "INVALID_INPUT"];
                    let is_first = id.is_empty() && wanted.contains(&code);
                    assert!(is_first || code == wanted[0], "{error}");
                    gone += 1;
                }
            }
        }
        (whole, gone)
    };
    let read = &read;
    let (whole, gone) = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4)
            .map(|at| scope.spawn(move || read(at % 2 == 0)))
            .collect();
        let mut connection = daemon.connect("");
        for number in 0..80 {
            let args = json!({"sessionId": "s", "context": context(number)});
            *latest.lock().unwrap() = save(&mut connection, args).unwrap().id;
        }
        is_done.store(true, Ordering::Relaxed);
        let counts = readers.into_iter().map(|reader| reader.join().unwrap());
        counts.fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1))
    });
    println!("{whole} loads were whole, {gone} checkpoints were gone");
    assert!(whole > 0);
    daemon.verify();
}
