//! Resolves the scope of a source from its settings and the exclusions of the project that contains it.

use std::path::Path;

use super::sources::{SourceError, SourceScope};
use crate::events::documents::SourceAdded;
use crate::operation::Context;
use crate::projects;

/// Resolves the scope of these settings in the current file system. Reads files, so it must run off the
/// event loop.
pub fn scope(cx: &Context, added: &SourceAdded) -> Result<SourceScope, SourceError> {
    let own = [cx.folder.data.clone()];
    let path = Path::new(&added.path);
    let reach = SourceScope::new(path, &added.include, &added.exclude, &own)?;
    let place = cx
        .extensions
        .get::<projects::ProjectState>()
        .and_then(|room| room.place_of(reach.base()));
    Ok(match place {
        Some(place) => reach.within(&place.root, &place.marker.exclude),
        None => reach,
    })
}
