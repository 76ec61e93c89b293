//! Tests of template errors with their lines, and of layers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::*;
use proptest::prelude::*;

const HEAD: &str = "name = \"x\"\ndescription = \"d\"\nexamples = [\"# X\\n\\ntext\\n\"]\n";

fn refusal(text: &str) -> String {
    Template::parse(text, "x.toml").unwrap_err().to_string()
}

fn with(lines: &str) -> String {
    format!("{HEAD}{lines}")
}

fn section(lines: &str) -> String {
    format!("{HEAD}[section_schemas.a]\n{lines}")
}

#[test]
fn a_wrong_template_says_the_line_and_the_reason() {
    let cases = [
        ("name = \n".to_owned(), "x.toml:1: this is not TOML: "),
        (
            "\ndescription = \"d\"\n".to_owned(),
            "x.toml:1: `name` is missing",
        ),
        (
            "name = \"Bugs\"\n".to_owned(),
            "x.toml:1: invalid file type \"Bugs\": use lower-case letters",
        ),
        (
            format!("name = \"{}\"\n", "a".repeat(65)),
            "x.toml:1: invalid file type \"aaa",
        ),
        (
            with("section_schema = 1\n"),
            "x.toml:4: unknown key `section_schema`; did you mean `section_schemas`?",
        ),
        (
            with("required_sections = [\"a\"]\n"),
            "x.toml:4: `[section_schemas.a]` not found; those declared are none more",
        ),
        (
            with("required_sections = [\"a\"]\n[section_schemas.b]\nformat = \"freeform\"\n"),
            "those declared are b",
        ),
        (
            with(
                "required_sections = [\"a\",\n\"a\"]\n[section_schemas.a]\nformat = \"freeform\"\n",
            ),
            "x.toml:5: `a` is defined twice; the first is on line 4",
        ),
        (
            with(
                "required_sections = [\"a\"]\n[section_schemas.a]\nformat = \"freeform\"\nrequired = false\n",
            ),
            "x.toml:4: `a` is in `required_sections`, and its schema says `required = false`",
        ),
        (section("name = \"A\"\n"), "x.toml:4: `format` is missing"),
        (
            section("format = \"markdown_lists\"\n"),
            "x.toml:5: `format` is \"markdown_lists\"; it must be one of markdown_list, markdown_table, freeform, structured; did you mean `markdown_list`?",
        ),
        (
            section("name = \"B c\"\nformat = \"freeform\"\n"),
            "x.toml:4: the heading \"B c\" is found as `b_c`, not as `a`",
        ),
        (
            section("format = \"freeform\"\nmin_items = 2\n"),
            "x.toml:6: `min_items` counts items of a list",
        ),
        (
            section("format = \"markdown_list\"\nmin_items = 0\n"),
            "x.toml:6: `min_items` is 0; it must be 1 to",
        ),
        (
            section("format = \"markdown_list\"\nmin_items = -3\n"),
            "x.toml:6: `min_items` is -3",
        ),
        (
            section("format = \"markdown_list\"\nmin_length = \"3\"\n"),
            "x.toml:6: `min_length` is a string; it must be a whole number",
        ),
        (
            section("format = \"structured\"\n"),
            "the section `a` is `structured` and has no fields",
        ),
        (
            section("format = \"freeform\"\npattern = 'a('\npattern_says = \"x\"\n"),
            "x.toml:6: the pattern is wrong at byte 1: unclosed group",
        ),
        (
            section("format = \"freeform\"\npattern = 'a'\n"),
            "x.toml:4: `pattern_says` is missing",
        ),
        (
            section(&format!(
                "format = \"freeform\"\npattern = '{}'\n",
                "a".repeat(1025)
            )),
            "x.toml:6: the pattern has 1025 bytes; at most 1024",
        ),
        (
            section("format = \"freeform\"\npattern = '(?:\\w{1000}){1000}'\n"),
            "x.toml:6: the pattern needs too much memory",
        ),
        (
            section("format = \"freeform\"\n[[section_schemas.a.fields]]\nname = \"F\"\n"),
            "`fields` need a format with parts",
        ),
        (
            section(
                "format = \"structured\"\n[[section_schemas.a.fields]]\nname = \"F\"\nsays = 3\n",
            ),
            "x.toml:8: `says` is a integer; it must be a text",
        ),
        (
            section(
                "format = \"structured\"\n[[section_schemas.a.fields]]\nname = \"F\"\n[[section_schemas.a.fields]]\nname = \"G\"\nalso = [\"f\"]\n",
            ),
            "x.toml:8: `f` is defined twice; the first is on line 6",
        ),
        (
            section(
                "format = \"structured\"\n[[section_schemas.a.fields]]\nname = \"F\"\nseverity = \"warn\"\n",
            ),
            "x.toml:8: `severity` is \"warn\"; it must be one of error, warning",
        ),
        (
            with("[entries]\nname = \"e\"\nlevel = 3\n"),
            "x.toml:6: entries of level 3 are `under` sections",
        ),
        (
            with("[entries]\nname = \"e\"\nlevel = 4\n"),
            "x.toml:6: `level` is 4; it must be 2 to 3",
        ),
        (
            with("[entries]\nname = \"e\"\nlevel = 3\nunder = [\"a\"]\n"),
            "`[section_schemas.a]` not found",
        ),
        (
            with("[entries]\nname = \"e\"\nat_least_one_of = [\"F\"]\n"),
            "x.toml:6: `at_least_one_of` names \"F\", which is not a field",
        ),
        (
            with("[[format_rules]]\nname = \"r\"\nsays = \"s\"\n"),
            "x.toml:4: a format rule has one of `must`, `must_not` and `max_bytes`",
        ),
        (
            with("[[format_rules]]\nname = \"r\"\nsays = \"s\"\nsection = \"b\"\nmax_bytes = 9\n"),
            "`[section_schemas.b]` not found",
        ),
        (
            with("[appends]\nat = \"bottom\"\n"),
            "x.toml:5: `at` is \"bottom\"; it must be one of end, top",
        ),
        (
            with("[appends]\nunder = \"a\"\n"),
            "`[section_schemas.a]` not found",
        ),
        (
            format!(
                "{}[correction_prompts]\nmising_a = \"x\"\n",
                section("format = \"freeform\"\n")
            ),
            "x.toml:7: `mising_a` prompts for nothing: a prompt is `missing_`, `format_`, `content_` or `schema_` and a section, `entries` or a format rule; did you mean `missing_a`?",
        ),
        (
            "name = \"x\"\ndescription = \"d\"\n".to_owned(),
            "x.toml:1: `examples` is missing",
        ),
        (
            "name = \"x\"\ndescription = \"d\"\nexamples = []\n".to_owned(),
            "`examples` is missing",
        ),
        (
            format!(
                "name = \"x\"\ndescription = \"d\"\nexamples = [{}]\n",
                "'a',".repeat(9)
            ),
            "x.toml:3: there are 9 examples; at most 8",
        ),
        (
            format!("{HEAD}{}", "#".repeat(TEMPLATE_BYTES_MAX)),
            "x.toml:1: the file has",
        ),
        (
            format!(
                "{HEAD}{}",
                "[section_schemas]\n".to_owned()
                    + &(0..101)
                        .map(|n| format!("a{n} = {{ format = \"freeform\" }}\n"))
                        .collect::<String>()
            ),
            "there are 101 section_schemas; at most 100",
        ),
        (
            with("[section_schemas]\na = 1\n"),
            "x.toml:5: `a` is a integer; it must be a table",
        ),
    ];
    for (text, wanted) in cases {
        let refusal = refusal(&text);
        assert!(refusal.contains(wanted), "{refusal}\nwanted: {wanted}");
    }
}

#[test]
fn an_example_that_is_not_valid_is_told_with_its_line() {
    let rest = "required_sections = [\"a\"]\n[section_schemas.a]\nformat = \"markdown_list\"\n";
    let text = format!(
        "name = \"x\"\ndescription = \"d\"\nexamples = ['''\n# X\n\n## A\n\ntext\n''']\n{rest}"
    );
    assert_eq!(
        refusal(&text),
        "x.toml:6: example 1 is not valid by this template: Section A must be a Markdown list; it has no list items"
    );
    let text = format!(
        "name = \"x\"\ndescription = \"d\"\nexamples = [\"## A\\n- a\\n\",\n\"# B\"]\n{rest}"
    );
    assert!(
        refusal(&text).starts_with("x.toml:4: example 2 is not valid"),
        "{}",
        refusal(&text)
    );
}

#[test]
fn the_built_in_templates_are_as_declared() {
    let layers = Layers::built_in();
    assert_eq!(layers.broken(), []);
    let names: Vec<&str> = layers.all().map(|one| &*one.template.name).collect();
    assert_eq!(
        names,
        ["bugs", "features", "mental_model", "session_summary"]
    );
    let model = &layers.get("mental_model").unwrap().template;
    let required: Vec<&str> = model.required_sections().collect();
    assert_eq!(
        required,
        [
            "system_overview",
            "components",
            "data_flow",
            "key_decisions",
            "context_links"
        ]
    );
    for section in &model.sections {
        assert!(
            model.prompt("missing", &section.key).is_some(),
            "{}",
            section.key
        );
        assert!(!section.sample.is_empty(), "{}", section.key);
        let skeleton = model.section_skeleton(section);
        assert!(
            skeleton.starts_with(&format!("## {}\n\n", section.name)),
            "{skeleton}"
        );
    }
    let bugs = &layers.get("bugs").unwrap().template;
    assert!(
        bugs.entries
            .as_ref()
            .unwrap()
            .sample
            .starts_with("### BUG-14: ")
    );
    assert_eq!(bugs.section("resolved_issues").unwrap().sample, "None.");
    assert!(!bugs.entries.as_ref().unwrap().sample.contains("BUG-13"));
}

/// Returns a complete short template; `says` distinguishes versions.
fn tiny(name: &str, says: &str) -> String {
    format!("name = \"{name}\"\ndescription = \"{says}\"\nexamples = [\"text\"]\n")
}

fn source<'a>(layer: Layer, file: &'a str, text: &'a str) -> Source<'a> {
    let text = Ok(text);
    Source { layer, file, text }
}

fn says<'a>(layers: &'a Layers, name: &str) -> &'a str {
    &layers.get(name).unwrap().template.description
}

#[test]
fn a_later_layer_replaces_and_a_new_file_is_a_new_type() {
    let (user, project) = (tiny("bugs", "user"), tiny("bugs", "project"));
    let new = tiny("runbook", "new");
    let files = [
        source(Layer::Project, "p.toml", &project),
        source(Layer::User, "u.toml", &user),
        source(Layer::User, "runbook.toml", &new),
    ];
    let layers = Layers::load(&files, None);
    assert_eq!(layers.broken(), []);
    assert_eq!(says(&layers, "bugs"), "project");
    assert_eq!(layers.get("bugs").unwrap().layer, Layer::Project);
    assert_eq!(says(&layers, "runbook"), "new");
    assert_eq!(layers.all().count(), 5);
    let less = Layers::load(&files[1..2], Some(&layers));
    assert_eq!(says(&less, "bugs"), "user");
    assert!(less.get("runbook").is_none());
    let none = Layers::load(&[], Some(&less));
    assert_eq!(none.get("bugs").unwrap().layer, Layer::BuiltIn);
}

#[test]
fn a_broken_file_leaves_its_last_good_content_in_force() {
    let good = tiny("bugs", "good");
    let first = Layers::load(&[source(Layer::User, "u.toml", &good)], None);
    let broken = Layers::load(&[source(Layer::User, "u.toml", "name = 3")], Some(&first));
    assert_eq!(says(&broken, "bugs"), "good");
    assert_eq!(
        broken.broken()[0].to_string(),
        "u.toml:1: `name` is a integer; it must be a text"
    );
    // The last valid content survives a second failure.
    let unreadable = Source {
        layer: Layer::User,
        file: "u.toml",
        text: Err("permission denied".to_owned()),
    };
    let again = Layers::load(&[unreadable], Some(&broken));
    assert_eq!(says(&again, "bugs"), "good");
    assert_eq!(
        again.broken()[0].to_string(),
        "u.toml:1: cannot be read: permission denied"
    );
    let mended = tiny("bugs", "mended");
    let mended = Layers::load(&[source(Layer::User, "u.toml", &mended)], Some(&again));
    assert_eq!(
        (says(&mended, "bugs"), mended.broken()),
        ("mended", &[][..])
    );
    // Without a last valid content, the layer below is active.
    let never = Layers::load(&[source(Layer::User, "u.toml", "name = 3")], None);
    assert_eq!(never.get("bugs").unwrap().layer, Layer::BuiltIn);
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let text = tiny("bugs", "same");
    let files = [source(Layer::User, "u.toml", &text)];
    let first = Layers::load(&files, None);
    let second = Layers::load(&files, Some(&first));
    for one in first.all() {
        let other = second.get(&one.template.name).unwrap();
        assert!(std::sync::Arc::ptr_eq(&one.template, &other.template));
    }
}

#[test]
fn two_files_of_a_layer_cannot_have_one_template_nor_a_layer_too_many() {
    let text = tiny("a", "x");
    let layers = Layers::load(
        &[
            source(Layer::User, "b.toml", &text),
            source(Layer::User, "a.toml", &text),
        ],
        None,
    );
    assert_eq!(layers.get("a").unwrap().file, "a.toml");
    assert_eq!(
        layers.broken()[0].to_string(),
        "b.toml:1: the template `a` is in a.toml already: two files cannot have the same one"
    );
    let files: Vec<(String, String)> = (0..=TEMPLATES_MAX)
        .map(|number| {
            (
                format!("{number:03}.toml"),
                tiny(&format!("t{number}"), "x"),
            )
        })
        .collect();
    let files: Vec<Source<'_>> = files
        .iter()
        .map(|(file, text)| source(Layer::User, file, text))
        .collect();
    let layers = Layers::load(&files, None);
    assert_eq!(layers.all().count(), 4 + TEMPLATES_MAX);
    assert_eq!(
        layers.broken()[0].to_string(),
        "064.toml:1: there are 65 template files here; at most 64 are read"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// A template with text removed or inserted anywhere is either parsed or refused.
    #[test]
    fn any_template_is_read_or_refused(at in 0..4000_usize, cut in 0..200_usize, put in "\\PC{0,20}") {
        let (_, text) = Template::built_in()[2];
        let chars: Vec<char> = text.chars().collect();
        let at = at.min(chars.len());
        let end = (at + cut).min(chars.len());
        let torn: String = chars[..at].iter().copied().chain(put.chars()).chain(chars[end..].iter().copied()).collect();
        if let Err(broken) = Template::parse(&torn, "x.toml") {
            prop_assert!(broken.line >= 1);
            prop_assert!(broken.line as usize <= torn.lines().count() + 1, "{broken}");
        }
    }
}
