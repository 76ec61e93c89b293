//! `lore search` and `lore docs search`.

use serde_json::{Value, json};

use super::command::Command;
use super::common::ORIGINS;
use super::flag::{Fields, Flag, Kind};
use super::output::sanitize;
use super::parser::Matches;
use super::report::{MORE, Rendered, Report, more};
use super::template::{at, fill, is, list, plain};
use super::{Caller, Failure};

/// Maximum length of a result's text, in characters.
const TEXT_CHARS: usize = 240;

const QUERY: Flag = Flag::positional(Kind::Words, "query", "QUERY", "Words or a question");

/// Search flags.
const HOW: &[Flag] = &[
    Flag::of(
        Kind::Choice(&[
            ("text", "By words"),
            ("vector", "By meaning"),
            ("hybrid", "By both"),
            (
                "semantic",
                "By both; the first results are ordered by their best sentences, which are quoted",
            ),
        ]),
        "mode",
        "MODE",
        "How to search; hybrid by default",
    )
    .sends("search_type"),
    Flag::number("limit", "N", "At most this many results on a page")
        .short('n')
        .sends("max_results"),
    Flag::switch("explain", "Show how each score is composed"),
    Flag::switch("full", "Print whole texts").local(),
    Flag::of(
        Kind::Word("rrf"),
        "rrf",
        "",
        "Fuse by reciprocal ranks instead of z-scores",
    )
    .sends("fusion"),
    Flag::text(
        "next",
        "CURSOR",
        "The next page, as the previous page printed it",
    ),
];

/// `lore search`.
pub const SEARCH: Command = Command::call_with(
    "search",
    "Search documents, messages, tool results, context files and checkpoints",
    "search",
    everything,
    Report::Rendered(results),
)
.flags(&[
    &[
        QUERY,
        Flag::of(
            Kind::Choices(&[
                ("document", "Parts of documents"),
                ("message", "Messages"),
                ("step", "Results of tools"),
                ("context", "Sections of context files"),
                ("checkpoint", "Checkpoints"),
            ]),
            "kind",
            "KIND",
            "Only this kind; may be repeated",
        )
        .sends("kinds"),
        Flag::of(
            Kind::Choices(ORIGINS),
            "origin",
            "ORIGIN",
            "Only words of these; may be repeated",
        )
        .sends("origins"),
        Flag::texts(
            "by",
            "AGENT",
            "Only what this agent recorded; may be repeated",
        )
        .sends("agents"),
        Flag::text(
            "project",
            "PROJECT",
            "Only what belongs to this project, by its id or `current`",
        ),
        Flag::text(
            "since",
            "DATE",
            "Only what was said or recorded from this date or time on",
        ),
        Flag::text(
            "until",
            "DATE",
            "Only what was said or recorded up to this date or time",
        ),
        Flag::switch(
            "here",
            "Only the session that --session or LORE_SESSION names",
        )
        .local(),
    ],
    HOW,
])
.examples(&[
    "lore search why did the login fail",
    "lore search --kind message --limit 5 uplink",
]);

fn everything(matches: &Matches, caller: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    if matches.is("here") {
        let session = caller.named_session()?.ok_or_else(|| {
            Failure::Usage(
                "--here needs a session: name one with --session or LORE_SESSION".to_owned(),
            )
        })?;
        fields.put("session", &session)?;
    }
    fields.put("include_content", &matches.is("full"))
}

/// `lore docs search`.
pub const DOCUMENTS: Command = Command::call_with(
    "search",
    "Search documents",
    "search_documents",
    filtered,
    Report::Rendered(results),
)
.flags(&[
    &[QUERY],
    HOW,
    &[
        Flag::texts("context", "ID", "Only this context; may be repeated").local(),
        Flag::text("context-name", "TEXT", "Only contexts of this name").local(),
        Flag::texts("category", "TEXT", "Only this category; may be repeated").local(),
        Flag::text("file", "NAME", "Only files of this name").local(),
        Flag::text("type", "EXTENSION", "Only this type of file").local(),
        Flag::texts("tag", "TEXT", "Only with this tag; may be repeated").local(),
        Flag::text(
            "chunk",
            "PATTERN",
            "Only chunks of this name; a * at the end matches any rest",
        )
        .local(),
        Flag::text(
            "chunks",
            "FROM-TO",
            "Only chunks of these numbers, such as 2-5",
        )
        .local(),
        Flag::text(
            "metadata",
            "JSON",
            "Only with these fields in the front matter, a JSON object",
        )
        .local(),
    ],
])
.examples(&[
    "lore docs search how are backups kept",
    "lore docs search --type pdf --limit 3 warranty",
]);

fn filtered(matches: &Matches, _: &Caller, fields: &mut Fields) -> Result<(), Failure> {
    let mut filters = Fields::default();
    for (flag, filter) in [
        ("context", "context_id"),
        ("category", "category"),
        ("tag", "tags"),
    ] {
        match matches.texts(flag).as_slice() {
            [] => {}
            texts => filters.put(filter, texts)?,
        }
    }
    for (flag, filter) in [
        ("context-name", "context_name"),
        ("file", "file_name"),
        ("type", "file_type"),
        ("chunk", "chunk_pattern"),
    ] {
        filters.put_some(filter, matches.text(flag))?;
    }
    if let Some(chunks) = matches.text("chunks") {
        filters.put("chunk_range", &range(chunks)?)?;
    }
    if let Some(metadata) = matches.text("metadata") {
        filters.put(
            "custom_metadata",
            &super::input::object("--metadata", metadata)?,
        )?;
    }
    fields.put_fields("filters", filters);
    fields.put("include_content", &true)
}

/// Parses `2-5`, or one number.
pub fn range(text: &str) -> Result<Value, Failure> {
    let (start, end) = text.split_once('-').unwrap_or((text, text));
    match (start.trim().parse::<u64>(), end.trim().parse::<u64>()) {
        (Ok(start), Ok(end)) => Ok(json!({"start": start, "end": end})),
        _ => Err(Failure::Usage(format!(
            "{text:?} is not a range of chunks; write FROM-TO, such as 2-5"
        ))),
    }
}

fn results(reply: &Value, matches: &Matches) -> Rendered {
    let mut aside = String::new();
    for note in [at(reply, "reason"), at(reply, "partial")] {
        if !note.is_null() {
            aside += &fill("lore: {}\n", note);
        }
    }
    let results = list(reply, "results");
    if results.is_empty() {
        // The warnings, which are printed behind it, say why, and name the nearest contexts.
        if list(reply, "warnings").is_empty() {
            let nearest = match list(reply, "nearest_contexts") {
                [] => "",
                _ => "; the nearest contexts are {nearest_contexts}",
            };
            aside += &fill(&format!("lore: nothing was found{nearest}\n"), reply);
        }
        return Rendered::nothing(aside);
    }
    let is_full = matches.is("full");
    let mut text = String::new();
    let mut is_elsewhere = false;
    for found in results {
        if is(found, "elsewhere") && !is_elsewhere {
            is_elsewhere = true;
            text += "from the rest of the machine:\n\n";
        }
        text += &result(found, is_full);
    }
    Rendered::good(text).aside(aside + &more(MORE, reply))
}

fn result(found: &Value, is_full: bool) -> String {
    let changed = match is(found, "changed") {
        true => "  (changed since)",
        false => "",
    };
    let suspect = match is(found, "suspect") {
        true => "  (suspect: it gives orders to a model)",
        false => "",
    };
    let line = "{score:.4}  {title:80}  {file_path|context_name}";
    let mut text = fill(line, found) + changed + suspect + &fill("\n        {id}\n", found);
    let (caption, content) = (at(found, "caption.text"), at(found, "content"));
    let content = if content.is_null() {
        at(found, "preview")
    } else {
        content
    };
    let shown = match (caption.is_null(), content.is_null()) {
        (false, _) if !is_full => caption,
        (_, false) => content,
        (_, true) => caption,
    };
    let one_line = plain(shown)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let width = if is_full { 0 } else { TEXT_CHARS };
    text += &format!("        {}\n", sanitize(&one_line, width));
    for name in ["text", "vector"] {
        let score = at(found, &format!("scores.{name}"));
        if !score.is_null() {
            let part = "{score:.4}, rank {rank=-}, adds {part:.4}\n";
            text += &fill(&format!("        {name}: {part}"), score);
        }
    }
    text + "\n"
}
