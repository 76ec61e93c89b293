//! Frames of the compact protocol: a length, then a CBOR map with text keys.
//!
//! A connection begins with the client's [`Hello`] and the server's [`Welcome`]; then calls,
//! cancels, answers and stream items pass in any order, told apart by the fields they have.
//! The side that serves reads strictly ([`decode_hello`], [`decode_client`]): a field it does not
//! know is refused. The side that calls reads leniently ([`decode_server`]), so that a newer
//! daemon may say more.

mod client;
mod error;
mod length;
mod server;

pub use client::{ClientFrame, Hello, decode_client, decode_hello};
pub use client::{encode_call, encode_call_head, encode_cancel, encode_hello};
pub use error::FrameError;
pub use length::{frame_length, read_frame};
pub use server::{Limits, ServerFrame, Welcome, decode_server, take_server};
pub use server::{encode_answer, encode_answer_around, encode_error, encode_item, encode_welcome};

/// The largest frame, in bytes, without its length.
pub const FRAME_BYTES_MAX: usize = 64 << 20;

/// The largest Hello, in bytes: it is a handful of names.
pub const HELLO_BYTES_MAX: usize = 64 << 10;

/// The most calls that may wait for their answers on one connection.
pub const CALLS_IN_FLIGHT_MAX: u64 = 64;

/// The most bytes that calls without an answer may have on one connection.
pub const BYTES_IN_FLIGHT_MAX: u64 = 64 << 20;

/// How long a new connection may take for its Hello, in milliseconds.
pub const HELLO_MS_MAX: u64 = 5_000;

/// The deepest nesting of an envelope; bodies have a bound of their own.
pub const ENVELOPE_DEPTH_MAX: usize = 64;

/// Appends a frame: room for the length, the body, then the length itself.
fn framed(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    framed_around(out, 0, body);
}

/// The same of a frame of which so many bytes are sent from elsewhere.
fn framed_around(out: &mut Vec<u8>, elsewhere: usize, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = out.len() - start - 4 + elsewhere;
    // A body over 4 GiB does not exist: bodies are bounded by FRAME_BYTES_MAX long before.
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    if let Some(prefix) = out.get_mut(start..start + 4) {
        prefix.copy_from_slice(&length);
    }
}
