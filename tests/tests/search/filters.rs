//! Every filter, alone and combined, against an independent evaluation of the files.

use proptest::prelude::*;
use serde_json::{Value, json};
use tests::{Daemon, serve};

use super::{add, chunks, folder};

/// A test file with its front matter.
struct File {
    name: String,
    context: &'static str,
    category: Option<&'static str>,
    tags: Vec<&'static str>,
    pages: u64,
    chunks: u64,
}

fn files() -> Vec<File> {
    let contexts = ["WI-1", "WI-2", "API-1"];
    let categories = [None, Some("legal"), Some("technical")];
    let tags: [&[&str]; 4] = [&[], &["red"], &["red", "blue"], &["Green"]];
    (0..24)
        .map(|number| File {
            name: format!("f{}.{}", number % 20, ["md", "txt"][number % 2]),
            context: contexts[number % 3],
            category: categories[(number / 3) % 3],
            tags: tags[(number / 2) % 4].to_vec(),
            pages: number as u64,
            chunks: 1 + (number % 3) as u64,
        })
        .collect()
}

fn text(file: &File) -> String {
    let category = file
        .category
        .map_or(String::new(), |one| format!("category: {one}\n"));
    let mut text = format!(
        "---\ntitle: t{}\ncontext_id: {}\n{category}tags: [{}]\npages: {}\n---\n",
        file.pages,
        file.context,
        file.tags.join(", "),
        file.pages
    );
    for chunk in 0..file.chunks {
        // Long enough that two never fit into one chunk.
        text.push_str(&format!(
            "Kiwi number {chunk}. {}\n\n",
            "A kiwi grows here. ".repeat(40)
        ));
    }
    text
}

/// Evaluates the filters independently.
fn oracle(files: &[File], filters: &Value) -> Vec<String> {
    let list = |name: &str| -> Option<Vec<String>> {
        let value = filters.get(name)?;
        Some(match value {
            Value::Array(all) => all
                .iter()
                .map(|one| one.as_str().unwrap().to_lowercase())
                .collect(),
            one => vec![one.as_str().unwrap().to_lowercase()],
        })
    };
    let is_in = |name: &str, own: &[String]| {
        list(name).is_none_or(|wanted| own.iter().any(|own| wanted.contains(&own.to_lowercase())))
    };
    let mut found = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let own = |text: &str| vec![text.to_owned()];
        let kind = file.name.rsplit('.').next().unwrap();
        let mut tags: Vec<String> = file.tags.iter().map(|tag| (*tag).to_owned()).collect();
        tags.push(kind.to_owned());
        let fits = is_in("context_id", &own(file.context))
            && is_in("category", &file.category.map_or(Vec::new(), own))
            && is_in("file_name", &own(&file.name))
            && is_in("file_type", &own(kind))
            && is_in("tags", &tags)
            && filters
                .pointer("/custom_metadata/pages/gte")
                .is_none_or(|low| file.pages >= low.as_u64().unwrap());
        if !fits {
            continue;
        }
        for chunk in 0..file.chunks {
            let in_range = filters.get("chunk_range").is_none_or(|range| {
                (range["start"].as_u64().unwrap()..=range["end"].as_u64().unwrap()).contains(&chunk)
            });
            let index = format!("{}_chunk_{chunk}", file.name);
            let is_named = filters.get("chunk_pattern").is_none_or(|pattern| {
                let pattern = pattern.as_str().unwrap();
                match pattern.strip_suffix('*') {
                    Some(start) => index.starts_with(start),
                    None => pattern == index || pattern == file.name,
                }
            });
            if in_range && is_named {
                found.push(format!("{number}:{index}"));
            }
        }
    }
    found.sort();
    found
}

/// Collects all pages of a search.
fn found(daemon: &Daemon, filters: &Value, search_type: &str) -> (Vec<String>, u64) {
    let mut all = Vec::new();
    let mut next = Value::Null;
    loop {
        let reply = daemon.call(
            "search_documents",
            json!({"query": "kiwi", "filters": filters, "search_type": search_type,
                "max_results": 7, "include_content": false, "next": next}),
        );
        let pages = reply["results"].as_array().unwrap().iter().map(|result| {
            let path = result["file_path"].as_str().unwrap();
            path.rsplit('/').nth(1).unwrap().to_owned()
        });
        let named = pages.zip(chunks(&reply));
        all.extend(named.map(|(folder, chunk)| format!("{folder}:{chunk}")));
        match reply.get("next") {
            Some(more) => next = more.clone(),
            None => return (all, reply["total"].as_u64().unwrap()),
        }
    }
}

fn some_filters() -> impl Strategy<Value = Value> {
    let maybe = |values: Vec<Value>| prop::option::weighted(0.35, prop::sample::select(values));
    let range = (0_u64..3, 0_u64..3).prop_map(|(a, b)| json!({"start": a.min(b), "end": a.max(b)}));
    (
        maybe(vec![json!("WI-1"), json!(["WI-1", "API-1"]), json!("none")]),
        maybe(vec![json!("legal"), json!(["legal", "TECHNICAL"])]),
        maybe(vec![json!("f3.txt"), json!("f2.md")]),
        maybe(vec![json!("md"), json!("txt")]),
        maybe(vec![json!("red"), json!(["blue", "green"]), json!("re")]),
        maybe(vec![
            json!("f1*"),
            json!("f2.md_chunk_1"),
            json!("f5.txt"),
            json!("f2.md_chunk_*"),
        ]),
        prop::option::weighted(0.3, range),
        maybe(vec![json!({"pages": {"gte": 12}})]),
    )
        .prop_map(
            |(context, category, name, kind, tags, pattern, range, custom)| {
                let mut filters = serde_json::Map::new();
                for (key, value) in [
                    ("context_id", context),
                    ("category", category),
                    ("file_name", name),
                    ("file_type", kind),
                    ("tags", tags),
                    ("chunk_pattern", pattern),
                    ("chunk_range", range),
                    ("custom_metadata", custom),
                ] {
                    if let Some(value) = value {
                        filters.insert(key.to_owned(), value);
                    }
                }
                Value::Object(filters)
            },
        )
}

/// A filter that excludes everything is named, with near values; filters may come as JSON text, and file types have one
/// name each.
#[test]
fn the_filter_that_excludes_everything_is_named() {
    let (home, daemon) = serve!();
    let docs = folder(
        &home,
        "docs",
        &[
            ("login.md", "# Login\n\nA kiwi logs in."),
            ("notes.txt", "A kiwi takes notes."),
        ],
    );
    add(&daemon, &docs, json!({}));
    let search = |filters: Value| {
        let args = json!({"query": "kiwi", "search_type": "text", "filters": filters});
        daemon.call("search_documents", args)
    };
    for (filters, words) in [
        (
            json!({"file_name": "docs/Login.md"}),
            ["`file_name`", "login.md"],
        ),
        (
            json!({"file_type": "pdf", "file_name": "login.md"}),
            ["`file_type`", "md"],
        ),
        (
            json!({"file_type": "txt", "file_name": "login.md"}),
            ["file_name, file_type", "together"],
        ),
        (json!({"tags": ["red"]}), ["`tags`", "`red`"]),
        (
            json!({"chunk_range": {"start": 900, "end": 950}}),
            ["`chunk_range`", "the highest is 0"],
        ),
        (
            json!({"chunk_pattern": "logon.md_chunk_*"}),
            ["`chunk_pattern`", "login.md_chunk_0"],
        ),
        (
            json!({"chunk_pattern": "login.md", "file_type": "txt"}),
            ["file_type, chunk_pattern", "together"],
        ),
    ] {
        let reply = search(filters.clone());
        assert_eq!(reply["total"], 0, "{filters}");
        let warning = reply["warnings"][0].as_str().unwrap_or_default();
        assert!(
            words.iter().all(|word| warning.contains(word)),
            "{filters}: {warning}"
        );
    }
    for filters in [
        json!({"file_type": "text"}),
        json!(r#"{"file_type": "text"}"#),
        json!(r#"{"file_name": "notes.txt"}"#),
    ] {
        let reply = search(filters.clone());
        assert_eq!(chunks(&reply), ["notes.txt_chunk_0"], "{filters}");
    }
}

/// So is a filter by kind or time in a search of everything, alone or with others.
#[test]
fn the_kind_or_time_that_excludes_everything_is_named() {
    let (_home, daemon) = serve!();
    let message = json!({"sender": "user", "content": "A kiwi grows here."});
    daemon.call("record_message", message);
    for (filters, words) in [
        (json!({"kinds": ["step"]}), ["`kinds`", "`message`"]),
        (
            json!({"kinds": ["step", "checkpoint"]}),
            ["`checkpoint` or `step`", "excludes everything"],
        ),
        (
            json!({"since": "2099-01-01"}),
            ["`since`", "the newest text is of"],
        ),
        (
            json!({"until": "1999-01-01"}),
            ["`until`", "the oldest text is of"],
        ),
        (
            json!({"kinds": ["message"], "until": "1999-01-01"}),
            ["`until`", "excludes everything"],
        ),
    ] {
        for query in ["kiwi", "something else"] {
            let mut args = filters.clone();
            args["query"] = json!(query);
            args["search_type"] = json!("text");
            let reply = daemon.call("search", args);
            let warning = reply["warnings"][0].as_str().unwrap_or_default();
            assert!(
                words.iter().all(|word| warning.contains(word)),
                "{filters}: {warning}"
            );
        }
    }
    // A filter that leaves something is no reason.
    let args = json!({"query": "zebra", "kinds": ["message"], "since": "2000-01-01", "search_type": "text"});
    let reply = daemon.call("search", args);
    let warning = reply["warnings"][0].as_str().unwrap();
    assert!(!warning.contains("excludes"), "{warning}");
}

/// All matching files are found once, with the right count, in text and in vectors.
#[test]
fn filters_are_exact() {
    let (home, daemon) = serve!();
    let mut files = files();
    let written: Vec<(String, String)> = files
        .iter()
        .enumerate()
        .map(|(number, file)| (format!("{number}/{}", file.name), text(file)))
        .collect();
    let written: Vec<(&str, &str)> = written
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let docs = folder(&home, "docs", &written);
    add(&daemon, &docs, json!({}));
    // Other tests check the chunking.
    let explored = daemon.call(
        "explore_document_structure",
        json!({"structure_type": "files", "max_items": 200}),
    );
    for item in explored["items"].as_array().unwrap() {
        let number: usize = item["name"].as_str().unwrap()[1..].parse().unwrap();
        files[number].chunks = item["chunks"].as_u64().unwrap();
    }
    assert!(files.iter().any(|file| file.chunks > 2));
    let (mut all, _) = found(&daemon, &json!({}), "text");
    all.sort();
    assert_eq!(all, oracle(&files, &json!({})));

    let cases = ProptestConfig::with_cases(60);
    proptest!(cases, |(filters in some_filters())| {
        let expected = oracle(&files, &filters);
        for search_type in ["text", "vector"] {
            let (mut all, total) = found(&daemon, &filters, search_type);
            all.sort();
            prop_assert_eq!(total, all.len() as u64, "{} {}", search_type, filters);
            match search_type {
                "text" => prop_assert_eq!(&all, &expected, "{}", filters),
                // Vectors that are not near enough are no matches.
                _ => prop_assert!(all.iter().all(|one| expected.contains(one)), "{filters}"),
            }
        }
    });
}
