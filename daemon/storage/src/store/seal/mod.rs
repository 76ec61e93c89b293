//! Seals: proof that a log was written by this daemon, kept where a change of the data folder cannot reach it.
//!
//! A chain of hashes shows that events fit each other. It does not show who wrote them: a program that can write the
//! files can append events, or cut some off, and compute the chain anew. So each event carries a code that needs a key
//! ([`Sealer`]), and the end of the log is recorded with such a code outside of the data folder ([`SealFile`]).
//! The codes are HMAC-SHA-256 (RFC 2104).

mod file;
mod forgetting;
mod key;
mod newest;
mod sealer;

pub use file::{Origin, SealFile, SealFileError, SealedEnd, place};
pub use forgetting::ForgettingCopies;
pub use key::{CREDENTIAL, KeyError, SealKey};
pub use newest::{Seal, SealTextError};
pub use sealer::{EventSeal, SealError, Sealer};
