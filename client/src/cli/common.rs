//! Flags that several commands take.

use super::flag::{Flag, Kind};

/// Which session, for commands that are about one.
pub const SESSION_ID: Flag = Flag::positional(
    Kind::Session,
    "id",
    "ID",
    "Id of the session; otherwise that of --session or LORE_SESSION, or your current one",
)
.sends("session")
.optional();

/// The idempotency key of a write.
pub const KEY: Flag = Flag::text(
    "key",
    "TEXT",
    "Idempotency key: repeating the call with it changes nothing and returns the first reply",
);

/// What writes to a session take.
pub const GUARD: &[Flag] = &[
    Flag::number(
        "fence",
        "TOKEN",
        "Refuse unless the lease with this token is still held",
    ),
    KEY,
];

/// The state of the past that a read shows.
pub const AS_OF: Flag = Flag::of(
    Kind::Moment,
    "as-of",
    "WHEN",
    "State at this position or RFC 3339 time",
);

/// The next page of a list.
pub const NEXT: Flag = Flag::text(
    "next",
    "CURSOR",
    "Continue after the previous page, whose last line has this cursor",
);

/// A part of a long list.
pub const PAGE: &[Flag] = &[
    Flag::number("limit", "COUNT", "At most this many, 1 to 500"),
    NEXT,
];

/// The safe form of a command that removes something.
pub const DRY_RUN: Flag = Flag::switch(
    "dry-run",
    "Report what would be removed, and remove nothing",
)
.local();

/// The form of a command that removes something without a question.
pub const YES: Flag = Flag::switch("yes", "Do not ask")
    .local()
    .conflicts(&["dry-run"]);
