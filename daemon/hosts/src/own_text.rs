//! Marks around the text that we inject, by which it is found again in what hosts send later.

use std::borrow::Cow;

/// The marks at the beginning and the end of injected text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnMarks<'m> {
    /// What injected text begins with. Never empty.
    pub begin: &'m str,
    /// What it ends with. Never empty.
    pub end: &'m str,
}

/// The marks of all releases: [`render`](crate::render) puts them around every injected text.
pub const OWN_MARKS: OwnMarks<'static> = OwnMarks {
    begin: "<lore-memory>",
    end: "</lore-memory>",
};

impl Default for OwnMarks<'_> {
    fn default() -> Self {
        OWN_MARKS
    }
}

impl OwnMarks<'_> {
    /// Returns the text without what we injected. A text that was cut by a host, so that the end mark is missing, is
    /// removed up to its end: what we said must never be recorded as the words of a user.
    #[must_use]
    pub fn strip<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.begin.is_empty() || self.end.is_empty() || !text.contains(self.begin) {
            return Cow::Borrowed(text);
        }
        let mut kept = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(self.begin) {
            kept.push_str(before);
            rest = after.split_once(self.end).map_or("", |(_, rest)| rest);
        }
        kept.push_str(rest);
        Cow::Owned(kept)
    }

    /// Returns the text between marks. Marks within the text lose their first character, so that nothing that is
    /// quoted can end the injection early.
    #[must_use]
    pub fn wrap(&self, text: &str) -> String {
        let quoted = |mark: &str| mark.chars().skip(1).collect::<String>();
        let text = text
            .replace(self.begin, &quoted(self.begin))
            .replace(self.end, &quoted(self.end));
        format!("{}\n{text}\n{}", self.begin, self.end)
    }
}

/// Returns the text without the elements `<tag>...</tag>` that a host puts around what hooks returned.
pub(crate) fn without_elements(text: &str, tag: &str) -> String {
    let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let marks = OwnMarks {
        begin: &begin,
        end: &end,
    };
    marks.strip(text).into_owned()
}
