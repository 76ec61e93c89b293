//! A damaged checkpoint: reported with the newest good one, nothing deleted, and others load.

use std::path::PathBuf;

use serde_json::{Value, json};
use tests::{Daemon, Random, disk, noise, serve, transports};

use super::{context_of, create_session, listed, load, save};

/// Flips one bit in the middle of a file.
fn flip(path: &PathBuf) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(path, bytes).unwrap();
}

fn findings(daemon: &Daemon) -> Vec<Value> {
    let reply = daemon.call("verify_log", json!({}));
    reply["findings"].as_array().unwrap().clone()
}

/// With one flipped bit in the file of a large value, loading the checkpoint fails with `CORRUPT` on every
/// transport and names the newest good one. That one and other sessions' load, new saves work, the verification
/// reports the damage, and nothing is deleted. With the bit flipped back the store is whole again.
#[test]
fn a_flipped_bit_is_told_with_the_newest_good_one() {
    let (home, daemon) = serve!();
    let mut connection = daemon.connect("");
    let mut random = Random::new(3);
    create_session(&daemon, "s");
    let mut save_in = |session: &str, context: &Value| {
        save(
            &mut connection,
            json!({"sessionId": session, "context": context}),
        )
        .unwrap()
    };
    let (oldest, good) = (
        json!({"n": 1}),
        json!({"n": 2, "plan": noise(9_000, &mut random)}),
    );
    let mut bad = good.clone();
    bad["large"] = json!(noise(300_000, &mut random));
    save_in("s", &oldest);
    let good_one = save_in("s", &good);
    let bad_one = save_in("s", &bad);
    create_session(&daemon, "other");
    let others = save_in("other", &json!({"large": noise(300_000, &mut random)}));
    let blobs = disk::files(&home.data().join("blobs"));
    assert_eq!(blobs.len(), 2);
    daemon.stop();
    let own = blobs.iter().find(|blob| {
        // The file that the other session does not share.
        let length = std::fs::read(blob).unwrap().len();
        flip(blob);
        let daemon = home.start();
        let is_others = context_of(&mut daemon.connect(""), &others.id).is_err();
        daemon.stop();
        if is_others {
            flip(blob);
        }
        assert!(length > 100_000);
        !is_others
    });
    let own = own.unwrap();

    let daemon = home.start();
    for (door_name, mut endpoint) in transports!(home, daemon) {
        for args in [
            json!({"checkpointId": bad_one.id}),
            json!({"sessionId": "s"}),
        ] {
            let refusal = endpoint
                .call("workflow_checkpoint_load", &args)
                .unwrap_err();
            assert_eq!(refusal["code"], "CORRUPT", "{door_name}: {refusal}");
            assert_eq!(refusal["status"], 500, "{door_name}: {refusal}");
            assert_eq!(
                refusal["details"]["newestGood"], good_one.id,
                "{door_name}: {refusal}"
            );
            let hint = refusal["hint"].as_str().unwrap();
            assert!(
                hint.contains(&good_one.id) && hint.contains("Nothing was deleted"),
                "{hint}"
            );
        }
    }
    let mut connection = daemon.connect("");
    assert_eq!(context_of(&mut connection, &good_one.id).unwrap(), good);
    assert!(context_of(&mut connection, &others.id).is_ok());
    let partly = json!({"checkpointId": bad_one.id, "keys": ["plan"]});
    let partly = load(&mut connection, partly).unwrap();
    assert_eq!(
        partly.context.get(),
        json!({"plan": good["plan"]}).to_string()
    );
    let found = findings(&daemon);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], "object", "{found:?}");
    assert_eq!(listed(&mut connection, "s").len(), 3, "nothing was deleted");
    bad["large"] = json!(format!("{}!", bad["large"].as_str().unwrap()));
    let next = save(&mut connection, json!({"sessionId": "s", "context": bad})).unwrap();
    assert_eq!(
        context_of(&mut connection, &next.id).unwrap(),
        bad,
        "saved whole"
    );
    daemon.stop();
    flip(own);
    let daemon = home.start();
    assert!(context_of(&mut daemon.connect(""), &bad_one.id).is_ok());
    daemon.verify();
}

/// Saving a damaged value again, unchanged or with a change elsewhere, repairs it for every checkpoint that shares
/// it. Afterwards the store verifies and nothing is left over.
#[test]
fn a_save_mends_what_it_finds_damaged() {
    for is_changed in [false, true] {
        let (home, daemon) = serve!();
        let mut connection = daemon.connect("");
        let mut context = json!({"n": 1, "large": noise(300_000, &mut Random::new(5))});
        let first = save(&mut connection, json!({"context": context})).unwrap();
        daemon.stop();
        let blobs = disk::files(&home.data().join("blobs"));
        assert_eq!(blobs.len(), 1);
        flip(&blobs[0]);
        let daemon = home.start();
        let mut connection = daemon.connect("");
        let before = context.clone();
        if is_changed {
            context["n"] = json!(2);
        }
        let args = json!({"sessionId": first.session, "context": context});
        let second = save(&mut connection, args).unwrap();
        assert_ne!(second.id, first.id, "the damaged one stands for nothing");
        daemon.stop();
        let daemon = home.start();
        let mut connection = daemon.connect("");
        assert_eq!(context_of(&mut connection, &first.id).unwrap(), before);
        assert_eq!(context_of(&mut connection, &second.id).unwrap(), context);
        daemon.verify();
        for id in [&first.id, &second.id] {
            super::delete(&mut connection, id).unwrap();
        }
        daemon.verify();
    }
}

/// A damaged checkpoint can be deleted, and its session continues.
#[test]
fn a_damaged_checkpoint_can_be_deleted() {
    let (home, daemon) = serve!();
    let mut connection = daemon.connect("");
    let context = json!({"goal": "g", "large": noise(300_000, &mut Random::new(4))});
    let first = save(&mut connection, json!({"context": {"goal": "g"}})).unwrap();
    let second = json!({"sessionId": first.session, "context": context});
    let second = save(&mut connection, second).unwrap();
    let mark = json!({"sessionId": first.session, "contextKey": "goal"});
    daemon.call("workflow_mark_critical", mark);
    daemon.stop();
    let blobs = disk::files(&home.data().join("blobs"));
    flip(&blobs[0]);
    let daemon = home.start();
    let mut connection = daemon.connect("");
    assert!(context_of(&mut connection, &second.id).is_err());
    super::delete(&mut connection, &second.id).unwrap();
    assert_eq!(listed(&mut connection, &first.session), [first.id.as_str()]);
    let latest = load(&mut connection, json!({"sessionId": first.session})).unwrap();
    assert_eq!(latest.checkpoint_id, first.id);
    assert_eq!(latest.critical_keys, vec!["goal".to_owned()]);
    daemon.verify();
}
