//! Conversion of packs to protocol types.

use lore::protocol::packs::{LeftOut, PackSection, PackedFile, Piece, PieceKind};

use crate::error::Refusal;
use crate::events::packs::Item;
use crate::packs::assembly::labels::BETWEEN;
use crate::packs::assembly::{BuiltPack, Omission, Source};
use crate::sessions::operations::session_id;

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
    let Item::ContextFile(file) = item else {
        return None;
    };
    Some(PackedFile {
        project: file.project.clone(),
        file_type: file.file_type.clone(),
        version: file.version,
        section: section.map(str::to_owned),
    })
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
            name: one.name,
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
pub fn left_out(one: &Omission) -> Result<LeftOut, Refusal> {
    Ok(LeftOut {
        piece: piece(&one.source)?,
        part: one.part,
        bytes: one.bytes,
        why: one.why,
    })
}
