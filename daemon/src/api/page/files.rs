//! The page's own files, embedded in the program. They have no data.

/// A file and its type.
pub struct PageFile {
    /// Path.
    pub path: &'static str,
    /// Media type.
    pub kind: &'static str,
    /// Content.
    pub text: &'static str,
}

macro_rules! files {
    ($($path:literal $kind:literal,)*) => {
        &[$(PageFile {
            path: concat!("/files/", $path),
            kind: $kind,
            text: include_str!(concat!("files/", $path)),
        }),*]
    };
}

/// Every file but the document.
pub const FILES: &[PageFile] = files![
    "style.css" "text/css; charset=utf-8",
    "icon.svg" "image/svg+xml",
    "app.js" "text/javascript; charset=utf-8",
    "dom.js" "text/javascript; charset=utf-8",
    "data.js" "text/javascript; charset=utf-8",
    "now.js" "text/javascript; charset=utf-8",
    "session.js" "text/javascript; charset=utf-8",
    "given.js" "text/javascript; charset=utf-8",
    "search.js" "text/javascript; charset=utf-8",
    "entities.js" "text/javascript; charset=utf-8",
    "checkpoints.js" "text/javascript; charset=utf-8",
    "notes.js" "text/javascript; charset=utf-8",
    "health.js" "text/javascript; charset=utf-8",
];

/// The document that every address of a view shows.
pub const DOCUMENT: PageFile = PageFile {
    path: "/",
    kind: "text/html; charset=utf-8",
    text: include_str!("files/page.html"),
};

/// Returns the file at a path. Every path of a view has the document: the scripts show the view.
pub fn find(path: &str) -> Option<&'static PageFile> {
    if path.starts_with("/files/") {
        return FILES.iter().find(|file| file.path == path);
    }
    let is_view = !path.contains('.') && !path.starts_with("/api/") && path != "/live";
    is_view.then_some(&DOCUMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_the_document_and_files_their_own() {
        for path in ["/", "/now", "/session/a%2Eb", "/search"] {
            assert_eq!(find(path).map(|file| file.path), Some("/"), "{path}");
        }
        let script = find("/files/app.js").map(|file| file.kind);
        assert_eq!(script, Some("text/javascript; charset=utf-8"));
        for path in [
            "/files/none.js",
            "/files/../mod.rs",
            "/favicon.ico",
            "/api/x",
            "/live",
        ] {
            assert!(find(path).is_none(), "{path}");
        }
    }

    /// What is stored is shown as text: no script makes markup of a string, or runs one.
    #[test]
    fn scripts_make_no_markup_of_text() {
        let forbidden = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "createContextualFragment",
            "srcdoc",
            "setAttribute(\"on",
            "javascript:",
            "http://",
            "https://",
        ];
        for file in FILES.iter().chain([&DOCUMENT]) {
            // The XML namespace of SVG looks like an address; nothing is loaded from it.
            let text = file.text.replace("http://www.w3.org/2000/svg", "");
            for word in forbidden {
                assert!(!text.contains(word), "{}: {word}", file.path);
            }
            assert!(!text.contains("<script>"), "{}: inline script", file.path);
            assert!(!text.contains(" style=\""), "{}: inline style", file.path);
        }
    }
}
