//! Index from the words of a field to its values.

use super::nodes::{Kind, NodeId, Nodes};
use crate::steps::words;

/// Index of a result's keys, compared by their letters and digits.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Sorted by key, then depth (shallow first), then document order.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u64,
    depth: u16,
    node: NodeId,
}

impl Index {
    /// Builds the index without null values.
    pub(super) fn of(nodes: &Nodes) -> Index {
        let mut entries = Vec::new();
        for (id, node) in nodes.iter() {
            if node.kind == Kind::Null {
                continue;
            }
            if let Some(key) = nodes.key(node) {
                entries.push(Entry {
                    hash: words::hash(key),
                    depth: node.depth,
                    node: id,
                });
            }
        }
        entries.sort_unstable();
        Index { entries }
    }

    /// Returns the values whose key has the letters and digits of `word`: shallow ones first, then in document order.
    pub(crate) fn under<'a>(
        &'a self,
        nodes: &'a Nodes,
        word: &'a str,
    ) -> impl Iterator<Item = NodeId> + 'a {
        let hash = words::hash(word);
        let first = self.entries.partition_point(|entry| entry.hash < hash);
        let with_hash = self
            .entries
            .iter()
            .skip(first)
            .take_while(move |entry| entry.hash == hash);
        with_hash.map(|entry| entry.node).filter(move |id| {
            let key = nodes.get(*id).and_then(|node| nodes.key(node));
            key.is_some_and(|key| words::same(key, word))
        })
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
