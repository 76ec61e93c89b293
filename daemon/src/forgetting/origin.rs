//! The argument `origin`: a small closed grammar for the origin of content.

use crate::error::Refusal;

/// Origin of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentOrigin {
    /// A document source, by id.
    Source(String),
    /// A document file, or all files below a folder, by absolute path without a trailing slash; for uploaded documents,
    /// by their displayed path.
    File(String),
    /// A tool: its steps and executions, by name.
    Tool(String),
    /// A resolver: its statements about entities.
    Resolver(String),
    /// Another log: imported sessions.
    Import,
}

const RIGHT: &str = "`source:ID`, `file:/PATH`, `tool:NAME`, `resolver:NAME` or `import`";

impl ContentOrigin {
    /// Parses the argument `origin`.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let wrong = |why: String| Err(Refusal::invalid(why).hint(format!("Give {RIGHT}.")));
        let text = text.trim();
        if text == "import" {
            return Ok(Self::Import);
        }
        let Some((word, name)) = text.split_once(':') else {
            let shown: String = text.chars().take(64).collect();
            return wrong(format!("`origin` names no origin: {shown:?}"));
        };
        if name.is_empty() {
            return wrong(format!("`origin` says `{word}:` and not which"));
        }
        let name = name.to_owned();
        match word {
            "source" => Ok(Self::Source(name)),
            // The path of an uploaded file begins with its source's name.
            "file" if !name.contains('/') => wrong(format!(
                "the path of `origin` is not absolute, nor in a source: {:?}",
                name.chars().take(64).collect::<String>()
            )),
            "file" => Ok(Self::File(name.trim_end_matches('/').to_owned())),
            "tool" => Ok(Self::Tool(name)),
            "resolver" => Ok(Self::Resolver(name)),
            other => {
                let shown: String = other.chars().take(32).collect();
                wrong(format!("`origin` knows no {shown:?}"))
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Each form is parsed, and everything else is refused with the expected format.
    #[test]
    fn the_grammar_is_closed() {
        let owned = str::to_owned;
        for (text, wanted) in [
            (
                "source:source-01",
                ContentOrigin::Source(owned("source-01")),
            ),
            ("file:/srv/notes/", ContentOrigin::File(owned("/srv/notes"))),
            ("file:/a:b.md", ContentOrigin::File(owned("/a:b.md"))),
            ("file:sent/", ContentOrigin::File(owned("sent"))),
            ("file:/", ContentOrigin::File(String::new())),
            ("tool:mcp:read", ContentOrigin::Tool(owned("mcp:read"))),
            ("resolver:netbox", ContentOrigin::Resolver(owned("netbox"))),
            (" import ", ContentOrigin::Import),
        ] {
            assert_eq!(ContentOrigin::parse(text).unwrap(), wanted, "{text}");
        }
        for (text, reported) in [
            ("", "names no origin"),
            ("notes.md", "names no origin"),
            ("tool:", "not which"),
            ("file:notes.md", "not absolute"),
            ("agent:ada", "knows no \"agent\""),
        ] {
            let refused = ContentOrigin::parse(text).unwrap_err();
            assert!(refused.message.contains(reported), "{text}: {refused}");
            assert!(refused.hint.unwrap().plain().contains("`tool:NAME`"));
        }
    }
}
