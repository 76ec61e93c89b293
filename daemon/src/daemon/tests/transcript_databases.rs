//! Transcripts in databases of hosts, read while the hosts have them open.

use std::fs;

use super::capture::Fixture;
use super::transcripts::{memory, transcript};
use super::*;

const OPENCODE: &str = ".local/share/opencode/opencode.db";
const GOOSE: &str = ".local/share/goose/sessions/sessions.db";
const CURSOR_WORKSPACE: &str = ".config/Cursor/User/workspaceStorage/8d1c/state.vscdb";
const CURSOR: &str = ".config/Cursor/User/globalStorage/state.vscdb";

impl Fixture {
    /// Opens a database as its host does, with a log beside it.
    fn database(&self, path: &str, schema: &str) -> rusqlite::Connection {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        connection
            .pragma_update(None, "journal_mode", "wal")
            .unwrap();
        connection.execute_batch(schema).unwrap();
        connection
    }
}

/// The tables of opencode 1.18, without the columns that are not read.
const OPENCODE_TABLES: &str = "
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);";

/// Writes the messages of an export of opencode into its tables.
fn fill_opencode(connection: &rusqlite::Connection, messages: &[Value]) {
    for message in messages {
        let (info, at) = (&message["info"], &message["info"]["time"]);
        let at = at["completed"]
            .as_i64()
            .or_else(|| at["created"].as_i64())
            .unwrap();
        let (id, session) = (
            info["id"].as_str().unwrap(),
            info["sessionID"].as_str().unwrap(),
        );
        let own = (
            "INSERT OR IGNORE INTO session VALUES (?1, NULL, '/home/user/project', ?2)",
            (session, at),
        );
        connection.execute(own.0, own.1).unwrap();
        let row = (id, session, at, info.to_string());
        connection
            .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", row)
            .unwrap();
        for part in message["parts"].as_array().unwrap() {
            let row = (
                part["id"].as_str().unwrap(),
                id,
                session,
                at,
                part.to_string(),
            );
            connection
                .execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)", row)
                .unwrap();
        }
    }
}

/// The database says what the export says, while the host has it open, and its new part comes later.
#[tokio::test]
async fn opencodes_database_is_read_as_its_export() {
    let export: Value =
        serde_json::from_slice(&fs::read(transcript("opencode.json")).unwrap()).unwrap();
    let messages = export["messages"].as_array().unwrap();
    let memory = memory();
    let host = memory.database(OPENCODE, OPENCODE_TABLES);
    let (first, later) = messages.split_at(messages.len() / 2);
    fill_opencode(&host, first);
    let read = memory.import(&["opencode"]).await;
    assert!(read["recorded"].as_u64().unwrap() > 3, "{read}");
    assert_eq!(memory.import(&["opencode"]).await["recorded"], 0);
    fill_opencode(&host, later);
    memory.import(&["opencode"]).await;
    let end = memory.context().engine.position();
    drop(host);
    assert_eq!(memory.import(&["opencode"]).await["recorded"], 0);
    assert_eq!(memory.context().engine.position(), end);
    let said = memory
        .said(&format!(
            "opencode:{}",
            messages[0]["info"]["sessionID"].as_str().unwrap()
        ))
        .await;
    let prompts = messages
        .iter()
        .filter(|one| one["info"]["role"] == "user")
        .count();
    assert!(
        said.iter().filter(|(sender, _)| sender == "user").count() >= prompts - 1,
        "{said:?}"
    );
    assert!(memory.steps().await > 2);
}

/// An answer that is being written is read when it is done.
#[tokio::test]
async fn an_answer_that_is_not_done_waits() {
    let memory = memory();
    let host = memory.database(OPENCODE, OPENCODE_TABLES);
    let now = memory.now_ms();
    let message = |completed: Value, text: &str| {
        json!({
            "info": {"id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": now - 5, "completed": completed}},
            "parts": [{"id": "prt_1", "type": "text", "text": text}],
        })
    };
    fill_opencode(&host, &[message(Value::Null, "Half")]);
    assert_eq!(memory.import(&["opencode"]).await["recorded"], 0);
    host.execute_batch("DELETE FROM message; DELETE FROM part")
        .unwrap();
    fill_opencode(&host, &[message(json!(now), "Half an answer and the rest")]);
    assert_eq!(memory.import(&["opencode"]).await["recorded"], 1);
    assert_eq!(
        memory.said("opencode:ses_1").await[0].1,
        "Half an answer and the rest"
    );
}

#[tokio::test]
async fn gooses_database_is_read_and_rewritten_rows_are_not_repeated() {
    let memory = memory();
    let host = memory.database(
        GOOSE,
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT NOT NULL);
         CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
            role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL);
         INSERT INTO sessions VALUES ('20260302_1', '/home/user/project');",
    );
    let records = fs::read_to_string(transcript("goose.jsonl")).unwrap();
    let fill = |ids: bool| {
        for record in records.lines() {
            let record: Value = serde_json::from_str(record).unwrap();
            let id = record["id"].as_str().filter(|_| ids);
            let row = (
                id,
                record["session"].as_str(),
                record["role"].as_str(),
                record["content"].to_string(),
                record["created"].as_i64(),
            );
            let sql = "INSERT INTO messages (message_id, session_id, role, content_json, created_timestamp)
                VALUES (?1, ?2, ?3, ?4, ?5)";
            host.execute(sql, row).unwrap();
        }
    };
    fill(true);
    let read = memory.import(&["goose"]).await;
    // The prompt, two answers, two calls that began and ended.
    assert_eq!(read["recorded"], 7, "{read}");
    assert_eq!(memory.steps().await, 2);
    // A compaction writes all rows anew.
    host.execute_batch("DELETE FROM messages").unwrap();
    fill(true);
    let read = memory.import(&["goose"]).await;
    assert_eq!(
        (&read["recorded"], &read["duplicates"]),
        (&json!(0), &json!(7)),
        "{read}"
    );
}

#[tokio::test]
async fn conversations_of_cursors_editor_are_read_when_no_answer_is_under_way() {
    let memory = memory();
    let table = "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)";
    let host = memory.database(CURSOR, table);
    let put = |key: &str, value: &Value| {
        let row = (key, value.to_string());
        host.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", row)
            .unwrap();
    };
    let records = fs::read_to_string(transcript("cursor-bubbles.jsonl")).unwrap();
    let bubbles: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let now = memory.now_ms();
    let described = |number: usize, status: &str| {
        let headers: Vec<Value> = bubbles[..number]
            .iter()
            .map(|one| json!({"bubbleId": one["bubbleId"]}))
            .collect();
        json!({"composerId": "c0ffee", "createdAt": 1_772_442_000_000_i64, "lastUpdatedAt": now, "status": status,
               "fullConversationHeadersOnly": headers})
    };
    for bubble in &bubbles {
        let mut own = bubble.clone();
        own["workspaceUris"] = json!(["file:///home/user/project"]);
        for added in ["session", "cwd", "conversationCreatedAt"] {
            own.as_object_mut().unwrap().remove(added);
        }
        put(
            &format!("bubbleId:c0ffee:{}", bubble["bubbleId"].as_str().unwrap()),
            &own,
        );
    }
    put("composerData:c0ffee", &described(2, "generating"));
    assert_eq!(memory.import(&["cursor"]).await["recorded"], 0);
    put("composerData:c0ffee", &described(4, "completed"));
    let read = memory.import(&["cursor"]).await;
    // A prompt, an edit and a command that began and ended, an answer and what it took.
    assert_eq!(read["recorded"], 7, "{read}");
    assert_eq!(memory.import(&["cursor"]).await["recorded"], 0);
    put("composerData:c0ffee", &described(4, "completed"));
    assert_eq!(memory.import(&["cursor"]).await["recorded"], 0);
}

/// The oldest conversations are in one text of a workspace's database, and the folder beside it.
#[tokio::test]
async fn the_oldest_conversations_of_cursors_editor_are_read_once() {
    let memory = memory();
    let table = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)";
    let host = memory.database(CURSOR_WORKSPACE, table);
    let folder = json!({"folder": "file:///home/user/my%20project"});
    let beside = CURSOR_WORKSPACE.replace("state.vscdb", "workspace.json");
    memory.write(&beside, folder.to_string().as_bytes());
    let put = |bubbles: Value| {
        let chats = json!({"tabs": [{"tabId": "tab-1", "lastSendTime": 1_772_442_000_000_i64, "bubbles": bubbles}]});
        let row = (
            "workbench.panel.aichat.view.aichat.chatdata",
            chats.to_string(),
        );
        host.execute("INSERT INTO ItemTable VALUES (?1, ?2)", row)
            .unwrap();
    };
    let (first, second) = (
        json!({"type": "user", "text": "Where is the parser?"}),
        json!({"type": "ai", "rawText": "It is in parser.rs."}),
    );
    put(json!([first]));
    assert_eq!(memory.import(&["cursor"]).await["recorded"], 1);
    put(json!([first, second]));
    assert_eq!(memory.import(&["cursor"]).await["recorded"], 1);
    assert_eq!(memory.import(&["cursor"]).await["recorded"], 0);
    let said = memory.said("cursor:tab-1").await;
    let expected = [
        ("user", "Where is the parser?"),
        ("assistant", "It is in parser.rs."),
    ];
    let expected = expected.map(|(sender, text)| (sender.to_owned(), text.to_owned()));
    assert_eq!(said, expected);
    let events = memory.call(None, "read_events", json!({"limit": 50})).await;
    assert!(
        events.to_string().contains("/home/user/my project"),
        "{events}"
    );
}

/// Before its database, opencode kept a file for each session, message and part.
#[tokio::test]
async fn opencodes_older_files_are_read_as_its_export() {
    let export: Value =
        serde_json::from_slice(&fs::read(transcript("opencode.json")).unwrap()).unwrap();
    let messages = export["messages"].as_array().unwrap();
    let session = messages[0]["info"]["sessionID"].as_str().unwrap();
    let memory = memory();
    let storage = ".local/share/opencode/storage";
    let write = |number: usize| {
        for message in &messages[..number] {
            let mut info = message["info"].clone();
            let id = info["id"].as_str().unwrap().to_owned();
            info.as_object_mut().unwrap().remove("sessionID");
            let place = format!("{storage}/message/{session}/{id}.json");
            memory.write(&place, info.to_string().as_bytes());
            for part in message["parts"].as_array().unwrap() {
                let place = format!("{storage}/part/{id}/{}.json", part["id"].as_str().unwrap());
                memory.write(&place, part.to_string().as_bytes());
            }
        }
        let described =
            json!({"id": session, "directory": "/home/user/project", "time": {"updated": number}});
        let place = format!("{storage}/session/p/{session}.json");
        memory.write(&place, described.to_string().as_bytes());
    };
    write(messages.len() / 2);
    let first = memory.import(&["opencode"]).await;
    assert!(first["recorded"].as_u64().unwrap() > 3, "{first}");
    assert_eq!(memory.import(&["opencode"]).await["recorded"], 0);
    write(messages.len());
    memory.import(&["opencode"]).await;
    let own = memory.said(&format!("opencode:{session}")).await;
    // Its database, which it made of the files, has nothing new.
    let end = memory.steps().await;
    let host = memory.database(OPENCODE, OPENCODE_TABLES);
    fill_opencode(&host, messages);
    let again = memory.import(&["opencode"]).await;
    assert_eq!(again["recorded"], 0, "{again}");
    assert_eq!(memory.steps().await, end);
    let from_database = super::transcripts::memory();
    let host = from_database.database(OPENCODE, OPENCODE_TABLES);
    fill_opencode(&host, messages);
    from_database.import(&["opencode"]).await;
    assert_eq!(
        from_database.said(&format!("opencode:{session}")).await,
        own
    );
    assert_eq!(from_database.steps().await, end);
}

/// A link may lead out of the tree: it is reported with its place, and read when it is a folder.
#[tokio::test]
async fn links_in_opencodes_tree_are_reported_and_not_followed() {
    let memory = memory();
    let storage = ".local/share/opencode/storage";
    let message = json!({"role": "user", "time": {"created": 1_772_442_000_000_i64}});
    memory.write("outside/msg_1.json", message.to_string().as_bytes());
    let part = json!({"type": "text", "text": "From elsewhere."});
    memory.write(
        &format!("{storage}/part/msg_1/prt_1.json"),
        part.to_string().as_bytes(),
    );
    memory.write(
        &format!("{storage}/session/p/ses_1.json"),
        b"{\"id\": \"ses_1\"}",
    );
    let folder = memory.home().join(storage).join("message");
    fs::create_dir_all(&folder).unwrap();
    let outside = memory.home().join("outside");
    std::os::unix::fs::symlink(&outside, folder.join("ses_1")).unwrap();
    let read = memory.import(&["opencode"]).await;
    assert_eq!(read["recorded"], 0, "{read}");
    let unread = read["unread"].to_string();
    assert!(
        unread.contains("message/ses_1") && unread.contains("symbolic link"),
        "{unread}"
    );
    fs::remove_file(folder.join("ses_1")).unwrap();
    fs::rename(outside, folder.join("ses_1")).unwrap();
    assert_eq!(memory.import(&["opencode"]).await["recorded"], 1);
}

/// Goose took its older files over into its database, and left them where they were.
#[tokio::test]
async fn gooses_older_files_are_read_unless_it_took_them_over() {
    let memory = memory();
    let file = ".local/share/goose/sessions/20260302_1.jsonl";
    memory.write(file, &fs::read(transcript("goose-older.jsonl")).unwrap());
    let read = memory.import(&["goose"]).await;
    assert_eq!(read["recorded"], 7, "{read}");
    assert_eq!(memory.steps().await, 2);
    let other = super::transcripts::memory();
    other.write(file, &fs::read(transcript("goose-older.jsonl")).unwrap());
    let tables = "CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT NOT NULL);
        CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL,
            role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL);";
    let _host = other.database(GOOSE, tables);
    let read = other.import(&["goose"]).await;
    assert_eq!(read["recorded"], 0, "{read}");
}

/// More changed messages than are listed at a time, all of one moment.
#[tokio::test]
async fn a_large_database_is_read_to_its_end() {
    let memory = memory();
    let host = memory.database(OPENCODE, OPENCODE_TABLES);
    let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20500)
        INSERT INTO message SELECT printf('m%05d', i), 'ses_1', 1772442000000, 1772442000000, '{\"role\":\"user\"}' FROM n;
        INSERT INTO session VALUES ('ses_1', NULL, '/w', 1);
        INSERT INTO part VALUES ('p', 'm20500', 'ses_1', 1, 1, '{\"type\":\"text\",\"text\":\"the last one\"}');";
    host.execute_batch(fill).unwrap();
    assert_eq!(memory.import(&["opencode"]).await["recorded"], 1);
    assert_eq!(memory.said("opencode:ses_1").await[0].1, "the last one");
}
