//! Receipts: text that was added to a model's context without a call of its own is recorded as a pack, so that `why`
//! explains it, citations of it are recognised, and forgetting reaches it.

use std::collections::BTreeSet;

use super::command::MakePack;
use super::retrieval::TaskScope;
use crate::citations;
use crate::events::packs::{PackBuilt, PackDependency, PackPurpose};
use crate::log::{Body, Hash, Position, codec};
use crate::operation::Context;
use crate::sessions;

/// Maximum number of hashes for recognising citations of one text.
const HASHES_MAX: usize = 512;

/// Text that is added to a model's context.
#[derive(Clone, Debug)]
pub struct AddedText {
    /// The moment.
    pub made_for: PackPurpose,
    /// What it answers, such as the prompt.
    pub wanted: String,
    /// The text.
    pub text: String,
    /// Its o200k tokens.
    pub tokens: u64,
    /// The most tokens that it might have had.
    pub budget: u64,
    /// Where it comes from, in order.
    pub sources: Vec<PackDependency>,
}

/// Returns the command that records an added text as a pack of a session. `read_at` is the position up to which its
/// sources were read.
pub fn receipt(cx: &Context, session: &str, read_at: Position, added: &AddedText) -> MakePack {
    let clock = cx.engine.clock();
    let mut seen = BTreeSet::new();
    let sources = added.sources.iter().map(|source| PackDependency {
        session: source.session.clone().filter(|other| other != session),
        item: source.item.clone(),
    });
    let mut hashes = citations::pieces(&added.text);
    hashes.truncate(HASHES_MAX);
    hashes.push(citations::whole(&added.text));
    MakePack {
        among: TaskScope::Session(session.to_owned()),
        made: PackBuilt {
            id: sessions::fresh_id('p', clock),
            made_for: added.made_for,
            wanted: Hash::of(added.wanted.as_bytes()).0.to_vec(),
            budget: added.budget,
            tokens: added.tokens,
            sections: Vec::new(),
            rests_on: sources.filter(|one| seen.insert(one.clone())).collect(),
            pieces: hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect(),
        },
        read_at,
        body: Body::new(codec::EMPTY.to_vec(), clock.random()),
    }
}
