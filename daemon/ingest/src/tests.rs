//! Tests of kinds, encodings, front matter, and each text format with valid and hostile input.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{BlockKind, ExtractedText, IngestError, Kind, Limits, Sizes, chunks, extract};
use proptest::prelude::*;
use serde_json::json;

fn read(name: &str, text: &str) -> ExtractedText {
    extract(text.as_bytes(), name, &Limits::default()).unwrap()
}

fn refused(name: &str, bytes: &[u8]) -> IngestError {
    extract(bytes, name, &Limits::default()).unwrap_err()
}

/// Returns each section as its heading path and its text.
fn sections(document: &ExtractedText) -> Vec<(String, &str)> {
    let sections = document
        .sections
        .iter()
        .filter(|section| !section.range.is_empty());
    let reported = sections.map(|section| {
        (
            section.path.join("/"),
            document.text[section.range.clone()].trim(),
        )
    });
    reported.collect()
}

fn warning(document: &ExtractedText) -> (Option<usize>, &str) {
    assert_eq!(document.warnings.len(), 1, "{:?}", document.warnings);
    (document.warnings[0].line, &document.warnings[0].reason)
}

#[test]
fn the_kind_is_told_by_name_and_content() {
    let kind = |name: &str, text: &str| {
        let document = read(name, text);
        (document.kind, document.file_type)
    };
    let wanted = |kind: Kind, file_type: &str| (kind, file_type.to_owned());
    assert_eq!(kind("docs/A.MD", "x"), wanted(Kind::Markdown, "md"));
    assert_eq!(kind("a.markdown", "x"), wanted(Kind::Markdown, "markdown"));
    assert_eq!(kind("LICENSE", "x"), wanted(Kind::Text, "txt"));
    assert_eq!(kind(".gitignore", "x"), wanted(Kind::Text, "txt"));
    assert_eq!(kind("Makefile", "all:"), wanted(Kind::Code, "txt"));
    assert_eq!(kind("run", "#!/bin/sh\nls"), wanted(Kind::Code, "txt"));
    assert_eq!(
        kind("page", "\n<!DOCTYPE HTML><p>x"),
        wanted(Kind::Html, "html")
    );
    assert_eq!(kind("a.unknown", "x"), wanted(Kind::Text, "unknown"));
    let document = read("a.pdf", "only text");
    assert_eq!(document.kind, Kind::Text);
    assert!(warning(&document).1.contains("though its name says PDF"));
}

#[test]
fn what_is_no_text_is_refused_whatever_its_name_says() {
    assert_eq!(
        refused("a.md", b"\x7fELF\x02\x01"),
        IngestError::Binary {
            what: "a program".into()
        }
    );
    assert_eq!(
        refused("a.md", b"a\0b\0\0c"),
        IngestError::Binary {
            what: "not text".into()
        }
    );
    assert_eq!(
        refused("a.txt", b"\x01\x02\x03abc"),
        IngestError::Binary {
            what: "not text".into()
        }
    );
    assert!(matches!(
        refused("a.docx", b"a\0b\0\0c"),
        IngestError::Broken { .. }
    ));
    let small = Limits {
        file_bytes: 3,
        ..Limits::default()
    };
    let error = extract(b"four", "a.txt", &small).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the file has 4 bytes; at most 3 are read"
    );
}

#[test]
fn encodings_are_told_by_marks_and_by_what_is_likely() {
    let text = |bytes: &[u8]| extract(bytes, "a.txt", &Limits::default()).unwrap();
    let wide = |order: fn(u16) -> [u8; 2]| {
        "Größe\r\nzwei"
            .encode_utf16()
            .flat_map(order)
            .collect::<Vec<u8>>()
    };
    let (little, big) = (wide(u16::to_le_bytes), wide(u16::to_be_bytes));
    for bytes in [
        [b"\xff\xfe".to_vec(), little.clone()].concat(),
        [b"\xfe\xff".to_vec(), big.clone()].concat(),
        little,
        big,
        b"\xef\xbb\xbfGr\xc3\xb6\xc3\x9fe\rzwei".to_vec(),
    ] {
        assert_eq!(text(&bytes).text, "Größe\nzwei");
    }
    let latin = text(b"Die Gr\xf6\xdfe der \xdcbertragung, sch\xf6n.");
    assert_eq!(latin.text, "Die Größe der Übertragung, schön.");
    assert_eq!(warning(&latin).1, "read as windows-1252");
    let (japanese, ..) =
        encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。テストのために書きました。");
    assert!(text(&japanese).text.starts_with("これは日本語"));
    let faulty = text(
        "Größe und Übertragung, schön; größer \u{fffd}"
            .replace('\u{fffd}', "")
            .as_bytes(),
    );
    assert!(faulty.warnings.is_empty());
    let broken = [
        ("Größe und Übertragung, schön; größer ".as_bytes()),
        b"\xff!",
    ]
    .concat();
    let broken = text(&broken);
    assert!(
        broken.text.starts_with("Größe") && broken.text.ends_with("\u{fffd}!"),
        "{broken:?}"
    );
}

#[test]
fn front_matter_is_taken_off_and_typed() {
    let text = "---\ntitle: \"A: b\"\ncategory: ops\ntags: [one, Two, one]\ncontext_id: 42\ncontext_name: The thing\n\
        score: 1.5\ncount: 0x10\ndraft: false\ndate: 2024-05-01\nat: 2024-05-01 10:00:00 +02:00\nnothing: ~\nversion: 1.2.3\n\
        nested: {deep: [1, two]}\nbase: &b {x: 1}\ncopy: *b\n---\n# Heading\n\nText.\n";
    let document = read("a.md", text);
    let front = &document.front_matter;
    assert_eq!(document.title, "A: b");
    assert_eq!(document.text, "# Heading\n\nText.\n");
    assert_eq!(front.category.as_deref(), Some("ops"));
    assert_eq!(front.tags, ["one", "Two"]);
    assert_eq!(front.context_id.as_deref(), Some("42"));
    assert_eq!(front.context_name.as_deref(), Some("The thing"));
    let wanted = json!({
        "score": 1.5, "count": 16, "draft": false, "date": "2024-05-01", "at": "2024-05-01T10:00:00+02:00",
        "nothing": null, "version": "1.2.3", "nested": {"deep": [1, "two"]}, "base": {"x": 1}, "copy": {"x": 1},
    });
    assert_eq!(serde_json::Value::Object(front.custom.clone()), wanted);
    assert!(document.warnings.is_empty(), "{:?}", document.warnings);

    let toml = "+++\ntitle = \"T\"\ntags = \"a, #b,, a\"\nday = 2024-05-01\nat = 2024-05-01T10:00:00Z\n[extra]\nn = 1\n+++\nText.";
    let document = read("a.txt", toml);
    assert_eq!(
        (document.title.as_str(), document.text.as_str()),
        ("T", "Text.")
    );
    assert_eq!(document.front_matter.tags, ["a", "b"]);
    let wanted = json!({"day": "2024-05-01", "at": "2024-05-01T10:00:00Z", "extra": {"n": 1}});
    assert_eq!(
        serde_json::Value::Object(document.front_matter.custom),
        wanted
    );
}

#[test]
fn broken_front_matter_stays_text_with_a_warning() {
    let text = "---\ntitle: x\ntags: [a, b\nother: c\n---\nText.\n";
    let document = read("a.md", text);
    assert_eq!(document.text, text);
    assert_eq!(document.front_matter, super::FrontMatter::default());
    let (line, reason) = warning(&document);
    assert!(line.is_some_and(|line| (3..=5).contains(&line)), "{line:?}");
    assert!(
        reason.starts_with("the front matter is taken as text: "),
        "{reason}"
    );

    let document = read("a.md", "+++\na = 1\nb = = 2\n+++\nText.\n");
    assert_eq!(warning(&document).0, Some(3));
    let document = read("a.md", "---\na: 1\na: 2\n---\nText.\n");
    assert_eq!(
        warning(&document),
        (
            Some(3),
            "the front matter is taken as text: the key `a` is set twice"
        )
    );
    let document = read("a.md", "---\n- a\n---\nText.\n");
    assert!(warning(&document).1.contains("not a mapping"));
    // A horizontal rule, or a fence that is never closed, is not front matter.
    assert!(read("a.md", "---\n\nText\n\n---\n").warnings.is_empty());
    assert!(read("a.md", "---\ntitle: x\nText\n").warnings.is_empty());
    let document = read("a.md", "---\ntags: {a: 1}\ntitle: [x]\n---\nText.\n");
    assert_eq!(document.warnings.len(), 2);
    assert_eq!(document.front_matter.custom["tags"], json!({"a": 1}));
    assert_eq!(document.title, "a");
}

#[test]
fn aliases_in_front_matter_do_not_multiply() {
    let list = |name: char, of: &str| format!("{name}: &{name} [{}]\n", [of; 10].join(", "));
    let mut text = "---\n".to_owned() + &list('a', "ha");
    for (name, of) in ('b'..='i').zip('a'..) {
        text += &list(name, &format!("*{of}"));
    }
    let document = read("a.md", &(text + "---\nText.\n"));
    assert!(
        warning(&document).1.contains("more than 10000 values"),
        "{:?}",
        document.warnings
    );
    let deep = format!(
        "---\na: {}{}\n---\nText.\n",
        "[".repeat(5000),
        "]".repeat(5000)
    );
    assert!(
        warning(&read("a.md", &deep))
            .1
            .contains("the front matter is taken as text")
    );
}

#[test]
fn markdown_and_rst_have_sections_by_headings() {
    let document = read(
        "a.md",
        "Before.\n\n# One `x`\n\nText\n\n### Deep\n\n## Two\n\n> # no\n\n```\n# no\n```\n",
    );
    let wanted = [
        (String::new(), "Before."),
        ("One x".to_owned(), "# One `x`\n\nText"),
        ("One x/Deep".to_owned(), "### Deep"),
        ("One x/Two".to_owned(), "## Two\n\n> # no\n\n```\n# no\n```"),
    ];
    assert_eq!(sections(&document), wanted);
    assert_eq!(document.title, "One x");

    let rst = "=====\nTitle\n=====\n\nText.\n\nPart\n----\n\nMore.\n\nPart two\n--------\n\n| not\n\nShort\n--\n";
    let document = read("a.rst", rst);
    let paths: Vec<String> = sections(&document)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(paths, ["Title", "Title/Part", "Title/Part two"]);
    assert_eq!(document.title, "Title");
}

#[test]
fn html_becomes_markdown() {
    let html = "<!doctype html><title>The &amp; title</title><style>p { x }</style><script>if (a < b) { }</script>\
        <h1>Top</h1><p>Some <b>bold</b>\n  text.<br>A line.<p>Next <img alt=\"picture\"><svg><text>no</text></svg>\
        <ul><li>one<li>two<ol><li>inner</ol></ul><pre>\n  a\n b</pre>\
        <table><tr><th>k<th>v<tr><td>a<td>b</table><h2>Sub</h2><div>End &eacute;";
    let document = read("a.html", html);
    let wanted = "# Top\n\nSome bold text.\nA line.\n\nNext picture\n\n- one\n- two\n  1. inner\n\n```\n  a\n b\n```\n\n\
        | k | v |\n| --- | --- |\n| a | b |\n\n## Sub\n\nEnd \u{e9}";
    assert_eq!(document.text.trim_end(), wanted);
    assert_eq!(document.title, "The & title");
    let layout = format!(
        "<table><tr><td>menu<td><h2>News</h2><p>{}</table>",
        "word ".repeat(300)
    );
    let document = read("a.html", &layout);
    assert!(
        document
            .blocks
            .iter()
            .all(|block| block.sort != BlockKind::Rows),
        "{:?}",
        document.blocks
    );
}

#[test]
fn json_becomes_lines_under_its_keys() {
    let text = r#"{"name": "x", "server": {"host": "a\nb", "ports": [80, 1e400], "tls": {"on": true, "deep": {"er": {"key": null}}}},
        "users": [{"id": 1}, {"id": 2}], "end": 0.10}"#;
    let document = read("a.json", text);
    let wanted = [
        ("", "name: x"),
        ("server", "# server\n\nhost: a\nb\nports: 80, 1e+400"),
        ("server/tls", "# server.tls\n\non: true"),
        ("server/tls/deep", "# server.tls.deep\n\ner.key: null"),
        ("users[0]", "# users[0]\n\nid: 1"),
        ("users[1]", "# users[1]\n\nid: 2"),
        ("", "end: 0.10"),
    ];
    assert_eq!(
        sections(&document),
        wanted.map(|(path, text)| (path.to_owned(), text))
    );
    let lines = read("a.jsonl", "{\"a\": 1}\n{\"a\": 2}\n");
    assert_eq!(lines.text.trim_end(), "a: 1\na: 2");
    let broken = read("a.json", "{\"a\": 1,\n // why\n}");
    assert_eq!(broken.text, "{\"a\": 1,\n // why\n}");
    assert_eq!(warning(&broken).0, Some(2));
}

#[test]
fn yaml_and_toml_keep_their_text_under_its_keys() {
    let text = "# why\nname: x\nserver: # here\n  host: a\n  tls:\n    on: true\nlist:\n- a: 1\n- b\nend: y\n";
    let document = read("a.yaml", text);
    assert_eq!(document.text, text);
    let wanted = [
        ("", "# why\nname: x"),
        ("server", "server: # here\n  host: a"),
        ("server/tls", "tls:\n    on: true"),
        ("list", "list:\n- a: 1\n- b"),
        ("", "end: y"),
    ];
    assert_eq!(
        sections(&document),
        wanted.map(|(path, text)| (path.to_owned(), text))
    );
    assert_eq!(
        warning(&read("a.yml", "a: 1\n{{ if x }}\nb: [\n")).0,
        Some(3)
    );

    let text = "a = 1 # why\n[server.\"a.b\"]\nx = \"\"\"\n[no]\n\"\"\"\ny = [\n[1],\n]\n[[list]]\nz = 1\n";
    let document = read("a.toml", text);
    assert_eq!(document.text, text);
    let paths: Vec<String> = sections(&document)
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(paths, ["", "server/a.b", "list"]);
}

#[test]
fn csv_rows_name_their_columns() {
    let document = read("a.csv", "name,age,note\nAnn,31,\"a, \"\"b\"\"\"\nBob,,x\n");
    assert_eq!(
        document.text.trim_end(),
        "name | age | note\n\nname: Ann | age: 31 | note: a, \"b\"\nname: Bob | note: x"
    );
    assert_eq!(read("a.csv", "1;2\n3;4\n").text.trim_end(), "1 | 2\n3 | 4");
    assert_eq!(
        read("a.tsv", "a b\tc\n1,5\t2\n").text.trim_end(),
        "a b | c\n\na b: 1,5 | c: 2"
    );
    let open = format!("a,b\n\"{}", "x".repeat(100_000));
    let document = read("a.csv", &open);
    assert_eq!(document.text, open);
    assert!(warning(&document).1.contains("is a quote not closed?"));
}

/// Files whose extraction must return a text or an error, even on a small stack.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: String| text.into_bytes();
    vec![
        (
            "deep.json",
            text(["[".repeat(200_000), "]".repeat(200_000)].concat()),
        ),
        ("deepobj.json", text("{\"a\":".repeat(100_000))),
        (
            "bignum.json",
            text(format!("{{\"n\":{}}}", "9".repeat(1 << 20))),
        ),
        (
            "number.json",
            text("{\"$serde_json::private::Number\": \"x\", \"b\": 1}".to_owned()),
        ),
        (
            "odd.json",
            text("{\"$serde_json::private::Number\": [1]}".to_owned()),
        ),
        (
            "floats.json",
            text("[1e999,-1e999,1e-999,-0,18446744073709551616]".to_owned()),
        ),
        (
            "surrogates.json",
            text(r#"{"a":"\ud800","c":"\u0000"}"#.to_owned()),
        ),
        (
            "keys.json",
            text(format!(
                "{{{}}}",
                (0..50_000)
                    .map(|at| format!("\"k{}\":{at}", at / 2))
                    .collect::<Vec<_>>()
                    .join(",")
            )),
        ),
        ("deep.yaml", text("[".repeat(100_000))),
        (
            "indent.yaml",
            text(
                (0..2000)
                    .map(|at| format!("{}k:\n", " ".repeat(at)))
                    .collect(),
            ),
        ),
        ("dashes.yaml", text("- ".repeat(100_000))),
        ("tags.yaml", text("!!a &b *c ? : - ".repeat(10_000))),
        ("deep.toml", text(format!("a = {}", "[".repeat(100_000)))),
        ("heads.toml", text("[a.".repeat(50_000))),
        (
            "deep.html",
            text("<div><table><tr><td><ul><li>".repeat(30_000)),
        ),
        (
            "open.html",
            text("<script>".to_owned() + &"x".repeat(1 << 20)),
        ),
        (
            "attributes.html",
            text(format!(
                "<a {}>",
                (0..50_000)
                    .map(|at| format!("a{at}=b "))
                    .collect::<String>()
            )),
        ),
        ("headings.md", text("# h\n".repeat(100_000))),
        (
            "nest.md",
            text([">".repeat(50_000), "[".repeat(50_000), "](".repeat(50_000)].concat()),
        ),
        ("fences.md", text("```\n~~~\n".repeat(50_000))),
        (
            "table.md",
            text(format!("|{}\n", "a|".repeat(200)).repeat(1000)),
        ),
        ("line.md", vec![b'x'; 4 << 20]),
        ("dots.txt", vec![b'.'; 4 << 20]),
        ("quotes.txt", text(". \"'(".repeat(500_000))),
        ("numbers.txt", text("1. ".repeat(500_000))),
        ("lines.txt", text("\n \n".repeat(500_000))),
        ("rules.rst", text("===\n---\n".repeat(100_000))),
        (
            "indent.rs",
            text(
                (0..100_000)
                    .map(|at| format!("{}x\n", " ".repeat(at % 40)))
                    .collect(),
            ),
        ),
        (
            "badutf8.txt",
            [
                &b"\xc0\xaf\xe0\x80\xaf\xed\xa0\x80\xf8\x88\x80\x80\x80\xff\xfe"[..],
                &b"\xf0\x9f".repeat(1000),
            ]
            .concat(),
        ),
        ("csv.csv", text(format!("a,b\n\"{}", "x".repeat(4 << 20)))),
        ("columns.csv", text(format!("{}\n", "a,".repeat(500_000)))),
        ("empty.md", Vec::new()),
        ("zeros.txt", vec![0; 1 << 20]),
    ]
}

#[test]
fn hostile_files_end_in_a_text_or_a_refusal() {
    for (name, bytes) in hostile() {
        let reader = std::thread::Builder::new().stack_size(512 << 10);
        let read = reader.spawn(move || {
            let document = extract(&bytes, name, &Limits::default())?;
            let most = chunks(&document, &Sizes::default())
                .iter()
                .map(|chunk| chunk.range.len())
                .max();
            Ok((document, most.unwrap_or_default()))
        });
        match read.unwrap().join().unwrap() {
            Ok((_, longest)) => assert!(longest <= 180 * 16, "{name}: {longest}"),
            Err(refused) => assert!(
                !matches!(refused, IngestError::Fault { .. }),
                "{name}: {refused}"
            ),
        }
    }
    assert_eq!(
        refused("a.json", "[".repeat(1000).as_bytes()),
        IngestError::TooDeep {
            what: "JSON".into(),
            most: 126
        }
    );
    assert_eq!(
        refused("a.yaml", "- ".repeat(1000).as_bytes()),
        IngestError::TooDeep {
            what: "YAML".into(),
            most: 128
        }
    );
}

#[test]
fn text_sections_and_time_have_limits() {
    let limits = Limits {
        text_bytes: 100,
        sections: 3,
        ..Limits::default()
    };
    let html = "<h2>a</h2><p>word word word".repeat(50);
    let document = extract(html.as_bytes(), "a.html", &limits).unwrap();
    assert!(
        document.text.len() < 110 && document.sections.len() == 3,
        "{document:?}"
    );
    assert_eq!(warning(&document).1, "the text is cut after 100 bytes");
    let limits = Limits {
        time: std::time::Duration::ZERO,
        ..Limits::default()
    };
    let error = extract("# a\n\n".repeat(10_000).as_bytes(), "a.md", &limits).unwrap_err();
    assert!(matches!(error, IngestError::TooSlow { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        name in "[a-z.]{0,6}(md|txt|rst|html|rs|json|yaml|toml|csv|docx|pptx|pdf)?",
    ) {
        let read = extract(&bytes, &name, &Limits::default());
        prop_assert!(!matches!(read, Err(IngestError::Fault { .. })), "{:?}", read);
    }

    #[test]
    fn sections_and_blocks_cover_the_text(text in "(# [a-z]{1,3}\n|[a-z. ]{0,9}\n|- x\n|```\n|---\n|<h2>|key:\n|  ){0,40}") {
        for name in ["a.md", "a.rst", "a.html", "a.yaml", "a.rs"] {
            let document = read(name, &text);
            let mut end = 0;
            for section in &document.sections {
                prop_assert_eq!(section.range.start, end);
                end = section.range.end;
            }
            prop_assert_eq!(end, document.text.len());
            let mut end = 0;
            for block in &document.blocks {
                prop_assert!(document.text[end..block.range.start].trim().is_empty());
                prop_assert!(block.range.start < block.range.end);
                end = block.range.end;
            }
            prop_assert!(document.text[end..].trim().is_empty());
        }
    }
}
