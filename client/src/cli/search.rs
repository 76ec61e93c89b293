//! `lore search` and `lore docs search`.

use std::fmt::Write;

use clap::ValueEnum;
use lore::protocol::search::{
    Filters, FusionKind, Kind, SearchArgs, SearchDocumentsArgs, SearchReply, SearchResult,
    SearchType,
};

use super::docs::range;
use super::exchange::{Told, ask, object};
use super::given::more;
use super::output::shown;
use super::{Caller, End, Failure};

/// Characters of a result's text.
const TEXT_CHARS: usize = 240;

/// How to search.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// By words
    Text,
    /// By meaning
    Vector,
    /// By both
    Hybrid,
    /// By both, the head put in order by its best sentences, which are quoted
    Semantic,
}

impl From<Mode> for SearchType {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Text => Self::Text,
            Mode::Vector => Self::Vector,
            Mode::Hybrid => Self::Hybrid,
            Mode::Semantic => Self::Semantic,
        }
    }
}

/// What every search takes.
#[derive(Debug, clap::Args)]
struct How {
    /// How to search; hybrid unless said otherwise
    #[arg(long, value_name = "MODE")]
    mode: Option<Mode>,
    /// Results of a page, at most
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<u64>,
    /// Say how each score came about
    #[arg(long)]
    explain: bool,
    /// Print whole texts
    #[arg(long)]
    full: bool,
    /// Fuse by reciprocal ranks instead of z-scores
    #[arg(long)]
    rrf: bool,
    /// The next page, as the page before gave it
    #[arg(long, value_name = "CURSOR")]
    next: Option<String>,
}

impl How {
    fn fusion(&self) -> Option<FusionKind> {
        self.rrf.then_some(FusionKind::Rrf)
    }
}

/// What documents are narrowed to.
#[derive(Debug, clap::Args)]
struct Narrow {
    /// Only this context; may be repeated
    #[arg(long, value_name = "ID")]
    context: Vec<String>,
    /// Only contexts of this name
    #[arg(long, value_name = "TEXT")]
    context_name: Option<String>,
    /// Only this category; may be repeated
    #[arg(long, value_name = "TEXT")]
    category: Vec<String>,
    /// Only files of this name
    #[arg(long, value_name = "NAME")]
    file: Option<String>,
    /// Only this type of file
    #[arg(long = "type", value_name = "EXTENSION")]
    file_type: Option<String>,
    /// Only with this tag; may be repeated
    #[arg(long = "tag", value_name = "TEXT")]
    tags: Vec<String>,
    /// Only chunks of this name; a * at the end stands for any rest
    #[arg(long, value_name = "PATTERN")]
    chunk: Option<String>,
    /// Only chunks of these numbers, such as 2-5
    #[arg(long, value_name = "FROM-TO")]
    chunks: Option<String>,
    /// What the front matter says besides, as a JSON object
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
}

impl Narrow {
    fn filters(self) -> Result<Filters, Failure> {
        Ok(Filters {
            context_id: self.context,
            context_name: self.context_name,
            category: self.category,
            file_name: self.file,
            file_type: self.file_type,
            tags: self.tags,
            chunk_pattern: self.chunk,
            chunk_range: self.chunks.as_deref().map(range).transpose()?,
            custom_metadata: object("--metadata", self.metadata.as_deref())?,
            content_analysis: None,
        })
    }
}

/// Search documents
#[derive(Debug, clap::Args)]
pub struct Documents {
    /// Words, a question
    #[arg(required = true)]
    query: Vec<String>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    narrow: Narrow,
}

impl Documents {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = SearchDocumentsArgs {
            query: self.query.join(" "),
            fusion: self.how.fusion(),
            search_type: self.how.mode.map(Into::into),
            filters: Some(self.narrow.filters()?),
            max_results: self.how.limit,
            include_content: Some(true),
            explain: Some(self.how.explain),
            next: self.how.next,
            ..SearchDocumentsArgs::default()
        };
        let is_full = self.how.full;
        ask(caller, "search_documents", &args, |reply| {
            told(reply, is_full)
        })
    }
}

/// What kind of thing.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Of {
    /// Parts of documents
    Document,
    /// What was said
    Message,
    /// What tools returned
    Step,
    /// Sections of context files
    Context,
    /// Checkpoints
    Checkpoint,
}

impl From<Of> for Kind {
    fn from(of: Of) -> Self {
        match of {
            Of::Document => Self::Document,
            Of::Message => Self::Message,
            Of::Step => Self::Step,
            Of::Context => Self::Context,
            Of::Checkpoint => Self::Checkpoint,
        }
    }
}

/// Search everything: documents, messages, results, context files, checkpoints
#[derive(Debug, clap::Args)]
pub struct Search {
    /// Words, a question
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Of>,
    /// Only what belongs to this project, by its id or `current`
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only this session: the one that --session or LORE_SESSION names
    #[arg(long)]
    here: bool,
    #[command(flatten)]
    how: How,
}

impl Search {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let session = match self.here {
            true => caller.named_session()?,
            false => None,
        };
        if self.here && session.is_none() {
            return Err(Failure::Usage(
                "--here needs a session: name one with --session or LORE_SESSION".to_owned(),
            ));
        }
        let args = SearchArgs {
            query: self.query.join(" "),
            fusion: self.how.fusion(),
            kinds: self.kinds.into_iter().map(Into::into).collect(),
            search_type: self.how.mode.map(Into::into),
            session,
            project: self.project,
            max_results: self.how.limit,
            include_content: Some(self.how.full),
            explain: Some(self.how.explain),
            next: self.how.next,
            ..SearchArgs::default()
        };
        let is_full = self.how.full;
        ask(caller, "search", &args, |reply| told(reply, is_full))
    }
}

fn told(reply: &SearchReply, is_full: bool) -> Told {
    let mut aside = String::new();
    for said in [&reply.reason, &reply.partial].into_iter().flatten() {
        let _ = writeln!(aside, "lore: {}", shown(said, 0));
    }
    if reply.results.is_empty() {
        let near = match reply.nearest_contexts.as_slice() {
            [] => String::new(),
            near => format!("; the nearest contexts are {}", near.join(", ")),
        };
        let _ = writeln!(aside, "lore: nothing was found{}", shown(&near, 0));
        return Told::nothing(aside);
    }
    let mut text = String::new();
    for result in &reply.results {
        add(&mut text, result, is_full);
    }
    Told {
        out: text,
        aside: aside + &more(reply.next.as_deref()),
        end: End::Good,
    }
}

fn add(text: &mut String, result: &SearchResult, is_full: bool) {
    let place = result
        .file_path
        .as_deref()
        .unwrap_or(result.context_name.as_str());
    let changed = match result.changed {
        Some(true) => "  (changed since)",
        Some(false) | None => "",
    };
    let _ = writeln!(
        text,
        "{:.4}  {}  {}{changed}\n        {}",
        result.score,
        shown(&result.title, 80),
        shown(place, 0),
        shown(&result.id, 0),
    );
    let content = result.content.as_ref().or(result.preview.as_ref());
    let told = match (&result.caption, content) {
        (Some(caption), _) if !is_full => caption.text.as_str(),
        (_, Some(content)) => content.as_str(),
        (Some(caption), None) => caption.text.as_str(),
        (None, None) => "",
    };
    let width = match is_full {
        true => 0,
        false => TEXT_CHARS,
    };
    let one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(text, "        {}", shown(&one_line, width));
    if let Some(scores) = &result.scores {
        for (name, leg) in [("text", &scores.text), ("vector", &scores.vector)] {
            if let Some(leg) = leg {
                let rank = leg.rank.map_or("-".to_owned(), |rank| rank.to_string());
                let _ = writeln!(
                    text,
                    "        {name}: {:.4}, rank {rank}, adds {:.4}",
                    leg.score, leg.part
                );
            }
        }
    }
    text.push('\n');
}
