//! Forgetting parts of sessions: events of an agent, a tool or a time span are erased, and the rest is unchanged.

use serde_json::{Value, json};
use tests::{Daemon, Random, disk, has, has_words, home, seed, serve, until};

use super::{ERASED_MAX, Secret, events_of, found, is_erased, save, words};

/// Returns the events of a session with content, except for those that record a forgetting.
fn said(daemon: &Daemon, session: &str) -> Vec<Value> {
    let events = events_of(daemon, session).into_iter();
    let is_said = |event: &Value| {
        let kind = event["kind"].as_str().unwrap();
        !event["payload"].is_null() && !["EventsForgotten", "EventsErased"].contains(&kind)
    };
    events.filter(is_said).collect()
}

/// Waits until entities are recognised in all events.
fn settle(daemon: &Daemon) {
    until("entities to be recognised", ERASED_MAX, || {
        let status = daemon.call("status", json!({}));
        let followers = status["followers"].as_array().unwrap();
        let is_done = |follower: &Value| follower["name"] != "entities" || follower["lag"] == 0;
        followers.iter().all(is_done).then_some(())
    });
}

/// Returns the current answer of a word search, complete or not.
fn answer(daemon: &Daemon, query: &str) -> Value {
    let args = json!({"query": query, "search_type": "text", "max_results": 20});
    daemon.call("search", args)
}

fn hits_now(daemon: &Daemon, query: &str) -> usize {
    answer(daemon, query)["results"].as_array().unwrap().len()
}

/// Counts the results of a word search once all events are indexed: on a busy machine an earlier answer may be
/// incomplete, and says so.
fn hits(daemon: &Daemon, query: &str) -> usize {
    until("a whole answer", ERASED_MAX, || {
        let answer = answer(daemon, query);
        let is_whole = answer["partial"].is_null();
        is_whole.then(|| answer["results"].as_array().unwrap().len())
    })
}

/// Records secrets by an agent: in results, large ones too, messages, tool executions, keys and a context.
fn record_as(daemon: &Daemon, secret: &mut Secret, session: &str, agent: &str) {
    let large = secret.text("large result", 100_000);
    for (place, result) in [("result", secret.text("result", 60)), ("large", large)] {
        let step = json!({
            "session": session, "agent": agent, "tool": secret.text(&format!("tool of {place}"), 40),
            "parameters": {"of": secret.text(&format!("parameter of {place}"), 40)},
            "result": format!("zanzibar {result}"), "key": secret.text(&format!("key of {place}"), 40),
        });
        daemon.call("record_step", step);
    }
    let content = format!("zanzibar {}", secret.text("message", 60));
    let message = json!({"session": session, "agent": agent, "sender": "user", "content": content});
    daemon.call("record_message", message);
    let notes = secret.text("value of a context", 5_000);
    let context = json!({"notes": notes});
    let args = json!({"sessionId": session, "agent": agent, "context": context});
    daemon.call("workflow_checkpoint_save", args);
}

/// One agent's events in a session are forgotten: the dry run counts them, no search finds them after the reply, no
/// file contains a byte of them, and the log names their positions. The other agent's events stay, and are found.
#[test]
fn what_an_agent_recorded_leaves_the_disk() {
    let mut random = Random::new(seed());
    let home = home!();
    let mut secret = Secret::new(&mut random);
    let daemon = home.start();
    daemon.call(
        "create_session",
        json!({"session": "both", "title": "Both"}),
    );
    let message =
        json!({"session": "both", "sender": "user", "content": "A pelican and a switch-01"});
    daemon.call("record_message", message);
    record_as(&daemon, &mut secret, "both", "mallory");
    let step = json!({"session": "both", "tool": "t", "result": {"bird": "pelican 10.0.0.7"}});
    daemon.call("record_step", step);
    let kept = save(
        &daemon,
        "both",
        json!({"own": words(3_000, &mut random)}),
        json!({}),
    );
    settle(&daemon);
    assert!(hits(&daemon, "zanzibar") >= 3 && hits(&daemon, "pelican") >= 2);
    let is_ours = |event: &Value| {
        let kind = event["kind"].as_str().unwrap();
        event["agent"] != "mallory" && kind != "EntitiesFound"
    };
    let mut before = said(&daemon, "both");
    before.retain(is_ours);

    let selector = json!({"of_agent": "mallory"});
    let mut dry = selector.clone();
    dry["dry_run"] = true.into();
    let foreseen = daemon.call("forget", dry);
    let mut real = selector.clone();
    real["key"] = "f".into();
    let reported = daemon.call("forget", real.clone());
    assert_eq!(hits_now(&daemon, "zanzibar"), 0);
    assert!(hits(&daemon, "pelican") >= 2);
    let seen = found(&home.data(), &secret.texts);
    let is_packed = |name: &&&str| !name.contains("value");
    assert_eq!(seen.iter().filter(is_packed).count(), 0, "{seen:?}");
    for count in ["events", "bytes", "sessions_in_part"] {
        assert_eq!(reported[count], foreseen[count], "{count}");
    }
    has(&reported, json!({"sessions": 0, "sessions_in_part": 1}));
    assert!(reported["bytes"].as_u64().unwrap() > 100_000, "{reported}");
    settle(&daemon);
    let mut after = said(&daemon, "both");
    after.retain(is_ours);
    assert_eq!(after, before);
    let load = daemon.call("workflow_checkpoint_load", json!({"checkpointId": kept}));
    assert_eq!(load["context"]["own"].as_str().unwrap().len(), 3_000);
    let found_again = said(&daemon, "both");
    let found_again = found_again
        .iter()
        .any(|event| event["kind"] == "EntitiesFound");
    assert!(found_again, "what is left is searched for entities anew");

    assert_eq!(
        daemon.call("forget", real)["position"],
        reported["position"]
    );
    let nothing = daemon.call("forget", selector);
    assert_eq!(nothing["events"], 0, "{nothing}");
    let log = daemon.call("verify_log", json!({}));
    assert_eq!(log["ok"], true, "{log:#}");
    let at = &log["events_forgotten"][0];
    has(at, json!({"session": "both", "is_erased": true}));
    assert!(is_erased(&daemon));
    daemon.verify();
    daemon.stop();
    let daemon = home.start();
    assert_eq!(hits_now(&daemon, "zanzibar"), 0);
    assert!(hits(&daemon, "pelican") >= 2);
    daemon.verify();
}

/// A tool's results, and a span of the log, are each forgotten in every session; a session entirely within the span
/// is forgotten as a whole.
#[test]
fn what_a_tool_or_a_time_left_goes() {
    let (_home, daemon) = serve!();
    for session in ["a", "b"] {
        for tool in ["camera", "till"] {
            let step =
                json!({"session": session, "tool": tool, "result": format!("{tool} {session}")});
            let refused = daemon.try_call("record_step", step.clone());
            if refused.is_err() {
                daemon.call("create_session", json!({"session": session}));
                daemon.call("record_step", step);
            }
        }
    }
    let reported = daemon.call("forget", json!({"origin": "tool:camera"}));
    assert_eq!(reported["sessions_in_part"], 2, "{reported}");
    for session in ["a", "b"] {
        let steps = daemon.call("list_steps", json!({"session": session}));
        let steps = steps["steps"].as_array().unwrap();
        assert_eq!((steps.len(), &steps[0]["tool"]), (1, &json!("till")));
        let refused = daemon.refusal("get_step", json!({"session": session, "step": 1}));
        assert_eq!(refused.code.as_str(), "STEP_NOT_FOUND");
        let step = json!({"session": session, "tool": "till", "result": 1});
        assert_eq!(
            daemon.call("record_step", step)["step"],
            3,
            "no number twice"
        );
    }
    let begun = events_of(&daemon, "b")[0]["position"].clone();
    let reported = daemon.call("forget", json!({"from": begun, "session": "b"}));
    assert_eq!(reported["sessions"], 1, "{reported}");
    let refused = daemon.refusal("list_steps", json!({"session": "b"}));
    assert!(
        refused.message.contains("was forgotten on"),
        "{}",
        refused.message
    );
    daemon.verify();
}

/// A session whose past a fork shares is excluded and listed, or refused if it alone was selected.
#[test]
fn what_a_fork_shares_is_kept() {
    let (_home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "old"}));
    for agent in ["ada", "bob"] {
        let step = json!({"session": "old", "agent": agent, "tool": "t", "result": 1});
        daemon.call("record_step", step);
    }
    daemon.call(
        "fork_session",
        json!({"session": "old", "new_session": "fork"}),
    );
    let reported = daemon.call("forget", json!({"of_agent": "bob"}));
    assert_eq!(reported["events"], 0, "{reported}");
    has_words(&reported["kept"][0], &["`fork`"]);
    let refused = daemon.refusal("forget", json!({"of_agent": "bob", "session": "old"}));
    assert_eq!(refused.code.as_str(), "CONFLICT");
}

/// A selection that is empty or matches nothing is refused with a suggestion.
#[test]
fn what_is_wrong_is_refused() {
    let (_home, daemon) = serve!();
    for (args, code, reported) in [
        (json!({}), "INVALID_INPUT", "nothing says"),
        (json!({"origin": "notes.md"}), "INVALID_INPUT", "no origin"),
        (json!({"origin": "source:x"}), "NOT_FOUND", "never was"),
        (
            json!({"from": "2026-01-31T99:00"}),
            "INVALID_INPUT",
            "`from` is not a valid time",
        ),
        (
            json!({"from": 5, "to": 2}),
            "INVALID_INPUT",
            "`from` is the position 5, and `to` is the position 2",
        ),
        (
            json!({"from": "2026-01-31T12:00:00Z", "to": "2026-01-31T12:30:00+01:00"}),
            "INVALID_INPUT",
            "`from` is 2026-01-31T12:00:00Z, and `to` is 2026-01-31T12:30:00+01:00",
        ),
        (json!({"session": "nobody"}), "SESSION_NOT_FOUND", "nobody"),
    ] {
        let refused = daemon.refusal("forget", args.clone());
        assert_eq!(refused.code.as_str(), code, "{args}");
        assert!(
            refused.message.contains(reported),
            "{args}: {}",
            refused.message
        );
    }
    // A single moment is a valid range; a position and a time are not compared.
    for args in [
        json!({"from": 1, "to": 1}),
        json!({"from": 5, "to": "2026-01-31T12:00:00Z"}),
    ] {
        assert_eq!(daemon.call("forget", args)["events"], 0);
    }
}

/// Space is freed: of some tens of megabytes from one agent, nearly all is free after the reply.
#[test]
fn space_returns() {
    let mut random = Random::new(seed());
    let (home, daemon) = serve!();
    daemon.call("create_session", json!({"session": "large"}));
    daemon.call(
        "record_step",
        json!({"session": "large", "tool": "t", "result": "stays"}),
    );
    let before = disk::taken_bytes(&home.data());
    let mut connection = daemon.connect("bulk");
    let mut recorded = 0;
    for length in [3_000_usize, 20_000, 60_000, 90_000]
        .into_iter()
        .cycle()
        .take(600)
    {
        let result = words(length, &mut random);
        recorded += length as u64;
        let step = json!({"session": "large", "tool": "t", "result": result});
        tests::call(&mut connection, "record_step", step).unwrap();
    }
    let full = disk::taken_bytes(&home.data());
    assert!(
        full - before > recorded / 2,
        "{before} before, {full} after {recorded}"
    );
    let reported = daemon.call("forget", json!({"of_agent": "bulk"}));
    assert!(
        reported["bytes"].as_u64().unwrap() >= recorded,
        "{reported}"
    );
    let after = disk::taken_bytes(&home.data());
    println!("{before} bytes before, {full} with {recorded} recorded, {after} once forgotten");
    assert!(
        after < before + recorded / 10,
        "{before} before, {full} full, {after} after"
    );
    daemon.verify();
}

/// The daemon is killed repeatedly while an agent's events are forgotten. After each start all or none of them
/// exist, and none if that was acknowledged. Forgotten data leaves the disk without a request, and the other
/// agent's steps exist. `LORE_CRASH_CYCLES` for more.
#[test]
fn a_kill_leaves_a_part_there_or_gone() {
    let cycles: u64 = std::env::var("LORE_CRASH_CYCLES")
        .map_or(4, |cycles| cycles.parse().expect("a number of cycles"));
    let mut random = Random::new(seed());
    let home = home!();
    home.configure("[engine]\nmemtable_bytes_max = 1048576\n");
    for number in 0..cycles {
        let daemon = home.start();
        let session = format!("both-{number}");
        let agent = format!("mallory-{number}");
        daemon.call("create_session", json!({"session": session}));
        let mut secret = Secret::new(&mut random);
        record_as(&daemon, &mut secret, &session, &agent);
        let theirs = random.range(0, 120);
        let mut other = daemon.connect("other");
        let mut connection = daemon.connect(&agent);
        for at in 0..theirs {
            let result = words(random.range(100, 20_000) as usize, &mut random);
            let step = json!({"session": session, "tool": "t", "result": result});
            tests::call(&mut connection, "record_step", step).unwrap();
            if at % 4 == 0 {
                let own = json!({"session": session, "tool": "own", "result": at});
                daemon.call("record_step", own);
            }
        }
        let most = if random.one_in(2) { 10 } else { 100 };
        let wanted = random.range(0, most);
        let acknowledged = std::thread::scope(|scope| {
            let forgetting = scope.spawn(|| {
                let args = json!({"of_agent": agent, "session": session});
                daemon.try_call("forget", args).is_ok()
            });
            // Meanwhile another session grows; its number of steps sets the time of the kill.
            for _ in 0..wanted {
                let step = json!({"tool": "t", "result": "of another"});
                tests::call(&mut other, "record_step", step).unwrap();
            }
            daemon.signal(rustix::process::Signal::KILL);
            forgetting.join().unwrap()
        });
        daemon.wait();
        let daemon = home.start();
        let steps = daemon.call("list_steps", json!({"session": session, "limit": 1000}));
        let steps = steps["steps"].as_array().unwrap();
        let own = steps.iter().filter(|step| step["tool"] == "own").count() as u64;
        assert_eq!(own, theirs.div_ceil(4));
        let is_gone = match steps.len() as u64 - own {
            0 => true,
            left => {
                assert_eq!(left, theirs + 2, "a part of it is there");
                false
            }
        };
        assert!(is_gone || !acknowledged, "acknowledged and there");
        daemon.verify();
        if is_gone {
            until("what is gone to leave the disk", ERASED_MAX, || {
                is_erased(&daemon).then_some(())
            });
            let seen = found(&home.data(), &secret.texts);
            let is_plain = |name: &&&str| !name.contains("value");
            assert_eq!(seen.iter().filter(is_plain).count(), 0, "{seen:?}");
            daemon.verify();
        }
        daemon.stop();
    }
}
