//! The view of messages and tool uses of sessions.
//!
//! | key | value |
//! | --- | --- |
//! | `m` session 0 position (u64) | [`MessageRow`] |
//! | `i` session 0 id | position (u64) and record (u64) of a message |
//! | `x` session 0 id 0 position (u64) | record (u64) of an event with the status of an execution |
//! | `u` session 0 position (u64) | [`ToolUseRow`]: a step, the start of an execution, or a message with tools |
//! | `k` session | [`MessageTotals`] |
//! | `r` session 0 position (u64) | project of a message that is to be remembered |
//! | `p` project 0 position (u64) | [`RememberedRow`]; without a project the name is empty |
//!
//! All numbers are big-endian.

mod read;
mod remembered;

use std::ops::ControlFlow;

use crate::events::messages::{Kind, MessageEvent, MessageMeta, Sender, ToolCallMeta};
use crate::log::{LoggedEvent, Position, RecordKey};
use crate::sessions::{Line, lineage};
use crate::store::{Error, Keyspace, Rows, RowsMut, remove_all};

pub use read::{by_id, execution, newest, oldest, uses};
pub use remembered::{RememberedRow, remembered_at, remembered_since};

/// The keyspace of this view, version 1.
pub const SPACE: Keyspace = Keyspace::new("messages.1");

/// The row of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Position of the event.
    pub position: Position,
    /// Key of the record that holds the event.
    pub record: RecordKey,
    /// The sender.
    pub sender: Sender,
    /// The type of the message.
    pub kind: Kind,
    /// Whether it contains tool uses.
    pub has_tools: bool,
    /// Whether it mentions entities.
    pub has_entities: bool,
    /// Tokens of its content.
    pub tokens: u32,
    /// Its id.
    pub id: String,
}

/// The kind of a tool use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolUseState {
    /// A recorded step.
    Step,
    /// A separate execution; its latest event is found by its id.
    Execution,
    /// The tools of a message.
    Message,
}

/// The row of a tool use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolUseRow {
    /// Position of the event.
    pub position: Position,
    /// Key of the record that holds the event.
    pub record: RecordKey,
    /// The kind of the use.
    pub done: ToolUseState,
}

/// Totals of a session's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageTotals {
    /// Number of messages.
    pub messages: u64,
    /// Number of tool uses: steps, executions, tools of messages.
    pub uses: u64,
    /// Tokens by sender: user, assistant, system, tool.
    pub tokens: [u64; 4],
}

impl MessageTotals {
    /// Sums the tokens of all senders.
    #[must_use]
    pub fn tokens_total(&self) -> u64 {
        self.tokens.iter().sum()
    }
}

fn key(tag: u8, session: &str, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(session.len() + rest.len() + 2);
    key.push(tag);
    key.extend(session.as_bytes());
    key.push(0);
    key.extend(rest);
    key
}

fn damaged(key: &[u8]) -> Error {
    Error::corrupt(SPACE.name(), key, "not a row of this view")
}

fn number(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*bytes.first_chunk::<8>()?))
}

impl MessageRow {
    fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(16 + self.id.len());
        value.extend(self.record.to_bytes());
        value.extend([
            self.sender as u8,
            self.kind as u8,
            u8::from(self.has_tools),
            u8::from(self.has_entities),
        ]);
        value.extend(self.tokens.to_be_bytes());
        value.extend(self.id.as_bytes());
        value
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self, Error> {
        let parse = || {
            let (record, rest) = value.split_first_chunk::<8>()?;
            let ([sender, kind, tools, entities], rest) = rest.split_first_chunk::<4>()?;
            let (tokens, id) = rest.split_first_chunk::<4>()?;
            Some(Self {
                position: position_of(key)?,
                record: RecordKey(Position(u64::from_be_bytes(*record))),
                sender: Sender::of_number(*sender)?,
                kind: Kind::of_number(*kind)?,
                has_tools: *tools != 0,
                has_entities: *entities != 0,
                tokens: u32::from_be_bytes(*tokens),
                id: String::from_utf8(id.to_vec()).ok()?,
            })
        };
        parse().ok_or_else(|| damaged(key))
    }
}

fn position_of(key: &[u8]) -> Option<Position> {
    Some(Position(u64::from_be_bytes(*key.last_chunk::<8>()?)))
}

impl ToolUseRow {
    fn decode(key: &[u8], value: &[u8]) -> Result<Self, Error> {
        let parse = || {
            let (record, done) = value.split_first_chunk::<8>()?;
            Some(Self {
                position: position_of(key)?,
                record: RecordKey(Position(u64::from_be_bytes(*record))),
                done: match done {
                    [0] => ToolUseState::Step,
                    [1] => ToolUseState::Execution,
                    [2] => ToolUseState::Message,
                    _ => return None,
                },
            })
        };
        parse().ok_or_else(|| damaged(key))
    }
}

impl MessageTotals {
    fn encode(&self) -> Vec<u8> {
        [self.messages, self.uses]
            .iter()
            .chain(&self.tokens)
            .flat_map(|number| number.to_be_bytes())
            .collect()
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self, Error> {
        let mut numbers = value
            .as_chunks::<8>()
            .0
            .iter()
            .map(|n| u64::from_be_bytes(*n));
        let mut next = || numbers.next().ok_or_else(|| damaged(key));
        Ok(Self {
            messages: next()?,
            uses: next()?,
            tokens: [next()?, next()?, next()?, next()?],
        })
    }
}

/// Folds an event of this feature module.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    message: &MessageEvent,
    record: RecordKey,
) -> Result<(), Error> {
    let Some(session) = &event.header.session else {
        return Ok(());
    };
    match message {
        MessageEvent::Message(said) => record_message(rows, event, session, said, record),
        MessageEvent::ToolCall(executed) => execute(rows, event, session, executed, record),
    }
}

/// Folds a recorded step, which counts as a tool use.
pub fn apply_step(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    record: RecordKey,
) -> Result<(), Error> {
    match &event.header.session {
        Some(session) => note_use(rows, event, session, record, ToolUseState::Step),
        None => Ok(()),
    }
}

fn record_message(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    session: &str,
    said: &MessageMeta,
    record: RecordKey,
) -> Result<(), Error> {
    let row = MessageRow {
        position: event.position(),
        record,
        sender: said.sender,
        kind: said.kind,
        has_tools: said.tools > 0,
        has_entities: !said.mentions.is_empty(),
        tokens: said.tokens,
        id: said.id.clone(),
    };
    let at = event.position().0.to_be_bytes();
    rows.put(SPACE, &key(b'm', session, &at), &row.encode());
    put_place(rows, &key(b'i', session, said.id.as_bytes()), event, record);
    if let Some(kind) = said.remembered {
        remembered::note(rows, event, session, &said.id, (kind, record));
    }
    if row.has_tools {
        note_use(rows, event, session, record, ToolUseState::Message)?;
    }
    change_totals(rows, session, |totals| {
        totals.messages += 1;
        if let Some(tokens) = totals.tokens.get_mut(said.sender as usize) {
            *tokens += u64::from(said.tokens);
        }
    })
}

fn execute(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    session: &str,
    executed: &ToolCallMeta,
    record: RecordKey,
) -> Result<(), Error> {
    // A fork can continue an execution that its parent began; that is not a new use.
    let lines = lineage(rows, session)?;
    if self::execution(rows, &lines, &executed.id)?.is_none() {
        note_use(rows, event, session, record, ToolUseState::Execution)?;
    }
    let mut of_id = read::execution_prefix(session, &executed.id);
    of_id.extend(event.position().0.to_be_bytes());
    rows.put(SPACE, &of_id, &record.to_bytes());
    Ok(())
}

fn put_place(rows: &mut dyn RowsMut, key: &[u8], event: &LoggedEvent, record: RecordKey) {
    let mut value = event.position().0.to_be_bytes().to_vec();
    value.extend(record.to_bytes());
    rows.put(SPACE, key, &value);
}

fn note_use(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    session: &str,
    record: RecordKey,
    done: ToolUseState,
) -> Result<(), Error> {
    let at = event.position().0.to_be_bytes();
    let mut value = record.to_bytes().to_vec();
    value.push(match done {
        ToolUseState::Step => 0,
        ToolUseState::Execution => 1,
        ToolUseState::Message => 2,
    });
    rows.put(SPACE, &key(b'u', session, &at), &value);
    change_totals(rows, session, |totals| totals.uses += 1)
}

fn change_totals(
    rows: &mut dyn RowsMut,
    session: &str,
    change: impl FnOnce(&mut MessageTotals),
) -> Result<(), Error> {
    let key = totals_key(session);
    let mut totals = totals_at(rows, &key)?;
    change(&mut totals);
    rows.put(SPACE, &key, &totals.encode());
    Ok(())
}

/// Removes all rows of a session.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    remembered::forget(rows, session)?;
    for tag in *b"mixu" {
        let prefix = key(tag, session, &[]);
        remove_all(rows, SPACE, &prefix)?;
    }
    rows.remove(SPACE, &totals_key(session));
    Ok(())
}

fn totals_key(session: &str) -> Vec<u8> {
    let mut key = vec![b'k'];
    key.extend(session.as_bytes());
    key
}

fn totals_at(rows: &dyn Rows, key: &[u8]) -> Result<MessageTotals, Error> {
    match rows.get(SPACE, key)? {
        None => Ok(MessageTotals::default()),
        Some(value) => MessageTotals::decode(key, &value),
    }
}

/// Returns the totals of a session. For a fork, the shared messages are counted one by one and included.
pub fn totals(rows: &dyn Rows, lines: &[Line]) -> Result<MessageTotals, Error> {
    let Some((own, shared)) = lines.split_first() else {
        return Ok(MessageTotals::default());
    };
    let mut totals = totals_at(rows, &totals_key(&own.session))?;
    newest(rows, shared, None, &mut |row| {
        totals.messages += 1;
        if let Some(tokens) = totals.tokens.get_mut(row.sender as usize) {
            *tokens += u64::from(row.tokens);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    uses(rows, shared, None, &mut |_| {
        totals.uses += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(totals)
}
