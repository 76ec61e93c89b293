//! One frame as plain text, for scripts and for those without a terminal.

use std::io::{self, Write};

use lore::connection::Error;

use crate::clock::UnixMicros;
use crate::fetch::follow::Follower;
use crate::fetch::{Caller, poll};
use crate::model::Model;
use crate::screen::Screen;
use crate::view;

/// How wide it is when nobody says.
const COLUMNS: u16 = 120;
/// Pages of events that are read at most.
const PAGES_MAX: usize = 100;

/// Why there is no frame.
#[derive(Debug)]
pub enum Failure {
    /// The daemon cannot be asked.
    Call(Error),
    /// Standard output broke.
    Io(io::Error),
}

/// Asks once, and prints.
///
/// # Errors
/// Why there is no frame.
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
        // Whoever read it has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(Failure::Io),
    }
}
