//! Pagination cursors of long lists: a text that callers return unchanged.
//!
//! A cursor holds no snapshot and no caller data, only the position after the last entry. It consists of
//! the letter of its list, the first eight digits of the store's id and a position. Lists that are not in log
//! order add the key of a row: `m-1a2b3c4d-5f`, `e-1a2b3c4d-5f-6e616d65`. All numbers are hexadecimal.

use lore::protocol::Position;

use crate::error::Refusal;
use crate::hint::{arg, hint};
use crate::store::StoreId;

/// Maximum length of a key in a cursor, in bytes.
pub const KEY_BYTES_MAX: usize = 1024;
/// Maximum length of an invalid cursor in an error, in characters.
const SHOWN_CHARS_MAX: usize = 40;

/// Returns the number of items of a page: the argument `limit`, from 1 to `max`.
///
/// # Errors
/// `INVALID_INPUT`.
pub fn page_limit(limit: Option<u64>, default: u64, max: u64) -> Result<usize, Refusal> {
    let limit = limit.unwrap_or(default);
    if !(1..=max).contains(&limit) {
        return Err(Refusal::invalid(format!(
            "`limit`: got {limit}, expected 1 to {max}"
        )));
    }
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// The same for a list whose following page `next` returns, which the refusal says.
///
/// # Errors
/// `INVALID_INPUT`.
pub fn list_limit(limit: Option<u64>, default: u64, max: u64) -> Result<usize, Refusal> {
    page_limit(limit, default, max).map_err(|refusal| {
        refusal.hint(hint![
            "Use ",
            arg("next"),
            " of the reply for the following page."
        ])
    })
}

/// The paginated lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Sessions.
    Sessions,
    /// Messages of a session.
    Messages,
    /// Entities.
    Entities,
    /// Packs and their sources.
    Why,
    /// The export of a session.
    Export,
    /// The export of the whole log.
    ExportLog,
    /// Named cursors.
    Cursors,
    /// Projects.
    Projects,
    /// Versions of a context file.
    Versions,
    /// The text of documents.
    Content,
    /// Results of a search in documents.
    Documents,
    /// Results of a search in everything.
    Everything,
    /// Facts of a project.
    Facts,
}

impl List {
    /// Every list.
    pub const ALL: [Self; 13] = [
        Self::Sessions,
        Self::Messages,
        Self::Entities,
        Self::Why,
        Self::Export,
        Self::ExportLog,
        Self::Cursors,
        Self::Projects,
        Self::Versions,
        Self::Content,
        Self::Documents,
        Self::Everything,
        Self::Facts,
    ];

    /// The prefix of the list's cursors, unique and permanent.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Sessions => 's',
            Self::Messages => 'm',
            Self::Entities => 'e',
            Self::Why => 'w',
            Self::Export => 'x',
            Self::ExportLog => 'l',
            Self::Cursors => 'c',
            Self::Projects => 'p',
            Self::Versions => 'v',
            Self::Content => 't',
            Self::Documents => 'd',
            Self::Everything => 'a',
            Self::Facts => 'f',
        }
    }

    /// The operation that returns the list.
    #[must_use]
    pub const fn operation(self) -> &'static str {
        match self {
            Self::Sessions => "list_sessions",
            Self::Messages => "list_messages",
            Self::Entities => "list_entities",
            Self::Why => "why",
            Self::Export => "export_session",
            Self::ExportLog => "export_log",
            Self::Cursors => "list_cursors",
            Self::Projects => "list_projects",
            Self::Versions => "context_history",
            Self::Content => "get_document_content",
            Self::Documents => "search_documents",
            Self::Everything => "search",
            Self::Facts => "list_facts",
        }
    }
}

/// A position in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The list continues after this position. With a key, it is the position of the state that
    /// the page was read from. The log has always reached it.
    pub position: Position,
    /// The list continues after the row of this key; empty for a list in log order.
    pub key: Vec<u8>,
}

impl Cursor {
    /// Creates a cursor of a list in log order.
    #[must_use]
    pub const fn behind(position: Position) -> Self {
        let key = Vec::new();
        Self { position, key }
    }

    /// Creates a cursor of a list in another order, with a key of at most [`KEY_BYTES_MAX`] bytes.
    #[must_use]
    pub fn behind_row(key: &[u8], read_at: Position) -> Self {
        Self {
            position: read_at,
            key: key.to_vec(),
        }
    }

    /// Encodes the cursor for the caller.
    #[must_use]
    pub fn text(&self, list: List, store: StoreId) -> String {
        let (letter, store) = (list.letter(), short(store));
        let mut text = format!("{letter}-{store}-{:x}", self.position.0);
        if !self.key.is_empty() {
            text.push('-');
            text.extend(self.key.iter().map(|byte| format!("{byte:02x}")));
        }
        text
    }

    /// Parses the cursor in the argument `argument`; `tail` is the newest readable position.
    ///
    /// # Errors
    /// `INVALID_INPUT` for an invalid cursor, a cursor of another list or another store, or a position that the log
    /// has not reached.
    pub fn read(
        text: &str,
        argument: &str,
        list: List,
        store: StoreId,
        tail: Position,
    ) -> Result<Self, Refusal> {
        let wanted = list.operation();
        let Some((of, of_store, cursor)) = parse(text) else {
            let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            return Err(refused(format!(
                "`{argument}` is not a cursor of {wanted}: {shown:?}"
            )));
        };
        if of != list {
            let other = of.operation();
            let message = format!("`{argument}` is a cursor of {other}, not of {wanted}");
            return Err(refused(message));
        }
        if of_store != short(store) {
            return Err(refused(format!(
                "`{argument}` is a cursor of another store: {of_store}, not {store}"
            )));
        }
        if cursor.position > tail {
            return Err(refused(format!(
                "`{argument}` is a cursor of position {}, which the log has not reached; it is at \
                 {tail}",
                cursor.position
            )));
        }
        Ok(cursor)
    }
}

/// Returns the first eight digits of a store's id.
fn short(store: StoreId) -> String {
    store.to_string().chars().take(8).collect()
}

fn parse(text: &str) -> Option<(List, &str, Cursor)> {
    let mut parts = text.split('-');
    let letter = parts.next()?;
    let list = List::ALL
        .into_iter()
        .find(|list| letter.chars().eq([list.letter()]))?;
    let store = parts.next().filter(|store| store.len() == 8)?;
    is_hex(store).then_some(())?;
    let position = parts.next().filter(|position| is_hex(position))?;
    let position = Position(u64::from_str_radix(position, 16).ok()?);
    let key = match parts.next() {
        None => Vec::new(),
        Some(key) => unhex(key)?,
    };
    let is_whole = parts.next().is_none();
    is_whole.then_some((list, store, Cursor { position, key }))
}

/// Whether the text is lower-case hexadecimal without a sign or prefix.
fn is_hex(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    !text.is_empty() && text.bytes().all(is_digit)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !is_hex(text) || !text.len().is_multiple_of(2) || text.len() > 2 * KEY_BYTES_MAX {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect()
}

fn refused(message: String) -> Refusal {
    Refusal::invalid(message).hint(hint![
        "Give the ",
        arg("next"),
        " of the last reply unchanged, or none for the first page."
    ])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STORE: StoreId = StoreId([0x1a; 16]);

    fn read(text: &str, list: List, tail: u64) -> Result<Cursor, Refusal> {
        Cursor::read(text, "next", list, STORE, Position(tail))
    }

    /// A cursor is read where it is valid; everywhere else it is refused with the reason.
    #[test]
    fn a_cursor_is_of_one_list_and_one_store() {
        let text = Cursor::behind(Position(95)).text(List::Messages, STORE);
        assert_eq!(text, "m-1a1a1a1a-5f");
        let said = |list, store: StoreId, tail| {
            let refusal = Cursor::read(&text, "next", list, store, Position(tail)).unwrap_err();
            assert!(refusal.hint.is_some());
            refusal.message
        };
        let cursor = read(&text, List::Messages, 95).unwrap();
        assert_eq!(cursor, Cursor::behind(Position(95)));
        assert_eq!(
            said(List::Entities, STORE, 95),
            "`next` is a cursor of list_messages, not of list_entities"
        );
        let other = StoreId([0x2b; 16]);
        assert!(said(List::Messages, other, 95).contains("of another store: 1a1a1a1a"));
        let future = said(List::Messages, STORE, 94);
        assert!(future.contains("95") && future.ends_with("it is at 94"));
    }

    /// Invalid cursors are refused, however similar they are.
    #[test]
    fn texts_that_are_none_are_refused() {
        let key = "00".repeat(KEY_BYTES_MAX + 1);
        for text in [
            "",
            "m",
            "12",
            "m-1a1a1a1a",
            "m-1a1a1a1a-",
            "m-1a1a1a1a-+1",
            "m-1a1a1a1a-1F",
            "m-1a1a1a1-1",
            "m-1a1a1a1g-1",
            "M-1a1a1a1a-1",
            "mm-1a1a1a1a-1",
            "m-1a1a1a1a-1-",
            "m-1a1a1a1a-1-0",
            "m-1a1a1a1a-1-00-",
            "m-1a1a1a1a-10000000000000000",
            "m-ä1a1a1a-1",
            &format!("m-1a1a1a1a-1-{key}"),
        ] {
            let refusal = read(text, List::Messages, u64::MAX).unwrap_err();
            assert!(
                refusal
                    .message
                    .starts_with("`next` is not a cursor of list_messages"),
                "{text}: {refusal}"
            );
        }
    }

    #[test]
    fn each_list_has_a_letter_of_its_own() {
        for (at, list) in List::ALL.into_iter().enumerate() {
            for other in List::ALL.into_iter().skip(at + 1) {
                assert_ne!(list.letter(), other.letter());
                assert_ne!(list.operation(), other.operation());
            }
        }
    }

    proptest! {
        /// A cursor round-trips whatever its row key.
        #[test]
        fn cursors_come_back(
            position: u64,
            key in proptest::collection::vec(any::<u8>(), 0..80),
            list in proptest::sample::select(List::ALL.to_vec()),
        ) {
            let cursor = Cursor::behind_row(&key, Position(position));
            let text = cursor.text(list, STORE);
            prop_assert_eq!(read(&text, list, u64::MAX).unwrap(), cursor);
        }

        /// Arbitrary text is a cursor or refused.
        #[test]
        fn arbitrary_texts_do_not_panic(text in ".*", tail: u64) {
            let _ = read(&text, List::Sessions, tail);
        }
    }
}
