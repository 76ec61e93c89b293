//! Documents of Word and PowerPoint.

mod archive;
mod docx;
mod pptx;
mod xml;

#[cfg(test)]
mod tests;

use super::Refused;
use super::draft::Draft;
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
) -> Result<(Kind, Draft<'b>), Refused> {
    let mut archive = Archive::open(bytes, budget)?;
    let begins = |with: &str| archive.names().any(|name| name.starts_with(with));
    if begins("word/document") {
        Ok((Kind::Docx, docx::read(&mut archive, budget)?))
    } else if begins("ppt/presentation") {
        Ok((Kind::Pptx, pptx::read(&mut archive, budget)?))
    } else if begins("xl/") {
        Err(Refused::Binary {
            what: "an Excel workbook",
        })
    } else if begins("mimetype") {
        Err(Refused::Binary {
            what: "an OpenDocument or EPUB file",
        })
    } else {
        Err(Refused::Binary {
            what: "a zip archive",
        })
    }
}
