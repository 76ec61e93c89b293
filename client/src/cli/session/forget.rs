//! `lore session forget`: what cannot be undone is said first, and asked about.

use std::io::{self, BufRead, IsTerminal};

use lore::protocol::SessionId;
use lore::protocol::sessions::{ForgetSessionArgs, ForgetSessionReply};

use crate::cli::exchange::{self, Told, ask, id};
use crate::cli::given::counted;
use crate::cli::status::bytes;
use crate::cli::{Caller, End, Failure};

/// Forget what a session holds, for good
#[derive(Debug, clap::Args)]
pub struct Forget {
    /// Which session
    id: String,
    /// Only tell what would go
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Idempotency key: the same call again gives the first reply
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Forget {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let session: SessionId = id(&self.id)?;
        if self.dry_run {
            return ask(caller, "forget_session", &dry(&session), |reply| {
                Told::good(would_go(reply))
            });
        }
        if !self.yes {
            let input = io::stdin();
            if !input.is_terminal() || !io::stderr().is_terminal() {
                return Err(Failure::Usage(
                    "what is forgotten is gone for good, and nobody is here to be asked: say \
                     --yes, or look first with --dry-run"
                        .to_owned(),
                ));
            }
            let args = exchange::json(&dry(&session))?;
            let reply = exchange::read(&caller.call("forget_session", args)?)?;
            lore::err!("{}Forget it? Type yes: ", would_go(&reply));
            if !is_agreed(&mut input.lock())? {
                lore::errln!("lore: nothing was forgotten");
                return Ok(End::Nothing);
            }
        }
        let args = ForgetSessionArgs {
            session,
            dry_run: None,
            key: self.key,
            agent: None,
        };
        ask(
            caller,
            "forget_session",
            &args,
            |reply: &ForgetSessionReply| {
                Told::good(format!(
                    "forgot session {}: {}, {}\n",
                    reply.session,
                    counted(reply.events, "event"),
                    bytes(reply.bytes)
                ))
            },
        )
    }
}

fn dry(session: &SessionId) -> ForgetSessionArgs {
    ForgetSessionArgs {
        session: session.clone(),
        dry_run: Some(true),
        key: None,
        agent: None,
    }
}

fn would_go(reply: &ForgetSessionReply) -> String {
    format!(
        "session {} has {}, {}: all of it would be gone for good\n",
        reply.session,
        counted(reply.events, "event"),
        bytes(reply.bytes)
    )
}

/// Whether the next line says yes; the end of the input does not.
fn is_agreed(input: &mut impl BufRead) -> io::Result<bool> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    Ok(line.trim().eq_ignore_ascii_case("yes"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        let agreed = |input: &str| is_agreed(&mut input.as_bytes()).unwrap();
        assert!(agreed("yes\n") && agreed(" YES"));
        assert!(!agreed("") && !agreed("y\n") && !agreed("no\nyes\n"));
    }
}
