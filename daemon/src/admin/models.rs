//! `lored models`: lists the available models, and adds one.

use std::path::Path;

use lore::paths::{Paths, ensure_folder};
use lored_models::{AvailableModel, EmbeddingStage, ModelPlaces, add, available_models, select};

use super::{Outcome, folder, text};
use crate::config::Config;

/// Prints every available model: id, vector dimension, tier, bytes, source, whether it is in use, and why it is
/// unusable.
///
/// # Errors
/// None: unusable models are listed with the reason.
pub fn list(config: &Config, paths: &Paths) -> Outcome {
    let paths = places_of(config, paths);
    let offers = available_models(&paths);
    let in_use =
        [EmbeddingStage::First, EmbeddingStage::Second].map(|stage| select(&offers, stage));
    for (at, offer) in offers.iter().enumerate() {
        lore::outln!("{}", line(offer, in_use.contains(&Some(at)), config));
    }
    if select(&offers, EmbeddingStage::Second).is_none() {
        lore::outln!("no second tier: {}", lored_models::why_none());
    }
    lore::outln!("models are added to {}", paths.added.display());
    Ok(true)
}

fn line(offer: &AvailableModel, is_in_use: bool, config: &Config) -> String {
    let origin = &offer.origin;
    let known = match &offer.known {
        Ok(known) => known,
        Err(why) => return format!("{origin}: not usable: {why}"),
    };
    let is_off = known.stage == EmbeddingStage::Second && !config.search.second_tier;
    let used = match (is_in_use, is_off) {
        (true, false) => "in use",
        (true, true) => "not in use: `search.second_tier` is false",
        (false, _) => "not in use: another one comes first",
    };
    let (id, dimension, stage, bytes) = (&known.id, known.dimension, known.stage, known.bytes);
    format!("{id}  {dimension} numbers  {stage}  {bytes} bytes  {origin}  {used}")
}

/// Adds the model in a folder, after loading it and embedding texts.
///
/// # Errors
/// A sentence, when the folder of models cannot be created.
pub fn add_from(config: &Config, paths: &Paths, from: &Path) -> Outcome {
    ensure_folder(&paths.data).map_err(text)?;
    let model_places = places_of(config, paths);
    let added = match add(from, &model_places.added) {
        Ok(added) => added,
        Err(error) => {
            lore::errln!("lored: {}: {error}", from.display());
            return Ok(false);
        }
    };
    let how = if added.was_there {
        "was there already"
    } else {
        "was added"
    };
    lore::outln!(
        "{} ({} numbers, {}) {how}: {}",
        added.known.id,
        added.known.dimension,
        added.known.stage,
        added.folder.display()
    );
    let offers = available_models(&model_places);
    let used = select(&offers, added.known.stage).and_then(|at| offers.get(at));
    let used = used.and_then(|offer| offer.known.as_ref().ok());
    match used {
        Some(used) if used.id == added.known.id => {
            lore::outln!(
                "A running daemon uses it from its next start, and embeds all texts again."
            );
        }
        Some(used) => lore::outln!("It is not in use: {} comes first.", used.id),
        None => lore::outln!("It is not in use."),
    }
    Ok(true)
}

fn places_of(config: &Config, paths: &Paths) -> ModelPlaces {
    ModelPlaces::of_this_program(&config.search, folder(paths).models())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The program's own model can be added again from a folder, as a normal model; a folder without a model is
    /// refused, and nothing is written.
    #[test]
    fn a_folder_is_added_or_refused() {
        let home = tempfile::tempdir().unwrap();
        let variable = |name: &str| (name == "LORE_HOME").then(|| home.path().into());
        let paths = Paths::from_variables(variable, 0, None).unwrap();
        let config = Config::new();
        assert_eq!(add_from(&config, &paths, home.path()), Ok(false));
        assert!(!folder(&paths).models().exists());
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/potion-8m");
        assert_eq!(add_from(&config, &paths, &own), Ok(true));
        let added = folder(&paths).models().join("potion-8m");
        assert!(added.join("model.safetensors").is_file() && added.join("LICENSE").is_file());
        assert_eq!(list(&config, &paths), Ok(true));
        let offers = available_models(&places_of(&config, &paths));
        let lines: Vec<String> = offers
            .iter()
            .enumerate()
            .map(|(at, offer)| {
                line(
                    offer,
                    select(&offers, EmbeddingStage::First) == Some(at),
                    &config,
                )
            })
            .collect();
        let (first, own) = (lines.first().unwrap(), lines.get(1).unwrap());
        assert!(
            first.contains("256 numbers  first tier") && first.ends_with("  in use"),
            "{first}"
        );
        assert!(own.contains("in the program  not in use"), "{own}");
    }
}
