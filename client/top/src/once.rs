//! One frame as plain text, for scripts and output without a terminal.

use std::io::{self, Write};

use lore::connection::Error;

use crate::clock::UnixMicros;
use crate::fetch::follow::Follower;
use crate::fetch::{Caller, poll};
use crate::model::Model;
use crate::screen::Screen;
use crate::view;

/// Default width.
const COLUMNS: u16 = 120;
/// Limit on pages of events read.
const PAGES_MAX: usize = 100;

/// Reason why no frame was printed.
#[derive(Debug)]
pub enum Failure {
    /// The daemon cannot be called.
    Call(Error),
    /// Writing to standard output failed.
    Io(io::Error),
}

/// Collects the data once and prints it.
///
/// # Errors
/// When the daemon cannot be called, or standard output fails.
pub fn run(
    mut caller: Caller,
    model: &mut Model,
    screen: &Screen,
    width: Option<u16>,
) -> Result<(), Failure> {
    let mut follower = Follower::new(caller.another());
    let take = |learned| {
        model.learn(learned, UnixMicros::now());
        true
    };
    poll::both(&mut caller, take).map_err(Failure::Call)?;
    for _ in 0..PAGES_MAX {
        let reported = follower.next(0).map_err(Failure::Call)?;
        for learned in reported.learned {
            model.learn(learned, UnixMicros::now());
        }
        if reported.caught_up {
            break;
        }
    }
    let text = view::report(model, screen, width.unwrap_or(COLUMNS));
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        // The reader has closed the pipe.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Failure::Io),
    }
}
