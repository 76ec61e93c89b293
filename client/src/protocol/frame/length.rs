//! The length prefix of a frame.

use std::io::{self, Read};

use super::FrameError;

/// Memory that a frame gets before any of its bytes arrives, in bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Decodes the length in a prefix, in bytes.
///
/// # Errors
/// When it is 0 or over `limit`.
pub fn frame_length(prefix: [u8; 4], limit: usize) -> Result<usize, FrameError> {
    let length = u32::from_be_bytes(prefix);
    match usize::try_from(length) {
        Ok(0) => Err(FrameError::Empty),
        Ok(length) if length <= limit => Ok(length),
        _ => Err(FrameError::TooLarge {
            length: length.into(),
            limit: limit as u64,
        }),
    }
}

/// Reads one frame's body into `body` and replaces its content; returns `false` at the end of the stream.
///
/// Memory grows with the received bytes, not with the claimed length.
///
/// # Errors
/// Those of the stream; `UnexpectedEof` when it ends inside a frame; `InvalidData`, with the
/// [`FrameError`] inside, for a length of 0 or over `limit`.
pub fn read_frame(stream: &mut impl Read, body: &mut Vec<u8>, limit: usize) -> io::Result<bool> {
    body.clear();
    let Some(prefix) = read_prefix(stream)? else {
        return Ok(false);
    };
    let length = frame_length(prefix, limit).map_err(invalid)?;
    while body.len() < length {
        let chunk = (length - body.len()).min(CHUNK_BYTES.max(body.len()));
        body.reserve_exact(chunk);
        let read = stream.by_ref().take(chunk as u64).read_to_end(body)?;
        if read < chunk {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(true)
}

fn read_prefix(stream: &mut impl Read) -> io::Result<Option<[u8; 4]>> {
    let mut prefix = [0; 4];
    let mut read = 0;
    while let Some(rest) = prefix.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match stream.read(rest) {
            Ok(0) if read == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(prefix))
}

fn invalid(error: FrameError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns one byte at a time, like a slow peer.
    struct ByteByByte<'a>(&'a [u8]);

    impl Read for ByteByByte<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(1);
            self.0.read(buffer.get_mut(..count).unwrap())
        }
    }

    #[test]
    fn frames_arrive_whole_from_a_stream_that_trickles() {
        let mut stream = ByteByByte(&[0, 0, 0, 2, 1, 2, 0, 0, 0, 1, 3]);
        let mut body = Vec::new();
        assert!(read_frame(&mut stream, &mut body, 10).unwrap());
        assert_eq!(body, [1, 2]);
        assert!(read_frame(&mut stream, &mut body, 10).unwrap());
        assert_eq!(body, [3]);
        assert!(!read_frame(&mut stream, &mut body, 10).unwrap());
    }

    #[test]
    fn a_length_that_lies_costs_one_chunk() {
        let mut body = Vec::new();
        let mut stream: &[u8] = &[3, 0, 0, 0, 9, 9];
        let error = read_frame(&mut stream, &mut body, 64 << 20).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(body.capacity() <= 2 * CHUNK_BYTES, "{}", body.capacity());
    }

    #[test]
    fn lengths_over_the_limit_are_named() {
        let refused = frame_length([255; 4], 100).unwrap_err();
        assert_eq!(
            refused,
            FrameError::TooLarge {
                length: u64::from(u32::MAX),
                limit: 100
            }
        );
        assert_eq!(frame_length([0; 4], 100), Err(FrameError::Empty));
        let mut body = Vec::new();
        let error = read_frame(&mut &[0, 0, 0][..], &mut body, 100).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
