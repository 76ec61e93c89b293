//! `lore docs contexts|explore|summary`.

use clap::ValueEnum;
use lore::protocol::documents::{
    DetailLevel, ExploreDocumentStructureArgs, ExploreDocumentStructureReply, Facet,
    GetDocumentContextsArgs, GetDocumentContextsReply, GetIndexSummaryArgs, GetIndexSummaryReply,
    StructureType,
};

use super::super::exchange::{Told, ask};
use super::super::output::{facts, shown, table};
use super::super::{Caller, End, Failure};

/// List contexts of documents
#[derive(Debug, clap::Args)]
pub struct Contexts {
    /// Only of this type: work_item, project, contract, api, policy, or any text of an id
    #[arg(long = "type", value_name = "TYPE")]
    context_type: Option<String>,
    /// Only with documents of this category
    #[arg(long, value_name = "TEXT")]
    category: Option<String>,
}

impl Contexts {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = GetDocumentContextsArgs {
            context_type: self.context_type,
            category_filter: self.category,
            ..GetDocumentContextsArgs::default()
        };
        ask(
            caller,
            "get_document_contexts",
            &args,
            |reply: &GetDocumentContextsReply| {
                if reply.contexts.is_empty() {
                    return Told::nothing("lore: there is no such context\n".to_owned());
                }
                let rows: Vec<_> = reply
                    .contexts
                    .iter()
                    .map(|context| {
                        [
                            shown(&context.context_id, 60),
                            shown(&context.context_name, 40),
                            context.context_type.clone(),
                            context.documents.unwrap_or(0).to_string(),
                            context.chunks.unwrap_or(0).to_string(),
                        ]
                    })
                    .collect();
                Told::good(table(
                    ["context", "name", "type", "documents", "chunks"],
                    &rows,
                ))
            },
        )
    }
}

/// What can be explored.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Contexts of documents
    Contexts,
    /// Files
    Files,
    /// Chunks of files
    Chunks,
    /// Categories
    Categories,
}

/// Look at how documents are made up
#[derive(Debug, clap::Args)]
pub struct Explore {
    /// What to look at
    #[arg(default_value = "contexts")]
    what: What,
    /// Only this context
    #[arg(long, value_name = "ID")]
    context: Option<String>,
    /// Only files of this name
    #[arg(long, value_name = "NAME")]
    file: Option<String>,
    /// Items, at most
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

impl Explore {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = ExploreDocumentStructureArgs {
            context_id: self.context,
            file_name: self.file,
            structure_type: Some(match self.what {
                What::Contexts => StructureType::Contexts,
                What::Files => StructureType::Files,
                What::Chunks => StructureType::Chunks,
                What::Categories => StructureType::Categories,
            }),
            max_items: self.limit,
            agent: None,
            at_least: None,
        };
        ask(
            caller,
            "explore_document_structure",
            &args,
            |reply: &ExploreDocumentStructureReply| {
                if reply.items.is_empty() {
                    return Told::nothing("lore: there is nothing\n".to_owned());
                }
                let rows: Vec<_> = reply
                    .items
                    .iter()
                    .map(|item| {
                        let count = item.chunks.map_or(String::new(), |count| count.to_string());
                        [
                            shown(&item.id, 60),
                            shown(item.preview.as_deref().unwrap_or(&item.name), 80),
                            shown(item.file_name.as_deref().unwrap_or_default(), 40),
                            count,
                        ]
                    })
                    .collect();
                let mut text = table(["id", "is", "file", "chunks"], &rows);
                if reply.total > reply.items.len() as u64 {
                    text.push_str(&format!("{} in all\n", reply.total));
                }
                Told::good(text)
            },
        )
    }
}

/// Tell what is indexed
#[derive(Debug, clap::Args)]
pub struct Summary {
    /// Everything: all values, contexts and failures, the index
    #[arg(long)]
    all: bool,
}

impl Summary {
    pub fn run(self, caller: &mut Caller) -> Result<End, Failure> {
        let args = GetIndexSummaryArgs {
            detail_level: Some(match self.all {
                true => DetailLevel::Comprehensive,
                false => DetailLevel::Detailed,
            }),
            ..GetIndexSummaryArgs::default()
        };
        ask(caller, "get_index_summary", &args, |reply| {
            Told::good(summary(reply))
        })
    }
}

fn summary(reply: &GetIndexSummaryReply) -> String {
    let mut text = facts([
        ("documents", reply.total_documents.to_string()),
        ("chunks", reply.total_chunks.to_string()),
        ("contexts", reply.total_contexts.to_string()),
        ("file types", line(&reply.file_types)),
        ("categories", line(&reply.categories)),
        ("tags", line(&reply.tags)),
    ]);
    let rows: Vec<_> = reply
        .contexts
        .iter()
        .map(|context| {
            [
                shown(&context.context_id, 60),
                context.documents.to_string(),
                context.chunks.to_string(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        text.push('\n');
        text.push_str(&table(["context", "documents", "chunks"], &rows));
    }
    if let Some(index) = &reply.index {
        text.push('\n');
        text.push_str(&facts([
            ("index bytes", index.bytes.to_string()),
            ("events behind", index.lag.to_string()),
            ("units", index.units.to_string()),
            ("model", shown(&index.model, 0)),
            ("tier", index.tier.clone()),
            ("failed files", index.failed.to_string()),
        ]));
    }
    for failure in &reply.failures {
        let (path, reason) = (shown(&failure.path, 0), shown(&failure.reason, 0));
        text.push_str(&format!("failed: {path}: {reason}\n"));
    }
    text
}

fn line(facets: &[Facet]) -> String {
    let all: Vec<String> = facets
        .iter()
        .map(|facet| format!("{} {}", shown(&facet.value, 40), facet.documents))
        .collect();
    all.join(", ")
}
