//! Seals: who does not know the id of a host's session can neither write a request in its name nor an answer to it.
//!
//! A sealed file is an HMAC-SHA256 (RFC 2104) and the sealed bytes. Its key is the host session, which is in no file of the
//! mailbox. It covers the mailbox, the name of the file and the direction, so that a copy elsewhere is worth nothing.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::MailName;

/// Bytes of the code before the sealed bytes.
pub const CODE_BYTES: usize = 32;

/// Which way a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a client to the daemon.
    Request,
    /// From the daemon to a client.
    Answer,
}

/// Seals and opens the files of one mailbox.
///
/// ```
/// use lore::mailbox::{Direction, MailName, Seal};
///
/// let (own, other) = (Seal::of("claude:6f9619ff"), Seal::of("claude:d011b42d"));
/// let name = MailName::new();
/// let file = own.close(Direction::Request, &name, b"a request");
/// assert_eq!(own.open(Direction::Request, &name, &file), Some(&b"a request"[..]));
/// assert_eq!(other.open(Direction::Request, &name, &file), None);
/// assert_eq!(own.open(Direction::Answer, &name, &file), None);
/// ```
#[derive(Clone)]
pub struct Seal {
    key: String,
    mailbox: String,
}

impl Seal {
    /// Returns the seal of a host session, such as `claude:ID`.
    #[must_use]
    pub fn of(host_session: &str) -> Self {
        Self {
            key: host_session.to_owned(),
            mailbox: name_of(host_session),
        }
    }

    /// Returns the seal of a host session whose id others may know, made with a secret.
    pub(super) fn with_secret(host_session: &str, secret: &str) -> Self {
        Self {
            key: format!("{host_session} {secret}"),
            mailbox: name_of(host_session),
        }
    }

    /// Returns the name of the mailbox.
    #[must_use]
    pub fn mailbox(&self) -> &str {
        &self.mailbox
    }

    /// Returns a file with these bytes.
    #[must_use]
    pub fn close(&self, direction: Direction, name: &MailName, bytes: &[u8]) -> Vec<u8> {
        let code = self.code(direction, name, bytes).finalize();
        let mut file = code.into_bytes().to_vec();
        file.extend_from_slice(bytes);
        file
    }

    /// Returns the bytes of a file; `None` if it was not sealed for this mailbox, name and direction.
    #[must_use]
    pub fn open<'f>(
        &self,
        direction: Direction,
        name: &MailName,
        file: &'f [u8],
    ) -> Option<&'f [u8]> {
        let (code, bytes) = file.split_at_checked(CODE_BYTES)?;
        // Compared whole: how long it takes says nothing about where they differ.
        let is_own = self.code(direction, name, bytes).verify_slice(code).is_ok();
        is_own.then_some(bytes)
    }

    fn code(&self, direction: Direction, name: &MailName, bytes: &[u8]) -> Hmac<Sha256> {
        let direction: &[u8] = match direction {
            Direction::Request => b"request",
            Direction::Answer => b"answer",
        };
        let parts = [
            direction,
            b"\0",
            self.mailbox.as_bytes(),
            b"\0",
            name.as_str().as_bytes(),
            b"\0",
            bytes,
        ];
        hmac(self.key.as_bytes(), &parts)
    }
}

/// The key is left out: it is a secret of the host's session.
impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seal")
            .field("mailbox", &self.mailbox)
            .finish_non_exhaustive()
    }
}

/// Returns the name of the mailbox of a host session: a hash, from which the id cannot be found.
#[must_use]
pub fn name_of(host_session: &str) -> String {
    let digest = Sha256::digest([b"lore mailbox\0", host_session.as_bytes()].concat());
    digest
        .iter()
        .take(16)
        .fold(String::new(), |name, byte| name + &format!("{byte:02x}"))
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    // HMAC is defined for keys of every length, so this crate's error cannot happen.
    #[allow(clippy::expect_used)]
    let mut code = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    parts.iter().for_each(|part| code.update(part));
    code
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Cases 1, 2 and 6 of RFC 4231: a short key, a shorter one, and one longer than a block.
    #[test]
    fn the_code_is_that_of_the_standard() {
        let check = |key: &[u8], parts: &[&[u8]], wanted: &str| {
            assert_eq!(hex(&hmac(key, parts).finalize().into_bytes()), wanted);
        };
        check(
            &[0x0b; 20],
            &[b"Hi ", b"There"],
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        );
        check(
            b"Jefe",
            &[b"what do ya want for nothing?"],
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        );
        check(
            &[0xaa; 131],
            &[b"Test Using Larger Than Block-Size Key - Hash Key First"],
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        );
    }

    #[test]
    fn every_changed_byte_and_name_breaks_a_seal() {
        let (seal, name) = (Seal::of("claude:1"), MailName::new());
        let file = seal.close(Direction::Answer, &name, b"bytes");
        for at in 0..file.len() {
            let mut changed = file.clone();
            *changed.get_mut(at).unwrap() ^= 1;
            assert_eq!(seal.open(Direction::Answer, &name, &changed), None);
        }
        let other = MailName::new();
        assert_eq!(seal.open(Direction::Answer, &other, &file), None);
        assert_eq!(seal.open(Direction::Answer, &name, &[]), None);
        assert!(!format!("{seal:?}").contains("claude:1"));
        assert_eq!(seal.mailbox().len(), 32);
    }
}
