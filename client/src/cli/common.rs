//! What several commands share: flags, and the check for a person.

use lore::host_session::why_no_person;
use lore::protocol::{Code, ErrorBody};

use super::flag::{Flag, Kind};

/// The session argument of commands on one session.
pub const SESSION_ID: Flag = Flag::positional(
    Kind::Session,
    "id",
    "ID",
    "Id of the session; otherwise that of --session or LORE_SESSION, your own, or the project's newest",
)
.sends("session")
.optional();

/// The idempotency key of a write.
pub const KEY: Flag = Flag::text(
    "key",
    "TEXT",
    "Idempotency key: repeating the call with it changes nothing and returns the first reply",
);

/// Flags of every write to a session.
pub const GUARD: &[Flag] = &[
    Flag::number(
        "fence",
        "TOKEN",
        "Refuse unless the lease with this token is still held",
    ),
    KEY,
];

/// Log position or time of the state that a read shows.
pub const AS_OF: Flag = Flag::of(
    Kind::Moment,
    "as-of",
    "WHEN",
    "State at this position or RFC 3339 time",
);

/// Cursor of the next page of a list.
pub const NEXT: Flag = Flag::text(
    "next",
    "CURSOR",
    "Continue after the previous page, whose last line has this cursor",
);

/// Flags that select a page of a list.
pub const PAGE: &[Flag] = &[
    Flag::number("limit", "COUNT", "At most this many, 1 to 500"),
    NEXT,
];

/// Reports the effect of a removal without removing anything.
pub const DRY_RUN: Flag = Flag::switch(
    "dry-run",
    "Report what would be removed, and remove nothing",
)
.local();

/// Removes without asking for confirmation.
pub const YES: Flag = Flag::switch("yes", "Do not ask")
    .local()
    .conflicts(&["dry-run"]);

/// Whose words a text is, as choices of a flag.
pub const ORIGINS: &[(&str, &str)] = &[
    ("user", "What users said"),
    ("agent", "What agents said and saved"),
    ("tool", "What tools returned"),
    ("document", "Documents and context files"),
];

/// Returns the refusal of a command that only a person may run, unless a person runs this one. The daemon checks it, too,
/// but only the client can read the variables of its processes.
pub fn person_refusal(what: &str) -> Option<ErrorBody> {
    let reason = why_no_person(std::process::id())?;
    let refused = format!("only a person may {what}, and here {reason}");
    Some(
        ErrorBody::new(Code::Forbidden, refused)
            .hint("A person does it in a terminal of their own."),
    )
}
