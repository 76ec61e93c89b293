//! Extraction in a separate process: the messages between the daemon and its worker, and the worker's loop.
//!
//! A request is the length of a header (4 bytes, big-endian), the header as JSON, and the bytes of the file. A
//! reply has the same form, with the text instead of the file. Both sides enforce limits and allocate only for
//! received bytes, because a compromised worker is trusted no more than a file.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{ExtractedText, IngestError, Limits, extract};

/// Limit on a request's header, in bytes.
const HEADER_BYTES_MAX: usize = 1 << 20;
/// Limit on a reply's header, in bytes; fits the sections and blocks of the longest text.
const REPLY_BYTES_MAX: usize = 64 << 20;

#[derive(Serialize, Deserialize)]
struct Request<'r> {
    file_name: Cow<'r, str>,
    limits: Cow<'r, Limits>,
    bytes: usize,
}

#[derive(Serialize, Deserialize)]
struct Reply {
    extracted: Result<ExtractedText, IngestError>,
    /// Length of the text that follows, in bytes.
    text: usize,
}

/// Sends a file to a worker.
pub fn send(to: &mut impl Write, bytes: &[u8], file_name: &str, limits: &Limits) -> io::Result<()> {
    let header = Request {
        file_name: Cow::Borrowed(file_name),
        limits: Cow::Borrowed(limits),
        bytes: bytes.len(),
    };
    write_message(to, &header, bytes)
}

/// Receives the worker's reply to the last file.
pub fn receive(
    from: &mut impl Read,
    limits: &Limits,
) -> io::Result<Result<ExtractedText, IngestError>> {
    let header = read_header(from, REPLY_BYTES_MAX)?;
    let reply: Reply = header.ok_or(io::ErrorKind::UnexpectedEof)?;
    // Markdown converted from other formats may slightly exceed the limit, but never doubles it.
    let text = read_exactly(from, reply.text, limits.text_bytes.saturating_mul(2))?;
    let text = String::from_utf8(text).map_err(|_| malformed("its text is not UTF-8"))?;
    Ok(reply.extracted.and_then(|extracted| {
        let is_within = |range: &std::ops::Range<usize>| text.get(range.clone()).is_some();
        let has_faults = extracted
            .sections
            .iter()
            .any(|section| !is_within(&section.range))
            || extracted
                .blocks
                .iter()
                .any(|block| !is_within(&block.range));
        match has_faults {
            true => Err(IngestError::Fault {
                what: "file".into(),
                why: "the worker's reply is inconsistent".to_owned(),
            }),
            false => Ok(ExtractedText { text, ..extracted }),
        }
    }))
}

/// Extracts files until the input ends.
pub fn serve(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    while let Some(request) = read_header::<Request<'static>>(&mut input, HEADER_BYTES_MAX)? {
        let bytes = read_exactly(&mut input, request.bytes, request.limits.file_bytes)?;
        let limits = Limits {
            is_isolated: true,
            ..request.limits.into_owned()
        };
        let mut extracted = extract(bytes, &request.file_name, &limits);
        let text = match &mut extracted {
            Ok(extracted) => std::mem::take(&mut extracted.text),
            Err(_) => String::new(),
        };
        let reply = Reply {
            extracted,
            text: text.len(),
        };
        write_message(&mut output, &reply, text.as_bytes())?;
    }
    Ok(())
}

fn write_message(to: &mut impl Write, header: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let header = serde_json::to_vec(header)?;
    let length = u32::try_from(header.len()).map_err(|_| malformed("its header is too long"))?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(&header)?;
    to.write_all(body)?;
    to.flush()
}

/// Reads a header; `None` at the end of the input.
fn read_header<T: DeserializeOwned>(from: &mut impl Read, most: usize) -> io::Result<Option<T>> {
    let mut length = [0; 4];
    let mut filled = 0;
    while let Some(rest) = length.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let header = read_exactly(from, u32::from_be_bytes(length) as usize, most)?;
    Ok(Some(serde_json::from_slice(&header)?))
}

fn read_exactly(from: &mut impl Read, length: usize, most: usize) -> io::Result<Vec<u8>> {
    if length > most {
        return Err(malformed(&format!(
            "a part of it claims {length} bytes; at most {most} are read"
        )));
    }
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    match bytes.len() == length {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn malformed(why: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("malformed message: {why}"),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn served(requests: &[u8]) -> (io::Result<()>, Vec<u8>) {
        let mut replies = Vec::new();
        let ended = serve(requests, &mut replies);
        (ended, replies)
    }

    /// A worker's replies equal an extraction in the same process, for texts and refusals.
    #[test]
    fn replies_are_those_of_the_same_process() {
        let limits = Limits::default();
        let files: [(&str, &[u8]); 3] = [
            (
                "a.md",
                b"---\ntags: [x]\n---\n# Title\n\nA text.\n\n- item\n",
            ),
            ("b.bin", &[0, 1, 2, 255]),
            ("c.json", b"{\"a\": [1, 2]}"),
        ];
        let mut requests = Vec::new();
        for (name, bytes) in files {
            send(&mut requests, bytes, name, &limits).unwrap();
        }
        let (ended, replies) = served(&requests);
        ended.unwrap();
        let mut replies = replies.as_slice();
        for (name, bytes) in files {
            let there = receive(&mut replies, &limits).unwrap();
            let here = extract(bytes, name, &limits);
            assert_eq!(format!("{there:?}"), format!("{here:?}"), "{name}");
        }
        assert!(replies.is_empty());
    }

    /// Declared lengths allocate nothing, and a truncated message is an error on both sides.
    #[test]
    fn claims_and_cut_messages_are_refused() {
        let limits = Limits::default();
        let (ended, _) = served(&[255, 255, 255, 255, b'{']);
        assert!(ended.unwrap_err().to_string().contains("4294967295"));
        let mut request = Vec::new();
        send(&mut request, b"text", "a.txt", &limits).unwrap();
        let (ended, replies) = served(&request);
        ended.unwrap();
        for end in 1..request.len() {
            assert!(served(&request[..end]).0.is_err(), "{end}");
        }
        for end in 0..replies.len() {
            assert!(receive(&mut &replies[..end], &limits).is_err(), "{end}");
        }
    }

    proptest! {
        /// Neither side panics on arbitrary input from the other.
        #[test]
        fn arbitrary_messages_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), length in 0..300_u32) {
            let _ = served(&bytes);
            let _ = receive(&mut bytes.as_slice(), &Limits::default());
            bytes.splice(..0, length.to_be_bytes());
            let _ = receive(&mut bytes.as_slice(), &Limits::default());
        }
    }
}
