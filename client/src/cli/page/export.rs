//! `lore page --export`: a session as one HTML file, without scripts, to hand to a colleague.
//!
//! It is made from the lines of `lore session export`, so it has what that has, redacted alike.

use std::io::{self, BufWriter, Write};

use lore::protocol::sessions::ExportSessionReply;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use crate::cli::flag::Fields;
use crate::cli::output;
use crate::cli::report::read;
use crate::cli::{Caller, Exit, Failure};

/// Approximate size of a page of lines, in bytes.
const PAGE_BYTES: u64 = 1 << 20;
/// Maximum length of a title, in characters.
const TITLE_CHARS: usize = 120;
/// The browser loads nothing and runs nothing, whatever the texts are.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("export.css");

/// Writes a session to standard output, page by page.
pub fn export(session: &str, caller: &mut Caller) -> Result<Exit, Failure> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut next = None;
    let mut is_begun = false;
    loop {
        let mut fields = Fields::default();
        fields.put("session", session)?;
        fields.put("bytes_max", &PAGE_BYTES)?;
        fields.put_some("next", next.as_ref())?;
        let page: ExportSessionReply = read(&caller.call("export_session", fields)?)?;
        let lines: Vec<Value> = page
            .content
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        if !is_begun {
            is_begun = true;
            out.write_all(head(session, &lines).into_string().as_bytes())?;
        }
        for line in &lines {
            out.write_all(event(line).into_string().as_bytes())?;
        }
        for warning in &page.warnings {
            lore::errln!("lore: {}", output::sanitize_lines(warning));
        }
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    out.write_all(b"</main></body></html>\n")?;
    out.flush()?;
    Ok(Exit::Good)
}

/// The beginning of the file, up to the first event.
fn head(session: &str, lines: &[Value]) -> Markup {
    let title = title(lines).unwrap_or(session);
    let title: String = title.chars().take(TITLE_CHARS).collect();
    let whole = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (visible_text(&title)) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { h1 { (visible(&title)) } p.quiet { "Session " (visible(session)) ", exported by lore " (env!("CARGO_PKG_VERSION")) } } }
        }
    };
    // What ends here ends behind the last event.
    let text = whole.into_string();
    let end = "</main></body></html>";
    PreEscaped(text.strip_suffix(end).unwrap_or(&text).to_owned())
}

/// Returns the title of a session, or the beginning of its first message.
fn title(lines: &[Value]) -> Option<&str> {
    let payload = |kind: &'static str, member: &'static str| {
        let events = lines.iter().filter(move |line| line["kind"] == kind);
        events
            .filter_map(move |line| line["payload"].get(member)?.as_str())
            .find(|text| !text.is_empty())
    };
    payload("SessionUpdated", "title")
        .or_else(|| payload("SessionCreated", "title"))
        .or_else(|| payload("MessageRecorded", "content"))
}

/// An event; nothing for one that says nothing to a reader.
fn event(line: &Value) -> Markup {
    let payload = &line["payload"];
    let when =
        html! { " " (visible(text(&line["agent"]))) " " time { (visible(text(&line["at"]))) } };
    match line["kind"].as_str() {
        Some("MessageRecorded") => {
            let sender = text(&payload["sender"]);
            html! {
                article.message data-sender=(sender) {
                    header { strong { (visible(sender)) } (when) }
                    pre { (visible(text(&payload["content"]))) }
                }
            }
        }
        Some("StepRecorded" | "ToolRecorded") => {
            let failed = payload["success"] == false || payload["status"] == "error";
            let error = &payload["error"];
            html! {
                details class=[failed.then_some("failed")] {
                    summary { strong { (visible(text(&payload["tool"]))) } @if failed { span.bad { " failed" } } (when) " " (visible(text(&payload["purpose"]))) }
                    @if !payload["parameters"].is_null() { h2 { "Parameters" } pre { (visible(&as_text(&payload["parameters"]))) } }
                    @if !error.is_null() { h2 { "Error" } pre { (visible(&as_text(error))) } }
                    @if !payload["result"].is_null() { h2 { "Result" } pre { (visible(&as_text(&payload["result"]))) } }
                }
            }
        }
        Some("CheckpointSaved") => html! { p.quiet { "Checkpoint saved" (when) } },
        Some("ContextPruned") => html! { p.quiet { "Context pruned" (when) } },
        Some("SessionClosed") => html! { p.quiet { "Session closed" (when) } },
        _ => html! {},
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text as it is, and any other value as JSON.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Returns whether a character hides or reorders text.
fn is_hidden(one: char) -> bool {
    let is_blank = matches!(one, '\n' | '\t');
    one.is_control() && !is_blank
        || matches!(one, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// A text whose hidden characters are shown by their numbers.
fn visible(text: &str) -> Markup {
    html! {
        @for part in text.split_inclusive(is_hidden) {
            @match part.chars().next_back().filter(|last| is_hidden(*last)) {
                Some(last) => {
                    (part.trim_end_matches(last)) span.hidden { "U+" (format!("{:04X}", u32::from(last))) }
                }
                None => (part),
            }
        }
    }
}

/// The same without elements, for a title.
fn visible_text(text: &str) -> String {
    text.chars().filter(|one| !is_hidden(*one)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HOSTILE: &str = "</pre><script>alert(1)</script> & \u{202e}x\u{0}";

    #[test]
    fn texts_are_text_and_hidden_characters_are_as_text() {
        let line = json!({"n": 1, "at": "2026-01-31T12:00:00Z", "agent": HOSTILE, "kind": "MessageRecorded",
            "payload": {"sender": "user", "content": HOSTILE}});
        let made = event(&line).into_string();
        assert!(!made.contains("<script"), "{made}");
        assert!(
            made.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; "),
            "{made}"
        );
        assert!(made.contains("U+202E") && made.contains("U+0000"), "{made}");
        assert!(!made.contains('\u{202e}') && !made.contains('\0'), "{made}");
        let made = head(HOSTILE, std::slice::from_ref(&line)).into_string();
        assert!(
            !made.contains("<script") && !made.contains('\u{202e}'),
            "{made}"
        );
        assert!(made.ends_with("</p>"), "the events follow: {made}");
    }

    #[test]
    fn steps_fold_and_failures_are_named() {
        let step = |payload: Value| {
            event(&json!({"kind": "StepRecorded", "payload": payload})).into_string()
        };
        let good = step(
            json!({"tool": "grep", "success": true, "parameters": {"pattern": "x"}, "result": "auth.rs:17"}),
        );
        assert!(
            good.contains("<details><summary><strong>grep</strong>"),
            "{good}"
        );
        assert!(
            good.contains("&quot;pattern&quot;: &quot;x&quot;") && good.contains("auth.rs:17"),
            "{good}"
        );
        let bad = step(json!({"tool": "Bash", "success": false, "error": "refused"}));
        assert!(
            bad.contains("class=\"failed\"") && bad.contains("refused"),
            "{bad}"
        );
        assert_eq!(
            event(&json!({"kind": "EntitiesFound", "payload": {}})).into_string(),
            ""
        );
        assert_eq!(event(&json!({"end": {"events": 3}})).into_string(), "");
    }
}
