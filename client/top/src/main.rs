//! `lore top`: live activity of the daemon in a terminal. It is a separate program, which keeps `lore` light.
//!
//! In reading order: `model` holds the collected data, `fetch` calls the daemon, `listing` selects the rows of each
//! pane, `screen` holds the user's choices, `view` renders a frame, `live` and `once` are the two output modes.

mod clock;
mod event_loop;
mod fetch;
mod input;
mod listing;
mod model;
mod once;
mod options;
mod screen;
mod view;

use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Parser;
use lore::connection::Error;
use lore::paths::Paths;
use lore::protocol::Code;
use lore::sanitize::sanitize_lines;

use clock::UnixMicros;
use fetch::Caller;
use model::Model;
use options::Options;
use screen::Screen;
use view::labels::{ColourMode, harmless};

/// Exit codes, as in `lore`.
const REFUSED: u8 = 1;
const USAGE: u8 = 2;
const NOT_REACHED: u8 = 3;
const VERSION: u8 = 4;

fn main() -> ExitCode {
    let options = Options::parse();
    let paths = match Paths::find(options.socket.as_deref()) {
        Ok(paths) => paths,
        Err(error) => return report(&error.into()),
    };
    let mut model = Model::new(
        harmless(&paths.socket.display().to_string()),
        UnixMicros::now(),
    );
    let mut screen = Screen::new(options.first_filter(), options.every);
    let caller = Caller::new(paths, options.hello());
    if options.once {
        return match once::run(caller, &mut model, &screen, options.width) {
            Ok(()) => ExitCode::SUCCESS,
            Err(once::Failure::Call(error)) => report(&error),
            Err(once::Failure::Io(error)) => print(&error.to_string(), REFUSED),
        };
    }
    if !can_show() {
        let said = "this needs a terminal; `lore top --once` prints one frame as text, \
            `lore status --json` and `lore tail --json` are for programs";
        return print(said, USAGE);
    }
    match event_loop::run(caller, &mut model, &mut screen, paint()) {
        Ok(event_loop::ViewEnd::Wished) => ExitCode::SUCCESS,
        // The exit code that a shell uses for a program ended by a signal.
        Ok(event_loop::ViewEnd::Signal(signal)) => {
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(REFUSED))
        }
        Err(error) => print(&format!("the terminal cannot be used: {error}"), REFUSED),
    }
}

/// Returns whether input is a terminal, and output is a terminal that can move its cursor.
fn can_show() -> bool {
    let is_plain = variable("TERM").is_none_or(|term| term == "dumb");
    io::stdin().is_terminal() && io::stdout().is_terminal() && !is_plain
}

fn paint() -> ColourMode {
    match variable("NO_COLOR") {
        Some(_) => ColourMode::Plain,
        None => ColourMode::Colours,
    }
}

/// Reads an environment variable that is set and not empty.
fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|said| !said.is_empty())
}

fn print(message: &str, code: u8) -> ExitCode {
    lore::errln!("lore top: {}", sanitize_lines(message));
    ExitCode::from(code)
}

fn report(error: &Error) -> ExitCode {
    let lost = fetch::lost(error);
    let code = match error {
        _ if error.to_body().code == Code::VersionMismatch => VERSION,
        Error::Refused(_) | Error::Frame(_) => REFUSED,
        Error::NotListening { .. }
        | Error::Unreachable { .. }
        | Error::Start(_)
        | Error::Place(_)
        | Error::Waits
        | Error::Broken(_) => NOT_REACHED,
    };
    let hint = lost
        .hint
        .map_or_else(String::new, |hint| format!("\n  {hint}"));
    print(&format!("{}{hint}", lost.why), code)
}
