//! `lore docs …`: document sources and their contents.

mod send;
mod sources;

use serde_json::Value;

use super::command::Command;
use super::flag::{Fields, Flag, Kind};
use super::output::{is_terminal, text_for};
use super::parser::Matches;
use super::report::{
    Column, MORE, Rendered, Report, column, column_of, facts, more, rows, table_or,
};
use super::template::{at, fill, fill_each, is, list, number, raw};
use super::{Caller, Failure, search};

/// `lore docs` and its commands.
pub const DOCS: Command = Command::family(
    "docs",
    "Make folders and files searchable for every agent",
    &[
        sources::ADD,
        sources::REMOVE,
        sources::LIST,
        sources::RESCAN,
        search::DOCUMENTS,
        Command::call_with(
            "show",
            "Print the text of documents",
            "get_document_content",
            chunks,
            Report::Rendered(content),
        )
        .flags(&[&[
            Flag::positional(
                Kind::Texts,
                "documents",
                "DOCUMENTS",
                "Ids, as a search prints them",
            )
            .optional(),
            Flag::text("context", "ID", "The documents of this context").sends("context_id"),
            Flag::text("file", "NAME", "The documents of this file name").sends("file_name"),
            Flag::text("chunks", "FROM-TO", "Only these chunks, such as 2-5").local(),
            Flag::number("limit", "N", "At most this many chunks on a page").sends("max_chunks"),
            Flag::text(
                "next",
                "CURSOR",
                "The next page, as the previous page printed it",
            ),
        ]])
        .examples(&["lore docs show --file handbook.pdf --chunks 2-5"]),
        Command::call(
            "contexts",
            "List contexts of documents",
            "get_document_contexts",
            CONTEXTS,
        )
        .flags(&[&[
            Flag::text(
                "type",
                "TYPE",
                "Only of this type: work_item, project, contract, api, policy, or a part of an id",
            )
            .sends("context_type"),
            Flag::text("category", "TEXT", "Only with documents of this category")
                .sends("category_filter"),
        ]])
        .examples(&["lore docs contexts --type policy"]),
        Command::call(
            "explore",
            "List contexts, files, chunks or categories of documents",
            "explore_document_structure",
            Report::Rendered(structure),
        )
        .flags(&[&[
            Flag::positional(
                Kind::Choice(&[
                    ("contexts", "Contexts of documents"),
                    ("files", "Files"),
                    ("chunks", "Chunks of files"),
                    ("categories", "Categories"),
                ]),
                "what",
                "WHAT",
                "What to list",
            )
            .sends("structure_type")
            .default("contexts"),
            Flag::text("context", "ID", "Only this context").sends("context_id"),
            Flag::text("file", "NAME", "Only files of this name").sends("file_name"),
            Flag::number("limit", "N", "At most this many items").sends("max_items"),
        ]])
        .examples(&["lore docs explore files"]),
        Command::call_with(
            "summary",
            "Show what is indexed",
            "get_index_summary",
            detail,
            Report::Text(summary),
        )
        .flags(&[&[Flag::switch(
            "all",
            "Everything: all values, contexts and failures, the index",
        )
        .local()]])
        .examples(&["lore docs summary --all"]),
    ],
);

fn chunks(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let range = matches.text("chunks").map(search::range).transpose()?;
    fields.put_some("chunk_range", range.as_ref())
}

fn content(reply: &Value, _: &Matches) -> Rendered {
    let (mut text, mut aside) = (String::new(), String::new());
    for document in list(reply, "documents") {
        aside += &fill("{title} ({file_path})\n", document);
        if is(document, "changed") {
            aside += "lore: the file has changed since it was read\n";
        }
        let mut end: Option<u64> = None;
        for chunk in list(document, "chunks") {
            // Chunks overlap: the end of a chunk is the start of the next.
            let printed = end.map_or(0, |end| end.saturating_sub(number(chunk, "start")));
            let from = usize::try_from(printed).unwrap_or(usize::MAX);
            let content = raw(chunk, "content").get(from..).unwrap_or_default();
            text += &text_for(content, is_terminal());
            text.push('\n');
            end = Some(number(chunk, "end"));
        }
    }
    Rendered::good(text).aside(aside + &more(MORE, reply))
}

const CONTEXTS: Report = table_or(
    "contexts",
    &[
        column("context", "{context_id:60}"),
        column("name", "{context_name:40}"),
        column("type", "{type}"),
        column("documents", "{documents=0}"),
        column("chunks", "{chunks=0}"),
    ],
    "lore: no contexts of documents\n",
);

const ITEMS: &[Column] = &[
    column("id", "{id:60}"),
    column("is", "{preview|name:80}"),
    column("file", "{file_name:40}"),
    column("chunks", "{chunks}"),
];

fn structure(reply: &Value, _: &Matches) -> Rendered {
    let items = list(reply, "items");
    if items.is_empty() {
        return Rendered::empty("lore: no documents fit\n".to_owned() + &more(MORE, reply));
    }
    let rest = match number(reply, "total") > items.len() as u64 {
        true => fill("{total} in all\n", reply),
        false => String::new(),
    };
    Rendered::good(rows(ITEMS, items) + &rest)
}

fn detail(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let level = match matches.is("all") {
        true => "comprehensive",
        false => "detailed",
    };
    fields.put("detail_level", level)
}

fn summary(reply: &Value) -> String {
    let mut text = facts(
        &[
            column("documents", "{total_documents}"),
            column("chunks", "{total_chunks}"),
            column("contexts", "{total_contexts}"),
            column_of("file types", |reply| facets(reply, "file_types")),
            column_of("categories", |reply| facets(reply, "categories")),
            column_of("tags", |reply| facets(reply, "tags")),
        ],
        reply,
    );
    let contexts = list(reply, "contexts");
    if !contexts.is_empty() {
        let columns = &[
            column("context", "{context_id:60}"),
            column("documents", "{documents}"),
            column("chunks", "{chunks}"),
        ];
        text += &format!("\n{}", rows(columns, contexts));
    }
    let index = at(reply, "index");
    if !index.is_null() {
        let columns = &[
            column("index bytes", "{bytes}"),
            column("events behind", "{lag}"),
            column("units", "{units}"),
            column("model", "{model}"),
            column("tier", "{tier}"),
            column("failed files", "{failed}"),
        ];
        text += &format!("\n{}", facts(columns, index));
    }
    text + &fill_each("failed: {path}: {reason}\n", list(reply, "failures")).concat()
}

fn facets(reply: &Value, name: &str) -> String {
    fill_each("{value:40} {documents}", list(reply, name)).join(", ")
}
