//! Conversion of packs to protocol types.

use lore::protocol::SessionId;
use lore::protocol::packs::{
    LeftOut as WireLeftOut, PackSection, PackedFile, Part as WirePart, Piece, PieceKind,
    SectionName as WireSection, WhyLeftOut,
};

use crate::error::{Code, Refusal};
use crate::events::packs::Item;
use crate::packs::assembly::labels::BETWEEN;
use crate::packs::assembly::{
    BuiltPack, Omission, OmissionReason, OmittedPart, SectionName, Source,
};

/// Returns the kind of a piece.
pub fn kind(item: &Item) -> PieceKind {
    match item {
        Item::Message(_) => PieceKind::Message,
        Item::Step { .. } => PieceKind::Step,
        Item::Tool(_) => PieceKind::Tool,
        Item::Entity(_) => PieceKind::Entity,
        Item::Checkpoint(_) => PieceKind::Checkpoint,
        Item::Topic => PieceKind::Topic,
        Item::ContextFile(_) => PieceKind::ContextFile,
        Item::Document { .. } => PieceKind::Document,
    }
}

/// Returns the context file and the section of a piece.
pub fn file(item: &Item, section: Option<&str>) -> Option<PackedFile> {
    match item {
        Item::ContextFile(file) => Some(PackedFile {
            project: file.project.clone(),
            file_type: file.file_type.clone(),
            version: file.version,
            section: section.map(str::to_owned),
        }),
        Item::Message(_)
        | Item::Step { .. }
        | Item::Tool(_)
        | Item::Entity(_)
        | Item::Checkpoint(_)
        | Item::Topic
        | Item::Document { .. } => None,
    }
}

/// Parses a session id.
pub fn session_id(session: &str) -> Result<SessionId, Refusal> {
    SessionId::new(session).map_err(|error| Refusal::new(Code::Corrupt, error.to_string()))
}

/// Converts a section name.
pub fn section(name: SectionName) -> WireSection {
    match name {
        SectionName::History => WireSection::History,
        SectionName::Entities => WireSection::Entities,
        SectionName::Values => WireSection::Values,
        SectionName::ContextFiles => WireSection::ContextFiles,
        SectionName::Topic => WireSection::Topic,
        SectionName::Message => WireSection::Message,
        SectionName::Instruction => WireSection::Instruction,
    }
}

fn piece(source: &Source) -> Result<Piece, Refusal> {
    Ok(Piece {
        kind: kind(&source.item),
        id: source.item.id(),
        session: source.session.as_deref().map(session_id).transpose()?,
        file: file(&source.item, source.section.as_deref()),
        position: source.position,
    })
}

/// Converts the sections of a pack, each with its range in the prompt.
pub fn sections(built: &BuiltPack) -> Result<Vec<PackSection>, Refusal> {
    let mut start = 0;
    let mut sections = Vec::with_capacity(built.sections.len());
    for one in &built.sections {
        let end = start + one.text.len();
        sections.push(PackSection {
            name: section(one.name),
            start: start as u64,
            end: end as u64,
            tokens: one.tokens as u64,
            pieces: one.sources.iter().map(piece).collect::<Result<_, _>>()?,
        });
        start = end + BETWEEN.len();
    }
    Ok(sections)
}

/// Converts an omission.
pub fn left_out(one: &Omission) -> Result<WireLeftOut, Refusal> {
    let (part, bytes) = match one.part {
        OmittedPart::Whole => (WirePart::Whole, None),
        OmittedPart::Bytes(bytes) => (WirePart::Text, Some(bytes)),
        OmittedPart::Details => (WirePart::Details, None),
        OmittedPart::Relations => (WirePart::Relations, None),
    };
    Ok(WireLeftOut {
        piece: piece(&one.source)?,
        part,
        bytes,
        why: match one.why {
            OmissionReason::Budget => WhyLeftOut::Budget,
            OmissionReason::Duplicate => WhyLeftOut::Duplicate,
            OmissionReason::Pruned => WhyLeftOut::Pruned,
            OmissionReason::Quoted => WhyLeftOut::Quoted,
            OmissionReason::Share => WhyLeftOut::Share,
        },
    })
}
