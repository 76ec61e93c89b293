//! Reads the conversations of Cursor's editor from its databases: the one of all workspaces, and those of each.

use std::io::Read;
use std::path::Path;

use percent_encoding::percent_decode_str;
use rusqlite::Connection;
use serde_json::Value;

use super::cursors::{open_file, short_hash};
use super::databases::{ABANDONED_MS, Records, bytes, fields, has_table, with_fields};
use super::open_files::OpenTranscript;

/// The table of Cursor's conversations.
const TABLE: &str = "cursorDiskKV";
/// Bytes of the description of a workspace that are read.
const WORKSPACE_BYTES_MAX: u64 = 64 << 10;
/// Bubbles of a conversation that are read.
const BUBBLES_MAX: usize = 20_000;
/// Bytes of the bubbles of a conversation that are read.
const BUBBLES_BYTES_MAX: usize = 64 << 20;

/// Returns the place behind all conversations, and the hash of the oldest ones; empty if there are none.
///
/// # Errors
/// When a table cannot be read.
pub fn end(connection: &Connection) -> rusqlite::Result<(i64, String)> {
    let old = old_chats(connection)?.map(|(_, hash)| hash);
    let sql = "SELECT max(rowid) FROM cursorDiskKV";
    let end: Option<i64> = match has_table(connection, TABLE)? {
        true => connection.query_row(sql, [], |row| row.get(0))?,
        false => None,
    };
    Ok((end.unwrap_or_default(), old.unwrap_or_default()))
}

/// A conversation is read when its description was rewritten and says that no answer is in progress. The oldest ones, which
/// a workspace's database has in one text, are read after the others.
///
/// # Errors
/// When a table cannot be read.
pub fn read_on(
    connection: &Connection,
    open: &mut OpenTranscript,
    path: &Path,
    now_ms: i64,
) -> rusqlite::Result<Records> {
    let mut found = Records::default();
    if has_table(connection, TABLE)? {
        let sql = "SELECT rowid, value FROM cursorDiskKV WHERE rowid > ?1 AND key >= 'composerData:' \
                   AND key < 'composerData;' ORDER BY rowid LIMIT 1";
        let from = i64::try_from(open.bytes).unwrap_or(i64::MAX);
        let mut next = connection.prepare(sql)?;
        let mut rows = next.query([from])?;
        if let Some(row) = rows.next()? {
            let place: i64 = row.get(0)?;
            let described: Value = serde_json::from_slice(bytes(row, 1)?).unwrap_or_default();
            let at = |name: &str| described.get(name).and_then(Value::as_i64);
            let updated = at("lastUpdatedAt").or_else(|| at("createdAt"));
            let is_in_progress =
                described.get("status").and_then(Value::as_str) == Some("generating");
            open.bytes = u64::try_from(place).unwrap_or_default();
            if !is_in_progress || now_ms - updated.unwrap_or_default() >= ABANDONED_MS {
                found.records = bubbles(connection, &described, path)?;
            }
            return Ok(found);
        }
    }
    found.is_at_end = true;
    if let Some((chats, hash)) = old_chats(connection)?
        && hash != open.whole
    {
        open.whole = hash;
        let folder = workspace_of(path);
        let tabs = chats.get("tabs").and_then(Value::as_array);
        for tab in tabs.into_iter().flatten().take(BUBBLES_MAX) {
            found
                .records
                .extend(bubbles_within(tab, "tabId", "bubbles", folder.as_deref()));
        }
    }
    Ok(found)
}

/// Returns the conversations of the oldest form with their hash, if there are some.
fn old_chats(connection: &Connection) -> rusqlite::Result<Option<(Value, String)>> {
    if !has_table(connection, "ItemTable")? {
        return Ok(None);
    }
    let mut value = connection.prepare("SELECT value FROM ItemTable WHERE key = ?1")?;
    let mut rows = value.query(["workbench.panel.aichat.view.aichat.chatdata"])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let text = bytes(row, 0)?;
    let chats = serde_json::from_slice(text).unwrap_or_default();
    Ok(Some((chats, short_hash(text))))
}

/// Returns the folder of a workspace, which stands beside its database.
fn workspace_of(path: &Path) -> Option<String> {
    let mut text = Vec::new();
    let described = open_file(&path.with_file_name("workspace.json")).ok()?;
    described
        .take(WORKSPACE_BYTES_MAX)
        .read_to_end(&mut text)
        .ok()?;
    let described: Value = serde_json::from_slice(&text).ok()?;
    folder_of_uri(described.get("folder")?.as_str()?)
}

/// Returns the bubbles that a description of a conversation has itself.
fn bubbles_within(described: &Value, id: &str, list: &str, folder: Option<&str>) -> Vec<Vec<u8>> {
    let Some(session) = described.get(id).and_then(Value::as_str) else {
        return Vec::new();
    };
    let at = ["createdAt", "lastSendTime"].into_iter();
    let at = at.filter_map(|name| described.get(name)).next();
    let bubbles = described.get(list).and_then(Value::as_array);
    let bubbles = bubbles.into_iter().flatten().take(BUBBLES_MAX);
    let with_own = |bubble: &Value| {
        let folder = folder_of(bubble).or_else(|| folder.map(str::to_owned));
        let mut own = fields(&[("session", Some(session)), ("cwd", folder.as_deref())]);
        let at = at.cloned().unwrap_or_default();
        own.insert("conversationCreatedAt".to_owned(), at);
        with_fields(own, bubble.to_string().as_bytes())
    };
    bubbles.filter_map(with_own).collect()
}

fn bubbles(
    connection: &Connection,
    described: &Value,
    path: &Path,
) -> rusqlite::Result<Vec<Vec<u8>>> {
    let Some(session) = described.get("composerId").and_then(Value::as_str) else {
        return Ok(Vec::new());
    };
    let workspace = workspace_of(path);
    // The older form, with its bubbles inside.
    let mut found = bubbles_within(
        described,
        "composerId",
        "conversation",
        workspace.as_deref(),
    );
    let mut value = connection.prepare("SELECT value FROM cursorDiskKV WHERE key = ?1")?;
    let (mut folder, mut size) = (None, 0);
    let headers = described
        .get("fullConversationHeadersOnly")
        .and_then(Value::as_array);
    for header in headers.into_iter().flatten().take(BUBBLES_MAX) {
        let Some(id) = header.get("bubbleId").and_then(Value::as_str) else {
            continue;
        };
        let key = format!("bubbleId:{session}:{id}");
        let mut rows = value.query([key])?;
        let Some(row) = rows.next()? else { continue };
        let bubble = bytes(row, 0)?;
        size += bubble.len();
        if size > BUBBLES_BYTES_MAX {
            break;
        }
        if folder.is_none() {
            let described = serde_json::from_slice(bubble).ok();
            folder = described.as_ref().and_then(folder_of);
        }
        let cwd = folder.as_deref().or(workspace.as_deref());
        let mut own = fields(&[("session", Some(session)), ("cwd", cwd)]);
        let created = described.get("createdAt").cloned().unwrap_or_default();
        own.insert("conversationCreatedAt".to_owned(), created);
        found.extend(with_fields(own, bubble));
    }
    Ok(found)
}

/// Returns the folder that a bubble was written in.
fn folder_of(bubble: &Value) -> Option<String> {
    folder_of_uri(bubble.get("workspaceUris")?.get(0)?.as_str()?)
}

/// Returns the path of a `file:` URI.
fn folder_of_uri(uri: &str) -> Option<String> {
    let path = percent_decode_str(uri.strip_prefix("file://")?);
    Some(path.decode_utf8().ok()?.into_owned())
}
