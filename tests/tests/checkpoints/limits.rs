//! Checkpoint limits: the retained number, the order of eviction, and checkpoints that are never evicted.

use std::time::Duration;

use lore::protocol::{Args, Code};
use serde_json::{Value, json};
use tests::{Random, noise, serve, until};

use super::{SaveResult, create_session, delete, listed, save};

/// With a limit of five, the sixth save evicts the oldest checkpoint without name and tags; named and tagged ones
/// stay. If only those are left, the next save is refused with the count until one of them is deleted.
#[test]
fn named_ones_never_vanish() {
    let (_home, daemon) = serve!("[checkpoints]\nper_session_max = 5\n");
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    let mut n = 0;
    let mut save_in = |metadata: Value| {
        n += 1;
        save(
            &mut connection,
            json!({"sessionId": "s", "context": {"n": n}, "metadata": metadata}),
        )
    };
    let named = save_in(json!({"name": "first"})).unwrap();
    let tagged = save_in(json!({"tags": ["keep"]})).unwrap();
    let plain: Vec<SaveResult> = (0..6)
        .map(|_| save_in(json!({"note": "x"})).unwrap())
        .collect();
    let mut wanted: Vec<String> = plain
        .iter()
        .rev()
        .take(3)
        .map(|saved| saved.id.clone())
        .collect();
    wanted.extend([tagged.id.clone(), named.id.clone()]);
    let mut reader = daemon.connect("");
    assert_eq!(listed(&mut reader, "s"), wanted);
    // Each save reports what clean-up removed for it, and nothing else does so again.
    let removed = |saved: &SaveResult| {
        let mut warnings = saved.warnings.iter();
        warnings.any(|warning| warning.starts_with("clean-up removed 1 checkpoint of this session"))
    };
    let reported: Vec<bool> = plain.iter().map(removed).collect();
    assert_eq!(reported, [false, false, false, true, true, true]);
    let names: Vec<SaveResult> = (0..3)
        .map(|n| save_in(json!({"name": format!("n{n}")})).unwrap())
        .collect();
    assert!(
        !names[2].warnings.is_empty(),
        "five of five: {:?}",
        names[2]
    );
    let before = super::position(&daemon);
    let refused = save_in(json!({})).unwrap_err();
    assert_eq!(super::code(&refused), "STORAGE_QUOTA_EXCEEDED");
    assert!(refused.to_string().contains("the most is 5"), "{refused}");
    assert_eq!(super::position(&daemon), before);
    let wanted: Vec<String> = names
        .iter()
        .rev()
        .chain([&tagged, &named])
        .map(|saved| saved.id.clone())
        .collect();
    assert_eq!(listed(&mut reader, "s"), wanted);
    delete(&mut reader, &tagged.id).unwrap();
    assert!(save_in(json!({})).unwrap().is_new());
    assert_eq!(listed(&mut reader, "s").len(), 5);
    daemon.verify();
}

/// What clean-up removed since the session's last reply is in its next one, once: here a list after a restart.
#[test]
fn a_later_reply_reports_what_clean_up_removed() {
    let (home, daemon) = serve!("[checkpoints]\nper_session_max = 2\n");
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    for n in 0..3 {
        save(
            &mut connection,
            json!({"sessionId": "s", "context": {"n": n}}),
        )
        .unwrap();
    }
    daemon.stop();
    let daemon = home.start();
    let mut connection = daemon.connect("");
    let mut warnings = || {
        let args = Args::Json(json!({"sessionId": "s"}).to_string().into_bytes());
        let reply = connection.call("workflow_checkpoint_list", &args).unwrap();
        let meta: Value = serde_json::from_slice(&reply.meta.unwrap()).unwrap();
        meta["warnings"].to_string()
    };
    assert!(warnings().contains("clean-up removed 1 checkpoint"));
    assert!(!warnings().contains("clean-up removed"));
    daemon.verify();
}

/// The newest checkpoint with a critical key counts as named: it outlives every save without the key. It becomes
/// evictable when a newer one has the key or the mark is removed.
#[test]
fn the_newest_holder_of_a_critical_key_stays() {
    let (_home, daemon) = serve!("[checkpoints]\nper_session_max = 3\n");
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    let mut n = 0;
    let mut save_in = |answer: bool| {
        n += 1;
        let context = match answer {
            true => json!({"n": n, "answer": 42}),
            false => json!({ "n": n }),
        };
        save(
            &mut connection,
            json!({"sessionId": "s", "context": context}),
        )
        .unwrap()
        .id
    };
    let mut reader = daemon.connect("");
    let holder = save_in(true);
    daemon.call(
        "workflow_mark_critical",
        json!({"sessionId": "s", "contextKey": "answer"}),
    );
    for _ in 0..6 {
        save_in(false);
    }
    assert_eq!(listed(&mut reader, "s").last(), Some(&holder));
    let newer = save_in(true);
    save_in(false);
    let now = listed(&mut reader, "s");
    assert!(!now.contains(&holder) && now.contains(&newer), "{now:?}");
    let unmark = json!({"sessionId": "s", "contextKey": "answer", "unmark": true});
    daemon.call("workflow_mark_critical", unmark);
    for _ in 0..3 {
        save_in(false);
    }
    assert!(!listed(&mut reader, "s").contains(&newer));
    daemon.verify();
}

/// From four fifths of a limit, replies and `status` warn with the used and allowed amounts.
#[test]
fn warnings_come_at_four_fifths() {
    let (_home, daemon) =
        serve!("[checkpoints]\nper_session_max = 10\ntotal_bytes_max = 1000000\n");
    let mut connection = daemon.connect("");
    create_session(&daemon, "s");
    let mut random = Random::new(11);
    for number in 1..=10 {
        let args = json!({"sessionId": "s", "context": {"n": number}});
        let saved = save(&mut connection, args).unwrap();
        let is_near = number >= 8;
        assert_eq!(!saved.warnings.is_empty(), is_near, "{number}: {saved:?}");
        if is_near {
            assert!(
                saved.warnings[0].contains(&format!("{number} of 10 checkpoints")),
                "{saved:?}"
            );
        }
    }
    let args = json!({"context": {"noise": noise(1_640_000, &mut random)}});
    let saved = save(&mut connection, args).unwrap();
    assert!(saved.warnings[0].contains("of 1000000 bytes"), "{saved:?}");
    let status = daemon.call("status", json!({}));
    let warnings = status["warnings"].to_string();
    assert!(warnings.contains("of 1000000 bytes"), "{warnings}");
}

/// If space is missing, a save evicts checkpoints of inactive sessions before it is refused.
#[test]
fn a_save_has_room_made() {
    let (_home, daemon) = serve!("[checkpoints]\ntotal_bytes_max = 1000000\ninactive_days = 0\n");
    let mut connection = daemon.connect("");
    let mut random = Random::new(13);
    create_session(&daemon, "old");
    create_session(&daemon, "new");
    let mut save_noise = |session: &str, bytes: usize, name: Option<&str>| {
        let metadata = name.map_or(json!({}), |name| json!({ "name": name }));
        let context = json!({"noise": noise(bytes, &mut random)});
        let args = json!({"sessionId": session, "context": context, "metadata": metadata});
        save(&mut connection, args)
    };
    save_noise("old", 400_000, None).unwrap();
    let named = save_noise("old", 400_000, Some("named")).unwrap();
    save_noise("old", 400_000, None).unwrap();
    let new = save_noise("new", 1_000_000, Some("large")).unwrap();
    let refused = save_noise("new", 1_000_000, None).unwrap_err();
    assert_eq!(refused.to_body().code, Code::StorageQuotaExceeded);
    let mut reader = daemon.connect("");
    assert_eq!(listed(&mut reader, "old"), std::slice::from_ref(&named.id));
    for id in [&named.id, &new.id] {
        assert!(super::context_of(&mut reader, id).is_ok());
    }
    daemon.verify();
}

/// At nine tenths of all space, sessions inactive for the configured time lose their unnamed checkpoints.
/// Named ones stay and load, and so does the session that is being written.
#[test]
fn untouched_sessions_make_room() {
    let (_home, daemon) = serve!("[checkpoints]\ntotal_bytes_max = 1000000\ninactive_days = 0\n");
    let mut connection = daemon.connect("");
    let mut random = Random::new(12);
    create_session(&daemon, "old");
    create_session(&daemon, "new");
    let mut saved = Vec::new();
    for name in [None, Some("named"), None] {
        let metadata = name.map_or(json!({}), |name| json!({ "name": name }));
        let context = json!({"noise": noise(400_000, &mut random)});
        let args = json!({"sessionId": "old", "context": context, "metadata": metadata});
        saved.push(save(&mut connection, args).unwrap().id);
    }
    let context = json!({"noise": noise(580_000, &mut random)});
    let args = json!({"sessionId": "new", "context": context});
    save(&mut connection, args).unwrap();
    let mut reader = daemon.connect("");
    let left = until("room to be made", Duration::from_secs(60), || {
        let left = listed(&mut reader, "old");
        (left.len() < 3).then_some(left)
    });
    assert!(left.contains(&saved[1]), "the named one stays: {left:?}");
    assert!(super::context_of(&mut reader, &saved[1]).is_ok());
    daemon.verify();
}
