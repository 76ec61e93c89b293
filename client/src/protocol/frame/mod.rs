//! Frames of the compact protocol: a length, then a CBOR map with text keys.
//!
//! A connection begins with the client's [`Hello`] and the server's [`Welcome`]. Then calls, cancels, answers
//! and stream items follow in any order and are distinguished by their fields. The server reads strictly
//! ([`decode_hello`], [`decode_client`]): it refuses unknown fields. The client reads leniently
//! ([`decode_server`]), so that a newer daemon may send more fields.

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

/// Maximum size of a frame, in bytes, without its length prefix.
pub const FRAME_BYTES_MAX: usize = 64 << 20;

/// Maximum size of a Hello, in bytes; it contains only a few names.
pub const HELLO_BYTES_MAX: usize = 64 << 10;

/// Maximum number of unanswered calls on one connection.
pub const CALLS_IN_FLIGHT_MAX: u64 = 64;

/// Maximum size of all unanswered calls on one connection, in bytes.
pub const BYTES_IN_FLIGHT_MAX: u64 = 64 << 20;

/// Time limit for the Hello of a new connection, in milliseconds.
pub const HELLO_MS_MAX: u64 = 5_000;

/// Maximum nesting depth of an envelope; bodies have a separate limit.
pub const ENVELOPE_DEPTH_MAX: usize = 64;

/// Appends a frame: reserves space for the length, appends the body, then writes the length.
fn framed(out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    framed_around(out, 0, body);
}

/// Appends a frame of which `elsewhere` bytes are sent separately.
fn framed_around(out: &mut Vec<u8>, elsewhere: usize, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    body(out);
    let length = out.len() - start - 4 + elsewhere;
    // A body over 4 GiB cannot occur, because FRAME_BYTES_MAX limits bodies long before.
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    if let Some(prefix) = out.get_mut(start..start + 4) {
        prefix.copy_from_slice(&length);
    }
}
