//! `lore docs show`.

use lore::protocol::documents::{GetDocumentContentArgs, GetDocumentContentReply};
use lore::protocol::search::ChunkRange;

use super::super::exchange::{Told, ask};
use super::super::given::more;
use super::super::output::{is_terminal, shown, text_for};
use super::super::{Caller, End, Failure};

/// Print the text of documents
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Ids, as a search gives them
    documents: Vec<String>,
    /// The documents of this context
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// The documents of this file name
    #[arg(long, value_name = "NAME")]
    file: Option<String>,
    /// Only these chunks, such as 2-5
    #[arg(long, value_name = "FROM-TO")]
    chunks: Option<String>,
    /// Chunks of a page, at most
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// The next page, as the page before gave it
    #[arg(long, value_name = "CURSOR")]
    next: Option<String>,
}

impl Show {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = GetDocumentContentArgs {
            documents: self.documents,
            context_id: self.context,
            file_name: self.file,
            chunk_range: self.chunks.as_deref().map(range).transpose()?,
            max_chunks: self.limit,
            next: self.next,
            agent: None,
            at_least: None,
        };
        ask(caller, "get_document_content", &args, told)
    }
}

/// `2-5`, or one number.
pub fn range(text: &str) -> Result<ChunkRange, Failure> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    match (start.trim().parse(), end.trim().parse()) {
        (Ok(start), Ok(end)) => Ok(ChunkRange { start, end }),
        _ => Err(Failure::Usage(format!(
            "{text:?} is no range of chunks; write FROM-TO, such as 2-5"
        ))),
    }
}

fn told(reply: &GetDocumentContentReply) -> Told {
    let mut text = String::new();
    let mut aside = String::new();
    for document in &reply.documents {
        let title = shown(&document.title, 0);
        let path = shown(&document.file_path, 0);
        aside.push_str(&format!("{title} ({path})\n"));
        if document.changed {
            aside.push_str("lore: the file has changed since it was taken in\n");
        }
        let mut end = None;
        for chunk in &document.chunks {
            // A sentence that the chunk before ended with is told once.
            let told = end.map_or(0, |end: u64| end.saturating_sub(chunk.start));
            let from = usize::try_from(told).unwrap_or(usize::MAX);
            let content = chunk.content.get(from..).unwrap_or_default();
            text.push_str(&text_for(content, is_terminal()));
            text.push('\n');
            end = Some(chunk.end);
        }
    }
    Told {
        out: text,
        aside: aside + &more(reply.next.as_deref()),
        end: End::Good,
    }
}
