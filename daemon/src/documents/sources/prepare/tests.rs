//! Tests which metadata a document gets, and from where.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use serde_json::json;

use super::*;
use crate::events::documents::FileFingerprint;
use crate::log::Hash;

fn take_of(path: &str, bytes: &[u8], given: &SourceAdded) -> Result<PreparedDocument, ReadFailure> {
    let content = Content {
        bytes: bytes.to_vec(),
        stamp: FileFingerprint::default(),
        hash: Hash::of(bytes),
    };
    let base = Path::new("/home/me/shop");
    take(
        content,
        base,
        path,
        given,
        (&Settings::default(), &IngestWorkers::default()),
        &Redactor::default(),
    )
}

fn taken(path: &str, text: &str, given: &SourceAdded) -> PreparedDocument {
    take_of(path, text.as_bytes(), given).unwrap()
}

/// Returns the custom metadata of a document.
fn custom(taken: &PreparedDocument) -> Value {
    serde_json::from_str(taken.meta.custom.as_deref().unwrap()).unwrap()
}

fn given() -> SourceAdded {
    SourceAdded {
        context_id: Some("SHOP".to_owned()),
        context_name: Some("The shop".to_owned()),
        category: Some("guide".to_owned()),
        tags: vec!["Shop".to_owned(), "team".to_owned()],
        ..SourceAdded::default()
    }
}

/// No secret of a file is recorded, in any format or encoding; the text around it is chunked as usual.
#[test]
fn secrets_stay_outside() {
    let token = ["ghp_", "x9Qm2Lk8Vb4Zt7Wd1Rf6Yh3Jn5Pc0Sg8Ta2E"].concat();
    let text = format!(
        "---\ntitle: Use {token}\ntags: [\"{token}\"]\napi: {{password: swordfish}}\n---\n\
         # Pay with {token}\n\nOne {token}, two.\n\n## More\n\nThe end.\n"
    );
    let given = SourceAdded::default();
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let entity = format!("<h1>Pay</h1><p>One &#103;{}, two.</p>", &token[1..]);
    for (name, bytes) in [
        ("a.md", text.as_bytes()),
        ("a.md", utf16.as_slice()),
        ("a.html", entity.as_bytes()),
    ] {
        let taken = take_of(name, bytes, &given).unwrap();
        let said = format!("{taken:?}");
        assert!(!said.contains(&token), "{said}");
        assert!(said.contains("One [redacted:github-personal-token], two."));
        // The last warning follows the one about the encoding.
        let warning = taken.warnings.last().unwrap();
        assert!(
            warning.reason.contains("github-personal-token"),
            "{warning}"
        );
        for chunk in &taken.chunks {
            assert!(taken.text.get(chunk.range.clone()).is_some(), "{said}");
        }
        if name == "a.md" {
            assert_eq!(taken.meta.title, "Use [redacted:github-personal-token]");
            assert_eq!(custom(&taken)["api"]["password"], "[redacted:password]");
            let last = taken.chunks.last().unwrap();
            assert!(
                taken.text[last.range.clone()].contains("The end."),
                "{said}"
            );
            assert_eq!(last.path[0], "Pay with [redacted:github-personal-token]");
        }
    }
}

#[test]
fn what_the_front_matter_says_counts_most() {
    let text = "---\ntitle: Paying\ncategory: API\ntags: [pay, SHOP, Md]\ncontext_id: WI-7\n\
                context_name: Payments\nowner: ann\ncontent_analysis:\n  words: 3\n---\n# Else\n\nOne two.\n";
    let taken = taken("docs/pay.md", text, &given());
    assert_eq!(taken.meta.title, "Paying");
    assert_eq!(taken.meta.category.as_deref(), Some("API"));
    assert_eq!(taken.meta.tags, ["pay", "SHOP", "Md", "team"]);
    assert_eq!(
        (&*taken.meta.context_id, &*taken.meta.context_name),
        ("WI-7", "Payments")
    );
    assert_eq!(
        custom(&taken),
        json!({"owner": "ann", "content_analysis": {"words": 3}})
    );
    assert_eq!(taken.text, "# Else\n\nOne two.\n");
    assert_eq!(taken.meta.file_type, "md");
    assert_eq!(*taken.meta.hash, Hash::of(text.as_bytes()).0);
    assert_eq!(taken.warnings, []);
    let [chunk] = taken.chunks.as_slice() else {
        panic!("{:?}", taken.chunks)
    };
    assert_eq!(&taken.text[chunk.range.clone()], "# Else\n\nOne two.");
}

#[test]
fn then_what_the_source_says() {
    let taken = taken("docs/pay.MD", "# Head\n\nOne.\n", &given());
    assert_eq!(taken.meta.title, "Head");
    assert_eq!(taken.meta.category.as_deref(), Some("guide"));
    assert_eq!(taken.meta.tags, ["Shop", "team", "md"]);
    assert_eq!(
        (&*taken.meta.context_id, &*taken.meta.context_name),
        ("SHOP", "The shop")
    );
}

#[test]
fn then_where_the_file_is() {
    let none = SourceAdded::default();
    let at = |path: &str| {
        let taken = taken(path, "One.\n", &none);
        assert_eq!(taken.meta.context_id, taken.meta.context_name);
        (taken.meta.context_id, taken.meta.title)
    };
    assert_eq!(at("docs/api/pay.txt"), ("api".to_owned(), "pay".to_owned()));
    assert_eq!(at("pay.txt"), ("shop".to_owned(), "pay".to_owned()));
}

/// The source's context name applies only to the source's own context.
#[test]
fn a_context_of_its_own_has_a_name_of_its_own() {
    let of = |front: &str| {
        let taken = taken("x.md", &format!("---\n{front}\n---\nOne.\n"), &given());
        (taken.meta.context_id, taken.meta.context_name)
    };
    assert_eq!(
        of("context_id: WI-7"),
        ("WI-7".to_owned(), "WI-7".to_owned())
    );
    assert_eq!(
        of("context_id: SHOP"),
        ("SHOP".to_owned(), "The shop".to_owned())
    );
    assert_eq!(
        of("context_name: Till"),
        ("SHOP".to_owned(), "Till".to_owned())
    );
}

/// Names over the limit are truncated with a warning.
#[test]
fn names_have_an_end() {
    let long = "é".repeat(3000);
    let tags: Vec<String> = (0..150).map(|count| format!("t{count}")).collect();
    let text = format!(
        "---\ntitle: {long}\ncontext_id: {long}\ntags: [{}]\n---\nOne.\n",
        tags.join(", ")
    );
    let taken = taken("x.md", &text, &SourceAdded::default());
    assert_eq!(
        (taken.meta.title.len(), taken.meta.context_id.len()),
        (1024, 256)
    );
    assert_eq!(taken.meta.tags.len(), 100);
    let said: Vec<&str> = taken.warnings.iter().map(|it| it.reason.as_str()).collect();
    assert!(
        said.contains(&"`title` is cut: it has more than 1024 bytes"),
        "{said:?}"
    );
    assert!(
        said.contains(&"the tag \"t149\" is left out: 100 are kept"),
        "{said:?}"
    );
}

#[test]
fn what_is_no_document() {
    let given = SourceAdded::default();
    let not = |path: &str, bytes: &[u8]| take_of(path, bytes, &given).unwrap_err();
    assert_eq!(
        not("a.png", b"\x89PNG\r\n\x1a\n"),
        ReadFailure::Skipped("a PNG image".into())
    );
    let broken =
        |unread: ReadFailure| matches!(unread, ReadFailure::Failed(why) if !why.is_empty());
    assert!(broken(not("a.md", b"\x89PNG\r\n\x1a\n")));
    assert!(broken(not("a.docx", b"PK\x03\x04 no archive")));
    assert!(broken(not("a.pdf", b"%PDF-1.4\nno document")));
    // An empty file is text, too.
    let empty = taken("a.md", "", &given);
    assert_eq!((empty.chunks.len(), &*empty.meta.title), (0, "a"));
}

/// A document that is only a title can be found by it.
#[test]
fn a_title_alone_is_a_chunk() {
    let given = SourceAdded::default();
    let titled = taken("a.md", "---\ntitle: Extraction of Roots\n---\n\n", &given);
    assert_eq!(titled.chunks.len(), 1);
    assert!(titled.chunks[0].range.is_empty());
    assert_eq!(titled.meta.title, "Extraction of Roots");
}
