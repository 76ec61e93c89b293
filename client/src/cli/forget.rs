//! `lore forget`: by session, project, agent, origin and time. What cannot be undone is counted first.

use std::io::{self, BufRead, IsTerminal};

use lore::protocol::log::{ForgetArgs, ForgetReply};

use super::exchange::{self, Told, ask, id, moment_of};
use super::given::counted;
use super::output::{Output, shown};
use super::status::bytes;
use super::{Caller, End, Failure};

/// Forget what was recorded, for good: in a session (--session) or project, by an agent, from an origin,
/// or between two moments; several narrow each other
#[derive(Debug, clap::Args)]
pub struct Forget {
    /// What is in this project: its sessions and its context files with their history
    #[arg(long, value_name = "ID")]
    project: Option<String>,
    /// What this agent recorded
    #[arg(long, value_name = "NAME")]
    of_agent: Option<String>,
    /// What came from source:ID, file:/PATH, tool:NAME, resolver:NAME or import
    #[arg(long, value_name = "ORIGIN")]
    origin: Option<String>,
    /// What was recorded from this position or RFC 3339 time on
    #[arg(long, value_name = "WHEN")]
    from: Option<String>,
    /// What was recorded up to this position or RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    to: Option<String>,
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
    /// Forgets, or tells what would go: without `--yes`, and nobody there to be asked, the latter.
    pub fn run(self, caller: &mut Caller, session: Option<&str>) -> Result<End, Failure> {
        let args = ForgetArgs {
            session: session.map(id).transpose()?,
            project: self.project,
            of_agent: self.of_agent,
            origin: self.origin,
            from: moment_of("--from", self.from.as_deref())?,
            to: moment_of("--to", self.to.as_deref())?,
            dry_run: None,
            key: None,
            agent: None,
        };
        let dry = ForgetArgs {
            dry_run: Some(true),
            ..args.clone()
        };
        let input = io::stdin();
        let is_asked = input.is_terminal() && io::stderr().is_terminal();
        if self.dry_run || !(self.yes || is_asked) {
            let aside = match self.dry_run {
                true => String::new(),
                false => "lore: nothing was forgotten: say --yes to do it\n".to_owned(),
            };
            if caller.output == Output::Json {
                lore::err!("{aside}");
            }
            return ask(caller, "forget", &dry, |reply| Told {
                aside,
                ..Told::good(table(reply, "would be forgotten"))
            });
        }
        if !self.yes {
            let reply = exchange::read(&caller.call("forget", exchange::json(&dry)?)?)?;
            lore::err!(
                "{}Forget it? Type yes: ",
                table(&reply, "would be forgotten")
            );
            let mut line = String::new();
            input.lock().read_line(&mut line)?;
            if !line.trim().eq_ignore_ascii_case("yes") {
                lore::errln!("lore: nothing was forgotten");
                return Ok(End::Nothing);
            }
        }
        let args = ForgetArgs {
            key: self.key,
            ..args
        };
        ask(caller, "forget", &args, |reply| {
            Told::good(table(reply, "forgotten"))
        })
    }
}

/// What goes, kind by kind, and what stays.
fn table(reply: &ForgetReply, what: &str) -> String {
    let mut text = format!(
        "{}, {} {what}\n",
        counted(reply.events, "event"),
        bytes(reply.bytes)
    );
    for (count, name) in [
        (reply.sessions, "session"),
        (reply.sessions_in_part, "session in part"),
        (reply.projects, "project"),
        (reply.context_versions, "context file version"),
        (reply.sources, "source of documents"),
        (reply.documents, "document"),
    ] {
        if count > 0 {
            text.push_str(&format!("{count:>8}  {name}\n"));
        }
    }
    for kept in &reply.kept {
        text.push_str(&format!("   stays  {}\n", shown(kept, 0)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_is_told() {
        let reply = ForgetReply {
            events: 3,
            bytes: 2048,
            sessions_in_part: 1,
            kept: vec!["`a` is shared".to_owned()],
            ..ForgetReply::default()
        };
        let told = table(&reply, "forgotten");
        assert_eq!(
            told,
            "3 events, 2.0 KiB forgotten\n       1  session in part\n   stays  `a` is shared\n"
        );
    }
}
