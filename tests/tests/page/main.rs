//! The page in a real browser. Needs `chromium` and `chromedriver` (Debian: chromium, chromium-driver):
//! `cargo test --workspace --test page`.
#![allow(clippy::indexing_slicing)]

mod browser;
mod memory;

use browser::{Browser, ColorScheme};
use memory::Memory;
use serde_json::json;

/// Widths of the screenshots.
const WIDTHS: [u32; 3] = [400, 820, 1280];

/// Every view of a memory with something in each.
fn views(memory: &Memory) -> Vec<(&'static str, String)> {
    let session = memory.session();
    vec![
        ("now", "/now".to_owned()),
        ("session", format!("/session/{session}")),
        ("event", "/event/2".to_owned()),
        ("given", "/given".to_owned()),
        ("given-one", format!("/given/{}", memory.pack())),
        ("search", "/search?q=gateway".to_owned()),
        ("entities", "/entities".to_owned()),
        (
            "entity",
            format!("/entities?session={session}&name=dc001-leaf-001"),
        ),
        ("checkpoints", "/checkpoints".to_owned()),
        (
            "checkpoint",
            format!("/checkpoints/{}", memory.checkpoints()[0]),
        ),
        (
            "differences",
            format!(
                "/checkpoints?from={}&to={}",
                memory.checkpoints()[0],
                memory.checkpoints()[1]
            ),
        ),
        ("notes", "/notes".to_owned()),
        (
            "note",
            format!("/notes?project={}&file=mental_model", memory.project()),
        ),
        ("health", "/health".to_owned()),
    ]
}

/// Every view has a heading, no error, nothing in the console, and nothing that is wider than the window.
#[tokio::test]
async fn every_view_opens_at_three_widths() {
    let memory = Memory::new();
    let browser = Browser::open(&memory).await;
    let folder = browser::screenshots();
    for (name, path) in views(&memory) {
        for width in WIDTHS {
            browser.resize(width, 900).await;
            browser.go(&path).await;
            assert!(!browser.text("h1").await.is_empty(), "{path}");
            assert_eq!(
                browser.count("[role=alert]").await,
                0,
                "{path}: {}",
                browser.text("main").await
            );
            let wider = "return document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(
                browser.run(wider, vec![]).await,
                json!(0),
                "{path} at {width}"
            );
            browser
                .shoot(&folder.join(format!("{name}-{width}.png")))
                .await;
        }
        assert_eq!(browser.console().await, Vec::<String>::new(), "{path}");
    }
    browser.close().await;
    let browser = Browser::open_as(&memory, ColorScheme::Dark).await;
    for (name, path) in views(&memory) {
        browser.resize(1280, 900).await;
        browser.go(&path).await;
        browser
            .shoot(&folder.join(format!("{name}-dark.png")))
            .await;
        assert_eq!(browser.console().await, Vec::<String>::new(), "{path}");
    }
    browser.close().await;
}

/// What another program records appears by itself.
#[tokio::test]
async fn now_updates_while_others_record() {
    let memory = Memory::new();
    let browser = Browser::open(&memory).await;
    browser.go("/now").await;
    let before = browser.text("main").await;
    assert!(!before.contains("Brand new session"), "{before}");
    memory.record(
        "create_session",
        json!({"session": "later", "title": "Brand new session"}),
    );
    memory.record(
        "record_message",
        json!({"session": "later", "sender": "user", "content": "Is it there?"}),
    );
    browser
        .until("document.querySelector('main').textContent.includes('Brand new session')")
        .await;
    browser.close().await;
}

/// A position in the past is part of the address; back and forward go through the views.
#[tokio::test]
async fn views_go_back_in_time_and_back() {
    let memory = Memory::new();
    let browser = Browser::open(&memory).await;
    browser.go(&format!("/session/{}", memory.session())).await;
    let now = browser.text("main").await;
    assert!(now.contains("The gateway listens on port 8443"), "{now}");
    let choose = "const slider = document.getElementById('position'); slider.value = '2';
        slider.dispatchEvent(new Event('input')); slider.dispatchEvent(new Event('change'));";
    browser.run(choose, vec![]).await;
    browser.until("location.search === '?at=2' && !document.querySelector('main').hasAttribute('aria-busy')").await;
    let past = browser.text("main").await;
    assert!(!past.contains("The gateway listens on port 8443"), "{past}");
    assert_eq!(browser.text("#as-of").await, "position 2");
    browser.go("/search?q=gateway&at=3").await;
    let found = browser.text("main").await;
    assert!(found.contains("Only what was recorded up to"), "{found}");
    assert!(
        !found.contains("The gateway listens on port 8443"),
        "{found}"
    );
    browser.run("history.back()", vec![]).await;
    browser.run("history.back()", vec![]).await;
    browser
        .until("document.getElementById('as-of').textContent === 'now'")
        .await;
    browser.until("document.querySelector('main').textContent.includes('The gateway listens on port 8443')").await;
    browser.close().await;
}

/// Notes are listed in the version that they had, and not before they were written.
#[tokio::test]
async fn notes_go_back_in_time() {
    let memory = Memory::new();
    let browser = Browser::open(&memory).await;
    let [first, second] = memory.notes();
    for (at, version) in [(second, Some("2")), (first, Some("1")), (first - 1, None)] {
        browser.go(&format!("/notes?at={at}")).await;
        let shown = browser.text("main").await;
        assert!(shown.contains("As of the position"), "{shown}");
        match version {
            None => assert!(shown.contains("No project has notes yet"), "{shown}"),
            Some(version) => assert_eq!(browser.text("td:nth-of-type(3)").await, version),
        }
    }
    browser.close().await;
}

/// The palette finds views, sessions and words, by keys alone; a search marks what it found.
#[tokio::test]
async fn the_palette_leads_to_a_search() {
    let memory = Memory::new();
    let browser = Browser::open(&memory).await;
    browser.go("/health").await;
    browser.keys("/").await;
    browser
        .until("document.getElementById('palette').open")
        .await;
    browser.keys("gateway\u{e007}").await;
    browser
        .until("location.pathname === '/search' || location.pathname.startsWith('/session/')")
        .await;
    browser.go("/search?q=gateway").await;
    assert_eq!(
        browser
            .run(
                "return document.querySelector('mark').textContent.toLowerCase()",
                vec![]
            )
            .await,
        json!("gateway")
    );
    browser.close().await;
}

/// A step is read when it is opened.
#[tokio::test]
async fn steps_unfold() {
    let memory = Memory::new();
    let browser = Browser::open(&memory).await;
    browser.go(&format!("/session/{}", memory.session())).await;
    browser
        .run("document.querySelector('details.step').open = true", vec![])
        .await;
    browser
        .until("document.querySelector('details.step').textContent.includes('dev@example.com')")
        .await;
    browser.close().await;
}

/// Whatever is stored is text: it makes no element, runs nothing, and hides nothing.
#[tokio::test]
async fn hostile_texts_are_text() {
    let memory = Memory::new();
    let texts = [
        "<script>window.hacked = 1</script>",
        "<img src=x onerror=\"window.hacked = 1\">",
        "<svg onload='window.hacked = 1'><a href='javascript:window.hacked=1'>x</a></svg>",
        "[click](javascript:window.hacked=1) ![x](http://evil.example/x.png) <http://evil.example>",
        "</pre></main><iframe srcdoc='<script>parent.hacked=1</script>'></iframe>",
        "\u{202e}detrever\u{202c} and \u{200b}hidden\u{200b} and \u{7}bell",
        "&lt;b&gt; &amp; \u{0}",
        "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1}",
    ];
    for text in texts {
        memory.record(
            "record_message",
            json!({"session": "hostile", "sender": "user", "content": text}),
        );
        // A title has no control characters.
        if text.chars().all(|one| !one.is_control()) {
            memory.record(
                "update_session",
                json!({"session": "hostile", "title": text}),
            );
        }
    }
    let line = "x".repeat(10 << 20);
    memory.record(
        "record_step",
        json!({"session": "hostile", "tool": "<b>tool</b>", "result": line}),
    );
    let browser = Browser::open(&memory).await;
    let scripts = browser.count("script").await;
    for path in [
        "/session/hostile",
        "/now",
        "/search?q=hacked",
        "/health",
        "/notes",
        "/entities",
    ] {
        browser.go(path).await;
        assert_eq!(
            browser
                .run("return window.hacked === undefined", vec![])
                .await,
            json!(true),
            "{path}"
        );
        for element in [
            "main img",
            "main iframe",
            "main svg[onload]",
            "main a[href^='javascript']",
            "main b",
        ] {
            assert_eq!(browser.count(element).await, 0, "{path}: {element}");
        }
        assert_eq!(browser.count("script").await, scripts, "{path}");
        assert_eq!(browser.console().await, Vec::<String>::new(), "{path}");
    }
    browser.go("/session/hostile").await;
    let shown = browser.text("main").await;
    for text in &texts[..5] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    // A character that turns text around is named, so nothing reads other than it is.
    assert!(
        shown.contains("U+202E") && shown.contains("U+200B") && shown.contains("U+0007"),
        "{shown}"
    );
    browser
        .run("document.querySelector('details.step').open = true", vec![])
        .await;
    browser
        .until("document.querySelector('details.step').textContent.includes('Show all')")
        .await;
    browser.close().await;
}

/// What was given is there to the letter, each part with a link to the event that it rests on; health has the doctor's findings.
#[tokio::test]
async fn a_given_text_is_shown_as_the_model_received_it() {
    let memory = Memory::new();
    let browser = Browser::open(&memory).await;
    browser.go(&format!("/given/{}", memory.pack())).await;
    let given = "const text = document.querySelector('.given').cloneNode(true);
        text.querySelectorAll('.sources').forEach((one) => one.remove()); return text.textContent";
    assert_eq!(browser.run(given, vec![]).await, json!(memory.prompt()));
    let part = "const part = [...document.querySelectorAll('.given .part')].find((one) => one.textContent.includes('8443'));
        part.querySelector('a').click();";
    browser.run(part, vec![]).await;
    browser
        .until("location.pathname.startsWith('/event/') && document.querySelector('main').textContent.includes('port 8443')")
        .await;
    browser.go("/health").await;
    let health = browser.text("main").await;
    for text in [
        "What the doctor finds",
        "settings, all good",
        "may be open at once",
    ] {
        assert!(health.contains(text), "{text}: {health}");
    }
    browser.close().await;
}

/// While the store is repaired no daemon answers, and the page says so; a new link opens it afterwards.
#[tokio::test]
async fn a_store_under_repair_is_no_empty_memory() {
    let mut memory = Memory::new();
    let browser = Browser::open(&memory).await;
    browser.go("/now").await;
    memory.stop();
    memory.repair();
    browser
        .run(
            "document.querySelector(\"nav a[href='/health']\").click()",
            vec![],
        )
        .await;
    browser
        .until("document.querySelector('[role=alert]')?.textContent.includes('does not answer')")
        .await;
    let alert = browser.text("[role=alert]").await;
    assert!(alert.contains("lore page"), "{alert}");
    browser.close().await;
    memory.start();
    let browser = Browser::open(&memory).await;
    browser.go(&format!("/session/{}", memory.session())).await;
    let shown = browser.text("main").await;
    assert!(
        shown.contains("The gateway listens on port 8443"),
        "{shown}"
    );
    browser.close().await;
}

/// A link opens the page once; a browser without a cookie says what opens it.
#[tokio::test]
async fn a_second_browser_needs_its_own_link() {
    let memory = Memory::new();
    let link = memory.link();
    let first = Browser::start().await;
    first.visit(&link).await;
    first
        .until("document.querySelector('h1')?.textContent === 'Now'")
        .await;
    assert!(
        !first.address().await.contains('#'),
        "the secret is in no address"
    );
    let second = Browser::start().await;
    second.visit(&link).await;
    second
        .until("document.querySelector('[role=alert]') !== null")
        .await;
    let alert = second.text("[role=alert]").await;
    assert!(alert.contains("lore page"), "{alert}");
    first.close().await;
    second.close().await;
}

/// axe-core finds no serious issue in any view. `LORE_AXE` names its file, axe.min.js.
#[tokio::test]
async fn views_are_accessible() {
    let file =
        std::env::var("LORE_AXE").expect("LORE_AXE names axe.min.js of the npm package axe-core");
    let axe = std::fs::read_to_string(&file).expect("axe.min.js can be read");
    let memory = Memory::new();
    for scheme in [ColorScheme::Light, ColorScheme::Dark] {
        let browser = Browser::open_as(&memory, scheme).await;
        let is_dark = "return matchMedia('(prefers-color-scheme: dark)').matches";
        let is_dark = browser.run(is_dark, vec![]).await;
        assert_eq!(is_dark, json!(scheme == ColorScheme::Dark));
        find_no_serious_issue(&browser, &memory, &axe).await;
        browser.close().await;
    }
}

async fn find_no_serious_issue(browser: &Browser, memory: &Memory, axe: &str) {
    for (_, path) in views(memory) {
        browser.go(&path).await;
        let script = format!("{axe}\nconst done = arguments[arguments.length - 1];
            axe.run(document, {{ resultTypes: ['violations'] }}).then((found) => done(found.violations
                .filter((one) => one.impact === 'serious' || one.impact === 'critical')
                .map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' | ').slice(0, 400))));");
        assert_eq!(browser.run_async(&script).await, json!([]), "{path}");
    }
}

/// A session as one file: text, without scripts, and nothing in the console.
#[tokio::test]
async fn an_exported_session_is_one_file_of_text() {
    let memory = Memory::new();
    let hostile =
        "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'> \u{202e}";
    memory.record(
        "record_message",
        json!({"session": "talk", "sender": "user", "content": hostile}),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("talk.html");
    std::fs::write(&path, memory.export("talk")).expect("the file is written");
    let browser = Browser::start().await;
    browser.visit(&format!("file://{}", path.display())).await;
    let shown = browser.text("main").await;
    for text in [
        "The gateway listens on port 8443",
        "<script>window.hacked = 1</script>",
        "U+202E",
        "get_pull_request",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert_eq!(
        browser
            .run("return window.hacked === undefined", vec![])
            .await,
        json!(true)
    );
    assert_eq!(browser.count("script, img, link").await, 0);
    assert_eq!(browser.console().await, Vec::<String>::new());
    browser.close().await;
}
