//! `lore session export`: page by page to a file or to standard output.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lore::protocol::sessions::{ExportFormat, ExportSessionArgs, ExportSessionReply};

use crate::cli::given::Which;
use crate::cli::output::{self, Output, shown};
use crate::cli::{Caller, End, Failure, exchange};

/// How much is asked for at once, in bytes.
const PAGE_BYTES: u64 = 8 << 20;

/// Write a session out as JSON lines, or as Markdown for people
#[derive(Debug, clap::Args)]
pub struct Export {
    #[command(flatten)]
    which: Which,
    /// Write Markdown, which people can read and nobody can import
    #[arg(long)]
    markdown: bool,
    /// Write into this file, once all of it is there
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// As it was after this position or at this time
    #[arg(long, value_name = "MOMENT")]
    as_of: Option<String>,
}

impl Export {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ExportSessionArgs {
            session: self.which.session()?,
            format: self.markdown.then_some(ExportFormat::Markdown),
            as_of: exchange::moment(self.as_of.as_deref())?,
            bytes_max: Some(PAGE_BYTES),
            ..ExportSessionArgs::default()
        };
        match &self.output {
            None => {
                let mut out = io::stdout().lock();
                self.pages(caller, args, &mut out)?;
                out.flush()?;
            }
            Some(path) => {
                let part = part_of(path);
                let written = self.write_file(caller, args, &part);
                if written.is_err() {
                    // What is half there helps nobody.
                    let _ = fs::remove_file(&part);
                }
                written?;
                fs::rename(&part, path).map_err(|error| named_file(&error, path))?;
            }
        }
        Ok(End::Good)
    }

    /// A page as it is, but without tricks on a terminal.
    fn printed<'t>(&self, page: &'t str) -> Cow<'t, str> {
        let is_seen = self.output.is_none() && output::is_terminal();
        match self.markdown {
            true => output::text_for(page, is_seen),
            false => output::json_for(page, is_seen),
        }
    }

    fn write_file(
        &self,
        caller: &mut Caller,
        args: ExportSessionArgs,
        part: &Path,
    ) -> Result<(), Failure> {
        let mut file = File::create(part).map_err(|error| named_file(&error, part))?;
        self.pages(caller, args, &mut file)?;
        Ok(file.sync_all()?)
    }

    /// Writes page after page.
    fn pages(
        &self,
        caller: &mut Caller,
        mut args: ExportSessionArgs,
        out: &mut dyn Write,
    ) -> Result<(), Failure> {
        let is_raw = caller.output == Output::Json && self.output.is_none();
        loop {
            let json = caller.call("export_session", exchange::json(&args)?)?;
            let reply: ExportSessionReply = exchange::read(&json)?;
            if is_raw {
                output::write_json(&json)?;
            } else {
                out.write_all(self.printed(&reply.content).as_bytes())?;
            }
            for warning in &reply.warnings {
                eprintln!("lore: {}", shown(warning, 0));
            }
            // The pages behind the first are of the session that it was of, whatever is current then.
            args.session = Some(reply.session);
            match reply.next {
                // A page that does not lead on would be asked for again for ever.
                Some(next) if args.next.as_ref() != Some(&next) => args.next = Some(next),
                Some(_) | None => return Ok(()),
            }
        }
    }
}

/// Where a file stands until all of it is there.
fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

fn named_file(error: &io::Error, path: &Path) -> Failure {
    Failure::Io(io::Error::new(
        error.kind(),
        format!("{}: {error}", path.display()),
    ))
}
