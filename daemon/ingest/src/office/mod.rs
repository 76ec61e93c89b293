//! Reads documents in zip archives: Word, PowerPoint, workbooks and EPUB books.

mod archive;
mod docx;
mod epub;
mod pptx;
mod workbook;
mod xml;

#[cfg(test)]
mod tests;

use super::IngestError;
use super::builder::Draft;
use super::kind::Kind;
use super::limits::Budget;
use archive::Archive;

/// The content of the part `mimetype` of an OpenDocument spreadsheet.
const ODS: &[u8] = b"application/vnd.oasis.opendocument.spreadsheet";

/// Detects the format of an archive from its parts and reads it.
pub(super) fn read<'b>(
    bytes: &'b [u8],
    budget: &'b Budget<'b>,
) -> Result<(Kind, Draft<'b>), IngestError> {
    let mut archive = Archive::open(bytes, budget)?;
    let begins = |with: &str| archive.names().any(|name| name.starts_with(with));
    if begins("word/document") {
        Ok((Kind::Docx, docx::read(&mut archive, budget)?))
    } else if begins("ppt/presentation") {
        Ok((Kind::Pptx, pptx::read(&mut archive, budget)?))
    } else if begins("xl/workbook.xml") {
        let draft = workbook::read(&mut archive, bytes, Kind::Xlsx, budget)?;
        Ok((Kind::Xlsx, draft))
    } else if begins("xl/") {
        Err(IngestError::Binary {
            what: "a binary Excel workbook".into(),
        })
    } else if begins(epub::CONTAINER) {
        Ok((Kind::Epub, epub::read(&mut archive, budget)?))
    } else if begins("mimetype") {
        let kind = archive.read("mimetype")?.unwrap_or_default();
        if kind.starts_with(ODS) {
            let draft = workbook::read(&mut archive, bytes, Kind::Ods, budget)?;
            return Ok((Kind::Ods, draft));
        }
        Err(IngestError::Binary {
            what: "an OpenDocument file other than a spreadsheet".into(),
        })
    } else {
        Err(IngestError::Binary {
            what: "a zip archive".into(),
        })
    }
}
