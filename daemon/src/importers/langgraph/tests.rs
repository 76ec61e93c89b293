//! Tests with valid, damaged and unrelated databases.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;

const GOLDEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tests/golden/langgraph.sqlite"
);

/// Writes a database with these tables: name, columns, rows.
fn database(path: &Path, tables: &[(&str, &str, Vec<Vec<sqlite::Value>>)]) {
    let _ = std::fs::remove_file(path);
    let mut connection = rusqlite::Connection::open(path).unwrap();
    let transaction = connection.transaction().unwrap();
    for (name, columns, rows) in tables {
        let sql = format!("CREATE TABLE {name} ({columns})");
        transaction.execute(&sql, []).unwrap();
        for row in rows {
            let marks = vec!["?"; row.len()].join(", ");
            let sql = format!("INSERT INTO {name} VALUES ({marks})");
            let values = rusqlite::params_from_iter(row);
            transaction.execute(&sql, values).unwrap();
        }
    }
    transaction.commit().unwrap();
}

/// Writes a database with checkpoints and writes.
fn thread_database(path: &Path, saved: Vec<Vec<sqlite::Value>>, wrote: Vec<Vec<sqlite::Value>>) {
    let checkpoints = "thread_id, checkpoint_id, type, checkpoint";
    let writes = "thread_id, checkpoint_id, task_id, idx, channel, type, value";
    database(
        path,
        &[
            ("checkpoints", checkpoints, saved),
            ("writes", writes, wrote),
        ],
    );
}

fn converted(path: &Path) -> Result<(String, Vec<String>), Error> {
    let (mut out, mut left_out) = (Vec::new(), Vec::new());
    let mut lines = LineWriter::new(&mut out);
    write(path, &mut lines, &mut |what| left_out.push(what.to_owned()))?;
    lines.end().unwrap();
    Ok((String::from_utf8(out).unwrap(), left_out))
}

/// A real LangGraph database: every thread is a session and every checkpoint is in order with its contents, in
/// lines that an import accepts. A repetition gives the same lines.
#[test]
fn a_database_of_langgraph_is_converted() {
    let (text, left_out) = converted(Path::new(GOLDEN)).unwrap();
    assert_eq!(left_out, [""; 0]);
    assert_eq!(crate::transfer::check_whole(&text).unwrap(), 3);
    assert_eq!(converted(Path::new(GOLDEN)).unwrap().0, text);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sessions: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["session"].as_str())
        .collect();
    assert_eq!(sessions.first(), Some(&"langgraph-thread-1"));
    assert!(
        sessions
            .iter()
            .any(|id| id.starts_with("langgraph-user-ada-7-"))
    );
    let saved: Vec<&Value> = lines
        .iter()
        .filter(|line| line["kind"] == "CheckpointSaved")
        .collect();
    assert_eq!(saved.len(), 11);
    let third = &saved.get(2).unwrap()["payload"];
    assert_eq!(third["checkpoint"], "1f0fe9a0-0000-6002-8000-000000000000");
    let (metadata, context) = (&third["metadata"], &third["context"]);
    assert_eq!(metadata["name"], "loop step 1");
    assert_eq!(
        metadata["langgraph"]["parent_checkpoint_id"],
        "1f0fe9a0-0000-6001-8000-000000000000"
    );
    assert_eq!(metadata["langgraph"]["metadata"]["run"], "r-1");
    let extra = &context["extra"];
    let typed = [
        (
            "id",
            json!({"__type": "uuid.UUID", "value": "12345678123456781234567812345678"}),
        ),
        (
            "at",
            json!({"__type": "datetime.datetime", "value": "2026-01-31T12:00:00+00:00"}),
        ),
        (
            "day",
            json!({"__type": "datetime.date", "args": [2026, 1, 31]}),
        ),
        (
            "price",
            json!({"__type": "decimal.Decimal", "value": "1.50"}),
        ),
        (
            "point",
            json!({"__type": "__main__.Point", "kwargs": {"x": 1, "y": 2.5}}),
        ),
        ("bytes", json!({"__type": "bytes", "base64": "AP8="})),
        ("big", json!(9_223_372_036_854_775_808_u64)),
        ("negative", json!(-5)),
        ("7", json!("number as a key")),
        ("none", json!(null)),
    ];
    for (name, wanted) in typed {
        assert_eq!(extra[name], wanted, "{name}");
    }
    let said = &context["messages"][0];
    assert_eq!(said["__type"], "langchain_core.messages.human.HumanMessage");
    assert_eq!(
        said["kwargs"]["content"],
        "compare switch-nyc-01 with router-la-02"
    );
    let steps: Vec<&Value> = lines
        .iter()
        .filter(|line| line["kind"] == "StepRecorded")
        .collect();
    assert_eq!(
        steps.len(),
        12,
        "two control channels per checkpoint say nothing"
    );
    assert!(
        steps
            .iter()
            .any(|step| step["payload"]["error"] == "ValueError('no')")
    );
    assert!(text.contains("text that overflows a page; text that"));
}

/// Any flipped byte and any truncation is refused or read: never a panic, never an endless loop.
#[test]
fn damaged_databases_never_panic() {
    let whole = std::fs::read(GOLDEN).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.sqlite");
    let mut state = 7_u64;
    for round in 0..600 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 4 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // Half of the damage goes to the beginnings of pages, where the structure is.
            let at = (state >> 33) as usize;
            let at = match round % 2 {
                0 => at % bytes.len(),
                _ => (at % 17) * 4096 + at % 120,
            };
            if let Some(byte) = bytes.get_mut(at) {
                *byte = (state >> 24) as u8;
            }
        }
        if round % 7 == 0 {
            bytes.truncate((state >> 40) as usize % whole.len());
        }
        std::fs::write(&path, bytes).unwrap();
        let _ = check(&path);
    }
}

/// Files that are not LangGraph databases are refused with a description.
#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter");
    for (content, word) in [
        ("", "no table `checkpoints`"),
        (&*"x".repeat(200), "not a SQLite database"),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = converted(&path).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

/// A program that writes to the database meanwhile loses nothing, and the import sees its last commit: from the
/// write-ahead log, and never half of a transaction.
#[test]
fn a_database_in_use_is_read_at_its_last_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("live.sqlite");
    let columns = "thread_id, checkpoint_id, type, checkpoint";
    database(&path, &[("checkpoints", columns, Vec::new())]);
    let writer = rusqlite::Connection::open(&path).unwrap();
    let mode = writer.query_row("PRAGMA journal_mode = WAL", [], |row| {
        row.get::<_, String>(0)
    });
    assert_eq!(mode.unwrap(), "wal");
    let insert = |id: &str| {
        let sql = "INSERT INTO checkpoints VALUES ('t', ?1, 'json', '{\"channel_values\": {}}')";
        writer.execute(sql, [id]).unwrap();
    };
    let saved = || {
        let (text, left_out) = converted(&path).unwrap();
        assert_eq!(left_out, [""; 0]);
        text.matches("CheckpointSaved").count()
    };
    insert("c-1");
    assert_eq!(saved(), 1);
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    insert("c-2");
    assert_eq!(saved(), 1);
    writer.execute_batch("COMMIT").unwrap();
    assert_eq!(saved(), 2);
}

/// A view under the table's name could compute for ever; it is not read.
#[test]
fn views_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("view.sqlite");
    database(
        &path,
        &[("other", "thread_id, checkpoint_id, checkpoint", Vec::new())],
    );
    let connection = rusqlite::Connection::open(&path).unwrap();
    let sql = "CREATE VIEW checkpoints AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) \
        SELECT x AS thread_id, x AS checkpoint_id, x AS checkpoint FROM n";
    connection.execute_batch(sql).unwrap();
    let error = converted(&path).unwrap_err().to_string();
    assert!(error.contains("no table `checkpoints`"), "{error}");
}

/// Task outputs after a checkpoint that exceed the limit of one imported session continue in other sessions, all of
/// which are accepted. A value that is too long by itself is skipped and reported.
#[test]
fn writes_go_on_in_another_session() {
    let text = |text: &str| sqlite::Value::Text(text.to_owned());
    let json = |value: &Value| sqlite::Value::Blob(value.to_string().into_bytes());
    let saved = [
        text("t"),
        text("c-1"),
        text("json"),
        json(&json!({"channel_values": {"goal": "compare"}})),
    ];
    let long = |bytes: usize| json(&Value::from("\"".repeat(bytes)));
    let bytes = sqlite::Value::Blob(vec![7; 16 << 20]);
    let values = [
        (1, "json", long(4 << 20)),
        (2, "json", long(5 << 20)),
        (3, "json", long(4 << 20)),
        (4, "pickle", bytes),
        (5, "json", json(&json!("the last one"))),
    ];
    let writes = values.into_iter().map(|(n, kind, value)| {
        let channel = text(&format!("channel-{n}"));
        let number = sqlite::Value::Integer(n);
        Vec::from([
            text("t"),
            text("c-1"),
            text("task"),
            number,
            channel,
            text(kind),
            value,
        ])
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.sqlite");
    thread_database(&path, vec![saved.to_vec()], writes.collect());
    let (text, left_out) = converted(&path).unwrap();
    assert_eq!(left_out.len(), 1, "{left_out:?}");
    assert!(left_out[0].contains("channel-4") && left_out[0].contains("as JSON"));
    assert_eq!(crate::transfer::check_whole(&text).unwrap(), 2);
    let of_kind = |kind: &str| {
        let wanted = format!("\"kind\":\"{kind}\"");
        text.lines().filter(|line| line.contains(&wanted)).count()
    };
    assert_eq!(
        (of_kind("CheckpointSaved"), of_kind("StepRecorded")),
        (1, 4)
    );
    let steps = text
        .lines()
        .filter(|line| line.contains("\"payload\":{\"step\":1,"));
    assert_eq!(steps.count(), 2, "each session counts its own");
}

/// A thread waits for a reply and then continues: the earlier output is repeated in the same order before anything
/// newer, whatever the names and numbers of its tasks.
#[test]
fn what_came_since_comes_behind() {
    let text = |text: &str| sqlite::Value::Text(text.to_owned());
    let saved = |id: &str, at: &str| {
        let checkpoint = json!({"ts": at, "channel_values": {"goal": id}});
        let checkpoint = sqlite::Value::Blob(checkpoint.to_string().into_bytes());
        Vec::from([text("t"), text(id), text("json"), checkpoint])
    };
    let wrote = |task: &str, idx: i64, channel: &str| {
        let value = sqlite::Value::Blob(json!(format!("{task} {idx}")).to_string().into_bytes());
        let (task, idx) = (text(task), sqlite::Value::Integer(idx));
        Vec::from([
            text("t"),
            text("c-1"),
            task,
            idx,
            text(channel),
            text("json"),
            value,
        ])
    };
    let checkpoints = [
        saved("c-1", "2026-01-31T12:00:00+00:00"),
        saved("c-2", "2026-01-31T12:00:01+00:00"),
    ];
    let writes = [
        wrote("task-b", -3, "__interrupt__"),
        wrote("task-c", 0, "notes"),
        wrote("00000000-0000-0000-0000-000000000000", -4, "__resume__"),
        wrote("task-a", 0, "notes"),
        wrote("task-b", -4, "__resume__"),
        wrote("task-b", 0, "goal"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thread.sqlite");
    let events = |saved: usize, wrote: usize| -> Vec<String> {
        thread_database(
            &path,
            checkpoints[..saved].to_vec(),
            writes[..wrote].to_vec(),
        );
        let (text, left_out) = converted(&path).unwrap();
        assert_eq!(left_out, [""; 0]);
        crate::transfer::check_whole(&text).unwrap();
        let events = text.lines().filter(|line| line.contains("\"payload\""));
        events.map(str::to_owned).collect()
    };
    let mut before = events(1, 0);
    for (saved, wrote) in [(1, 2), (1, 3), (1, 5), (2, 6)] {
        let after = events(saved, wrote);
        assert_eq!(after.len(), 1 + saved + wrote, "{after:#?}");
        assert_eq!(after[..before.len()], before, "{saved} {wrote}");
        before = after;
    }
}

/// Ids contain as much of a name as possible, and stay distinct.
#[test]
fn ids() {
    let id =
        |thread: &str, graph: &str, part| session_id(&(thread.to_owned(), graph.to_owned()), part);
    assert_eq!(id("a_1", "", 1), "langgraph-a_1");
    assert_eq!(id("a_1", "", 2), "langgraph-a_1-part-2");
    assert_ne!(id("a/1", "", 1), id("a:1", "", 1));
    assert_ne!(id("a", "x", 1), id("a", "y", 1));
    assert!(id(&"ä".repeat(500), "", 12).len() <= 128);
    let uuid = "1f0fe9a0-0000-6002-8000-000000000000";
    assert_eq!(checkpoint_id(uuid, None), uuid);
    let prefix = |text: &str| text.parse::<Prefix>().unwrap();
    let (again, other) = (prefix("again"), prefix("other"));
    let made = [
        checkpoint_id("no uuid", None),
        checkpoint_id("no uuid", Some(&again)),
        checkpoint_id(uuid, Some(&again)),
        checkpoint_id(uuid, Some(&other)),
    ];
    for (n, one) in made.iter().enumerate() {
        assert!(crate::checkpoints::CheckpointKey::parse(one).is_some());
        assert!(!made[..n].contains(one) && one != uuid, "{made:?}");
    }
    let longest = id(&"ä".repeat(500), "", u32::MAX);
    let longest = prefix(&"p".repeat(32)).id(&longest);
    assert!(lore::protocol::SessionId::new(longest).is_ok());
}
