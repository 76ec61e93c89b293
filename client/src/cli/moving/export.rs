//! `lore export`: all that is recorded, page by page to a file or to standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use lore::protocol::log::{ExportLogArgs, ExportLogReply};

use crate::cli::output::{self, shown};
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
            Some(path) => {
                let part = part_of(path);
                let written = write_file(caller, args, &part);
                if written.is_err() {
                    // What is half there helps nobody.
                    let _ = fs::remove_file(&part);
                }
                written?;
                fs::rename(&part, path).map_err(|error| named(&error, path))?;
            }
        }
        Ok(End::Good)
    }
}

fn write_file(caller: &mut Caller, args: ExportLogArgs, part: &Path) -> Result<(), Failure> {
    let file = File::create(part).map_err(|error| named(&error, part))?;
    let mut out = BufWriter::new(file);
    pages(caller, args, false, &mut out)?;
    let file = out.into_inner().map_err(io::Error::from)?;
    Ok(file.sync_all()?)
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
            eprintln!("lore: {}", shown(warning, 0));
        }
        bytes += reply.content.len();
        if shows {
            eprint!("\r{bytes} bytes");
        }
        match reply.next {
            // A page that does not lead on would be asked for again for ever.
            Some(next) if args.next.as_ref() != Some(&next) => args.next = Some(next),
            Some(_) | None => break,
        }
    }
    if shows {
        eprintln!();
    }
    Ok(())
}

/// Where a file stands until all of it is there.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn named(error: &io::Error, path: &Path) -> Failure {
    Failure::Io(io::Error::new(
        error.kind(),
        format!("{}: {error}", path.display()),
    ))
}
