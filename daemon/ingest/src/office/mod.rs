//! Documents of Word and PowerPoint.

mod archive;
mod docx;
mod pptx;
mod xml;

#[cfg(test)]
mod tests;

use super::IngestError;
use super::builder::Draft;
use super::kind::Kind;
use super::limits::Budget;
use archive::Archive;

/// Reads an archive as what its parts say it is.
///
/// # Errors
/// It is neither a docx nor a pptx, is broken, or goes beyond the limits.
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
    } else if begins("xl/") {
        Err(IngestError::Binary {
            what: "an Excel workbook".into(),
        })
    } else if begins("mimetype") {
        Err(IngestError::Binary {
            what: "an OpenDocument or EPUB file".into(),
        })
    } else {
        Err(IngestError::Binary {
            what: "a zip archive".into(),
        })
    }
}
