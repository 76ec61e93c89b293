//! `lore session import`: a file of JSON lines, sent whole.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use lore::protocol::SessionId;
use lore::protocol::sessions::{ImportSessionArgs, ImportSessionReply};

use crate::cli::output::{Output, shown};
use crate::cli::{Caller, End, Failure, exchange, output};

/// What one import may have, in bytes; the daemon refuses more.
const BYTES_MAX: u64 = 32 << 20;

/// Record a session that was exported, here or elsewhere: all of it, or nothing
#[derive(Debug, clap::Args)]
pub struct Import {
    /// The JSON lines; - reads standard input
    file: PathBuf,
    /// Under this id, not the one that it had
    #[arg(long = "as", value_name = "ID")]
    id: Option<String>,
    /// In this project, not the one that it had
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Check everything and record nothing
    #[arg(long)]
    dry_run: bool,
    /// Idempotency key: the same call again imports nothing twice
    #[arg(long, value_name = "TEXT")]
    key: Option<String>,
}

impl Import {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let id = self.id.map(SessionId::new).transpose();
        let args = ImportSessionArgs {
            content: content(&self.file)?,
            session: id.map_err(|error| Failure::Usage(error.to_string()))?,
            project: self.project,
            dry_run: self.dry_run.then_some(true),
            key: self.key,
            agent: None,
        };
        let json = caller.call("import_session", exchange::json(&args)?)?;
        let reply: ImportSessionReply = exchange::read(&json)?;
        match caller.output {
            Output::Json => output::write_json(&json)?,
            Output::Human => output::write(told(&reply).as_bytes())?,
        }
        for warning in &reply.warnings {
            lore::errln!("lore: {}", shown(warning, 0));
        }
        Ok(End::Good)
    }
}

fn told(reply: &ImportSessionReply) -> String {
    let kinds: Vec<String> = reply
        .kinds
        .iter()
        .map(|(kind, count)| format!("  {count} {}\n", shown(kind, 0)))
        .collect();
    let (session, events) = (&reply.session, reply.events);
    let first = match reply.dry_run {
        true => format!("good: {events} events would be session {session}\n"),
        false => format!("imported session {session}: {events} events\n"),
    };
    first + &kinds.concat()
}

/// The text of a file, as long as one import may be.
fn content(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        io::stdin()
            .lock()
            .take(BYTES_MAX + 1)
            .read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(BYTES_MAX + 1).read_to_end(&mut bytes))
    };
    let shown = path.display();
    read.map_err(|error| Failure::Io(io::Error::new(error.kind(), format!("{shown}: {error}"))))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Failure::Usage(format!(
            "{shown} has more than {BYTES_MAX} bytes, the most that is imported at once"
        )));
    }
    exchange::utf8(&shown.to_string(), bytes)
}
