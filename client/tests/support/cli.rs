//! Runs the program as people and scripts do, against a daemon with canned replies.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;

use lore::protocol::frame;
use lore::protocol::{Args, ErrorBody};

use super::{Peer, listen, paths};

/// A reply with its metadata, or an error.
pub type Answer = Result<(String, Option<&'static str>), ErrorBody>;

/// Answers every call with the result of `reply` for the operation's name and its arguments.
pub fn serve(home: &Path, reply: impl Fn(&str, &str) -> Answer + Send + 'static) {
    let listener = listen(&paths(home));
    thread::spawn(move || {
        loop {
            let mut peer = Peer::accept(&listener);
            while let Some((id, name, args)) = peer.call() {
                let Args::Json(args) = args else {
                    panic!("no JSON")
                };
                match reply(&name, std::str::from_utf8(&args).unwrap()) {
                    Ok((json, meta)) => peer.answer_with(id, &json, meta),
                    Err(error) => {
                        let mut out = Vec::new();
                        frame::encode_error(&mut out, Some(id), &error);
                        peer.stream.write_all(&out).unwrap();
                    }
                }
            }
        }
    });
}

/// Runs the program with `input` on standard input.
pub fn lore(home: &Path, arguments: &[&str], input: &str) -> Output {
    lore_with(home, &[], arguments, input)
}

/// Runs the program with `input` and with these environment variables.
pub fn lore_with(
    home: &Path,
    variables: &[(&str, &str)],
    arguments: &[&str],
    input: &str,
) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lore"))
        .env_clear()
        .env("LORE_HOME", home)
        .env("LORE_DAEMON", "/nonexistent/lored")
        .env("TZ", "UTC")
        .envs(variables.iter().copied())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program may not read its input at all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs the program and returns exit code, standard output and standard error.
pub fn run(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    parts(lore(home, arguments, ""))
}

/// Splits the output of a run as [`run`] returns it.
pub fn parts(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}
