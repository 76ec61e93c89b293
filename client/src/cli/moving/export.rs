//! `lore export`: all that is recorded, page by page to a file or to standard output.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;

use lore::protocol::log::{ExportLogArgs, ExportLogReply};

use crate::cli::output::{self, shown};
use crate::cli::whole_file::write_whole;
use crate::cli::{Caller, End, Failure, exchange};

/// How much is asked for at once, in bytes.
const PAGE_BYTES: u64 = 8 << 20;

/// Write all that is recorded out as JSON lines; `--session ID` for one session
#[derive(Debug, clap::Args)]
pub struct Export {
    /// This project alone, with its sessions
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    project: Option<String>,
    /// Write into this file, once all of it is there
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        // A session of the environment is where one works, not what one wants exported.
        let session = caller.session.as_deref().map(exchange::id).transpose()?;
        let args = ExportLogArgs {
            session,
            project: self.project,
            bytes_max: Some(PAGE_BYTES),
            next: None,
        };
        match &self.output {
            None => {
                let mut out = BufWriter::new(io::stdout().lock());
                pages(caller, args, output::is_terminal(), &mut out)?;
                out.flush()?;
            }
            Some(path) => write_whole(path, |out| pages(caller, args, false, out))?,
        }
        Ok(End::Good)
    }
}

/// Writes page after page.
fn pages(
    caller: &mut Caller,
    mut args: ExportLogArgs,
    is_seen: bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let shows = io::stderr().is_terminal() && !is_seen;
    let mut bytes = 0;
    loop {
        let json = caller.call("export_log", exchange::json(&args)?)?;
        let reply: ExportLogReply = exchange::read(&json)?;
        out.write_all(output::json_for(&reply.content, is_seen).as_bytes())?;
        for warning in &reply.warnings {
            lore::errln!("lore: {}", shown(warning, 0));
        }
        bytes += reply.content.len();
        if shows {
            lore::err!("\r{bytes} bytes");
        }
        match reply.next {
            // A page that does not lead on would be asked for again for ever.
            Some(next) if args.next.as_ref() != Some(&next) => args.next = Some(next),
            Some(_) | None => break,
        }
    }
    if shows {
        lore::errln!("");
    }
    Ok(())
}
