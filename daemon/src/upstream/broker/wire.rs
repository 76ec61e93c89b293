//! What the daemon and the starter say to each other: a list of programs, then requests and replies of
//! one size.

use std::io::{self, Read, Write};

use super::Program;

/// The longest list of programs, in bytes.
pub const LIST_BYTES_MAX: usize = 1 << 20;
/// The bytes of a request and of a reply: which one, of which child, and a number.
pub const BYTES: usize = 13;
/// The pipes that come with [`Reply::Started`]: input, output, errors.
pub const PIPES: usize = 3;

/// What the daemon asks for. Children have numbers of the daemon's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Start a program.
    Start {
        /// The child's number from now on.
        child: u64,
        /// Its place in the list.
        program: u32,
    },
    /// Kill a child's group; for one that has ended nothing happens.
    End {
        /// Its number.
        child: u64,
    },
}

/// What the starter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A child runs; its pipes come with this.
    Started {
        /// Its number.
        child: u64,
    },
    /// There is no child.
    NotStarted {
        /// Its number.
        child: u64,
        /// The system's error.
        errno: i32,
    },
    /// A child has ended and was reaped, and its group was killed.
    Ended {
        /// Its number.
        child: u64,
        /// How, as the system says it, if it does.
        status: Option<i32>,
    },
}

impl Request {
    /// Its bytes.
    pub fn encode(self) -> [u8; BYTES] {
        match self {
            Self::Start { child, program } => pack(b'S', child, program.to_be_bytes()),
            Self::End { child } => pack(b'E', child, [0; 4]),
        }
    }

    /// What bytes mean, if they mean anything.
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
    /// Its bytes.
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

    /// What bytes mean, if they mean anything.
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

/// Writes the list that everything is started from.
///
/// # Errors
/// When it is too long, or nobody reads it.
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

/// Reads the list.
///
/// # Errors
/// When it is none, or too long: what it claims is not allocated.
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

    /// A list comes out as it went in; one that is too long, cut, or none is refused.
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
        /// Every request and reply is what it was, and bytes are at most one thing.
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
