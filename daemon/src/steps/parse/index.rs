//! Index from the words of a field to its values.

use super::nodes::{Kind, NodeId, Nodes};
use crate::steps::words;

/// Index of a result's keys, compared by their letters and digits.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Whole keys. Sorted by key, then depth (shallow first), then document order.
    entries: Vec<Entry>,
    /// Last words of dotted keys, such as `Title` of `System.Title`, in the same order.
    last_words: Vec<Entry>,
    /// Keys of nulls, in the same order.
    nulls: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u64,
    depth: u16,
    node: NodeId,
}

/// Returns the last word of a dotted key; `None` for any other key, and for a path or a sentence.
pub(crate) fn last_word(key: &str) -> Option<&str> {
    let (head, last) = key.rsplit_once(['.', ':'])?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_dotted = |c: char| is_word(c) || matches!(c, '.' | ':');
    (last.starts_with(char::is_alphabetic)
        && last.chars().all(is_word)
        && head.starts_with(char::is_alphabetic)
        && head.chars().all(is_dotted))
    .then_some(last)
}

impl Index {
    /// Builds the index. Nulls are no values, and have an order of their own.
    pub(super) fn of(nodes: &Nodes) -> Index {
        let (mut entries, mut last_words, mut nulls) = (Vec::new(), Vec::new(), Vec::new());
        for (id, node) in nodes.iter() {
            if let Some(key) = nodes.key(node) {
                let entry = |word| Entry {
                    hash: words::hash(word),
                    depth: node.depth,
                    node: id,
                };
                if node.kind == Kind::Null {
                    nulls.push(entry(key));
                    continue;
                }
                entries.push(entry(key));
                last_words.extend(last_word(key).map(entry));
            }
        }
        entries.sort_unstable();
        last_words.sort_unstable();
        nulls.sort_unstable();
        Index {
            entries,
            last_words,
            nulls,
        }
    }

    /// Returns the memory of the index, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        (self.entries.capacity() + self.last_words.capacity() + self.nulls.capacity())
            * size_of::<Entry>()
    }

    /// Returns the values whose key has the letters and digits of `word`: shallow ones first, then in document order.
    pub(crate) fn under<'a>(
        &'a self,
        nodes: &'a Nodes,
        word: &'a str,
    ) -> impl Iterator<Item = NodeId> + 'a {
        matching(&self.entries, nodes, word, Some)
    }

    /// Returns the values whose dotted key ends with `word`, in the same order.
    pub(crate) fn under_last_word<'a>(
        &'a self,
        nodes: &'a Nodes,
        word: &'a str,
    ) -> impl Iterator<Item = NodeId> + 'a {
        matching(&self.last_words, nodes, word, last_word)
    }

    /// Returns the depth of the shallowest null under a word.
    pub(crate) fn null_depth(&self, nodes: &Nodes, word: &str) -> Option<u16> {
        let first = matching(&self.nulls, nodes, word, Some).next()?;
        nodes.get(first).map(|node| node.depth)
    }

    /// Lists the distinct keys, each in the spelling of its shallowest value.
    pub(crate) fn keys<'a>(&'a self, nodes: &'a Nodes) -> impl Iterator<Item = &'a str> + 'a {
        let firsts = self.entries.chunk_by(|left, right| left.hash == right.hash);
        firsts.filter_map(|group| {
            let node = nodes.get(group.first()?.node)?;
            nodes.key(node)
        })
    }
}

/// Returns the values of the entries of `word`; `part` is the compared part of a key.
fn matching<'a>(
    entries: &'a [Entry],
    nodes: &'a Nodes,
    word: &'a str,
    part: impl Fn(&'a str) -> Option<&'a str> + 'a,
) -> impl Iterator<Item = NodeId> + 'a {
    let hash = words::hash(word);
    let first = entries.partition_point(|entry| entry.hash < hash);
    let with_hash = entries
        .iter()
        .skip(first)
        .take_while(move |entry| entry.hash == hash);
    // The items of a list spell a key alike, so the letters of each spelling are compared once.
    let mut compared: Option<(&str, bool)> = None;
    with_hash.map(|entry| entry.node).filter(move |id| {
        let key = nodes.get(*id).and_then(|node| nodes.key(node));
        let Some(key) = key.and_then(&part) else {
            return false;
        };
        match compared {
            Some((known, is_same)) if known == key => is_same,
            _ => {
                let is_same = words::same(key, word);
                compared = Some((key, is_same));
                is_same
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dotted_keys_have_a_last_word() {
        assert_eq!(last_word("System.Title"), Some("Title"));
        assert_eq!(
            last_word("Microsoft.VSTS.Common.Priority"),
            Some("Priority")
        );
        assert_eq!(last_word("dc:title"), Some("title"));
        for key in [
            "title",
            "src/report.rs",
            "a b.c",
            "1.5",
            ".rs",
            "v1.2",
            "a.",
        ] {
            assert_eq!(last_word(key), None, "{key}");
        }
    }
}
