//! Wire format between the daemon and the broker: a list of programs, then requests and replies of fixed size.

use std::io::{self, Read, Write};

use super::Program;

/// Limit on the list of programs, in bytes.
pub const LIST_BYTES_MAX: usize = 1 << 20;
/// Size of a request and of a reply in bytes: type, child id, and a number.
pub const BYTES: usize = 13;
/// Number of pipes sent with [`Reply::Started`]: input, output, errors.
pub const PIPES: usize = 3;

/// Request of the daemon, which also chooses the child ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Starts a program.
    Start {
        /// New child id.
        child: u64,
        /// Index in the list.
        program: u32,
    },
    /// Kills a child's group; no effect if the child has exited.
    End {
        /// Child id.
        child: u64,
    },
}

/// Reply of the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The child runs; its pipes are attached.
    Started {
        /// Child id.
        child: u64,
    },
    /// The child was not started.
    NotStarted {
        /// Child id.
        child: u64,
        /// System error number.
        errno: i32,
    },
    /// The child has exited and was reaped, and its group was killed.
    Ended {
        /// Child id.
        child: u64,
        /// Raw exit status, if known.
        status: Option<i32>,
    },
}

impl Request {
    /// Encodes the request.
    pub fn encode(self) -> [u8; BYTES] {
        match self {
            Self::Start { child, program } => pack(b'S', child, program.to_be_bytes()),
            Self::End { child } => pack(b'E', child, [0; 4]),
        }
    }

    /// Decodes a request; `None` when the bytes are invalid.
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let (kind, child, number) = unpack(bytes);
        match (kind, number) {
            (b'S', _) => Some(Self::Start {
                child,
                program: u32::from_be_bytes(number),
            }),
            (b'E', [0, 0, 0, 0]) => Some(Self::End { child }),
            _ => None,
        }
    }
}

impl Reply {
    /// Encodes the reply.
    pub fn encode(self) -> [u8; BYTES] {
        match self {
            Self::Started { child } => pack(b's', child, [0; 4]),
            Self::NotStarted { child, errno } => pack(b'n', child, errno.to_be_bytes()),
            Self::Ended {
                child,
                status: Some(status),
            } => pack(b'e', child, status.to_be_bytes()),
            Self::Ended {
                child,
                status: None,
            } => pack(b'u', child, [0; 4]),
        }
    }

    /// Decodes a reply; `None` when the bytes are invalid.
    pub fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let (kind, child, number) = unpack(bytes);
        match (kind, number) {
            (b's', [0, 0, 0, 0]) => Some(Self::Started { child }),
            (b'n', _) => Some(Self::NotStarted {
                child,
                errno: i32::from_be_bytes(number),
            }),
            (b'e', _) => Some(Self::Ended {
                child,
                status: Some(i32::from_be_bytes(number)),
            }),
            (b'u', [0, 0, 0, 0]) => Some(Self::Ended {
                child,
                status: None,
            }),
            _ => None,
        }
    }
}

fn pack(kind: u8, child: u64, number: [u8; 4]) -> [u8; BYTES] {
    let [a, b, c, d, e, f, g, h] = child.to_be_bytes();
    let [i, j, k, l] = number;
    [kind, a, b, c, d, e, f, g, h, i, j, k, l]
}

fn unpack(bytes: &[u8; BYTES]) -> (u8, u64, [u8; 4]) {
    let [kind, a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
    let child = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    (kind, child, [i, j, k, l])
}

/// Writes the list of programs.
///
/// # Errors
/// When the list is too long, or writing fails.
pub fn write_list(into: &mut impl Write, programs: &[Program]) -> io::Result<()> {
    let list = serde_json::to_vec(programs)?;
    if list.len() > LIST_BYTES_MAX {
        let said = format!(
            "the commands of all resolvers have {} bytes together; at most {LIST_BYTES_MAX} can be",
            list.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
    }
    let length = u32::try_from(list.len()).unwrap_or(u32::MAX);
    into.write_all(&length.to_be_bytes())?;
    into.write_all(&list)
}

/// Reads the list of programs.
///
/// # Errors
/// When the list is invalid or too long: memory is not allocated by its claimed length.
pub fn read_list(from: &mut impl Read) -> io::Result<Vec<Program>> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if usize::try_from(length).map_or(true, |length| length > LIST_BYTES_MAX) {
        let said = format!("a list of {length} bytes; at most {LIST_BYTES_MAX} can be");
        return Err(io::Error::new(io::ErrorKind::InvalidData, said));
    }
    let mut list = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut list)?;
    Ok(serde_json::from_slice(&list)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn program(name: &str) -> Program {
        Program {
            program: name.to_owned(),
            arguments: vec!["-v".to_owned()],
            environment: [("TOKEN".to_owned(), "t".to_owned())].into(),
        }
    }

    /// A list survives encoding and decoding; one that is too long, truncated or invalid is refused.
    #[test]
    fn lists_are_read_back() {
        let list = [program("a"), program("b")];
        let mut bytes = Vec::new();
        write_list(&mut bytes, &list).unwrap();
        assert_eq!(read_list(&mut bytes.as_slice()).unwrap(), list);
        for end in 0..bytes.len() {
            assert!(read_list(&mut &bytes[..end]).is_err(), "{end}");
        }
        let long = [program(&"x".repeat(LIST_BYTES_MAX))];
        let refused = write_list(&mut io::sink(), &long).unwrap_err().to_string();
        assert!(refused.contains("1048576"), "{refused}");
        let claim = u32::MAX.to_be_bytes();
        let refused = read_list(&mut claim.as_slice()).unwrap_err().to_string();
        assert!(refused.contains("4294967295"), "{refused}");
    }

    proptest! {
        /// Every request and reply survives encoding and decoding, and the encoding is unique.
        #[test]
        fn messages_are_read_back(child: u64, program: u32, number: i32, bytes: [u8; BYTES]) {
            for request in [Request::Start { child, program }, Request::End { child }] {
                prop_assert_eq!(Request::decode(&request.encode()), Some(request));
                prop_assert_eq!(Reply::decode(&request.encode()), None);
            }
            for reply in [
                Reply::Started { child },
                Reply::NotStarted { child, errno: number },
                Reply::Ended { child, status: Some(number) },
                Reply::Ended { child, status: None },
            ] {
                prop_assert_eq!(Reply::decode(&reply.encode()), Some(reply));
                prop_assert_eq!(Request::decode(&reply.encode()), None);
            }
            if let Some(request) = Request::decode(&bytes) {
                prop_assert_eq!(request.encode(), bytes);
            }
            if let Some(reply) = Reply::decode(&bytes) {
                prop_assert_eq!(reply.encode(), bytes);
            }
        }
    }
}
