//! What a host's transcript says about the call that a hook reports. The daemon cannot read it: its sandbox keeps it out
//! of the folders of hosts.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use lored_hosts::Host;
use lored_hosts::transcript::{self, TAIL_BYTES};
use rustix::fs::OFlags;

/// Returns the exit status of the command that ended, if the payload does not have it and the transcript does.
pub fn exit_status(host: Host, payload: &[u8]) -> Option<i64> {
    let call = transcript::find_call(host, payload)?;
    let tail = tail(call.path)?;
    transcript::exit_status(host, call.id, &tail)
}

/// Reads the end of a file; `None` if that is not possible.
fn tail(path: &str) -> Option<Vec<u8>> {
    let mut file = OpenOptions::new()
        .read(true)
        // A pipe of that name would be waited for.
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .ok()?;
    let found = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let start = found.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut tail).ok()?;
    Some(tail)
}
