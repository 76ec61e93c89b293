//! Receipts: text that was added to a model's context without a call of its own is recorded as a pack, so that `why`
//! explains it, citations of it are recognised, and forgetting reaches it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::PackSettings;
use super::command::MakePack;
use super::retrieval::TaskScope;
use super::texts::{OmittedPiece, PackText};
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
    /// What its parts come from, in order, each with its range of bytes in the text.
    pub sources: Vec<(PackDependency, Range<usize>)>,
    /// The sessions whose content may be in it.
    pub sessions: BTreeSet<String>,
    /// What had no space in it.
    pub left_out: Vec<OmittedPiece>,
}

/// Returns the command that records an added text as a pack of a session. `read_at` is the position up to which its
/// sources were read.
pub fn receipt(cx: &Context, session: &str, read_at: Position, added: &AddedText) -> MakePack {
    let clock = cx.engine.clock();
    let mut seen = BTreeSet::new();
    let parts = added.sources.iter().map(|(source, range)| {
        let source = PackDependency {
            session: source.session.clone().filter(|other| other != session),
            item: source.item.clone(),
        };
        (source, range.clone())
    });
    let parts: Vec<(PackDependency, Range<usize>)> = parts.collect();
    let sources = parts.iter().map(|(source, _)| source.clone());
    let rests_on: Vec<_> = sources.filter(|one| seen.insert(one.clone())).collect();
    let mut text = PackText::new(Some(session), added.text.clone(), parts, &rests_on);
    text.at = clock.now();
    text.sessions.extend(added.sessions.iter().cloned());
    text.left_out.clone_from(&added.left_out);
    let text_days = PackSettings::of(cx).text_days;
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
            rests_on,
            pieces: hashes.iter().flat_map(|hash| hash.to_be_bytes()).collect(),
        },
        read_at,
        body: Body::new(codec::EMPTY.to_vec(), clock.random()),
        text: (text_days > 0).then_some((text, text_days)),
    }
}
