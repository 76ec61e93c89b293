//! `lore session export`: page by page to a file or to standard output.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::PathBuf;

use lore::protocol::sessions::{ExportFormat, ExportSessionArgs, ExportSessionReply};

use crate::cli::given::Which;
use crate::cli::output::{self, Output, shown};
use crate::cli::whole_file::write_whole;
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
            Some(path) => write_whole(path, |out| self.pages(caller, args, out))?,
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
                lore::errln!("lore: {}", shown(warning, 0));
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
