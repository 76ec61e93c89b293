//! Tests of listing, selecting, loading and adding models.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::super::*;
use super::{shipped, tiny};

/// Writes a model into a folder of that name.
fn write(root: &Path, name: &str, files: &ModelFiles) -> std::path::PathBuf {
    let folder = root.join(name);
    fs::create_dir_all(&folder).unwrap();
    for (file, bytes) in files.parts() {
        fs::write(folder.join(file), bytes).unwrap();
    }
    folder
}

fn places(root: &Path) -> ModelPlaces {
    ModelPlaces::new(root.join("added"), Some(&root.join("bin/lored")))
}

fn ids(places: &ModelPlaces) -> Vec<String> {
    let known = available_models(places)
        .into_iter()
        .map(|available_model| available_model.known);
    known
        .map(|known| known.map_or_else(|why| why.to_string(), |known| known.id))
        .collect()
}

#[test]
fn what_the_program_carries_is_what_it_says() {
    for (embedded, dimension) in [
        (crate::embedded::potion(), 256),
        #[cfg(feature = "second-tier")]
        (crate::embedded::minilm(), 384),
    ] {
        assert_eq!(
            ModelFiles::of(embedded).fingerprint(),
            embedded.fingerprint,
            "{}",
            embedded.name
        );
        let known = files::know_embedded(embedded).unwrap();
        let model = Model::embedded(embedded).unwrap();
        assert_eq!(known.id, model.id());
        assert_eq!(
            (known.dimension, known.dimension),
            (dimension, model.dimension())
        );
        assert_eq!(known.stage, model.stage());
        // In a folder it is the same model.
        assert_eq!(files::know_folder(&shipped(embedded.name)).unwrap(), known);
    }
}

#[test]
fn what_was_added_comes_first_and_what_is_unusable_is_told() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let carried = ids(&places);
    assert!(carried[0].starts_with("potion-8m@"), "{carried:?}");
    let beside = places.beside.clone().unwrap();
    write(&beside, "beside", &tiny::files());
    write(&places.added, "zebra", &tiny::statics());
    write(&places.added, "heron", &tiny::files());
    fs::create_dir_all(places.added.join("empty")).unwrap();
    write(&places.added, ".adding-half", &tiny::files());
    let found = ids(&places);
    let heads: Vec<&str> = found
        .iter()
        .map(|id| id.split('@').next().unwrap())
        .collect();
    assert!(
        heads[0].starts_with("the model has no config.json"),
        "{heads:?}"
    );
    assert_eq!(heads[1..4], ["heron", "zebra", "beside"]);
    assert_eq!(found[4..], carried);

    let models = ModelPool::find(&places, &Settings::default());
    assert!(
        models
            .known(EmbeddingStage::First)
            .unwrap()
            .id
            .starts_with("zebra@")
    );
    assert!(
        models
            .known(EmbeddingStage::Second)
            .unwrap()
            .id
            .starts_with("heron@")
    );
    assert_eq!(
        models.origin(EmbeddingStage::Second),
        Some(&ModelOrigin::Added(places.added.join("heron")))
    );
    assert_eq!(models.refused().len(), 1);
    assert_eq!(models.second().unwrap().unwrap().dimension(), 18);
    assert_eq!(models.known(EmbeddingStage::Second).unwrap().dimension, 18);
    assert_eq!(models.known(EmbeddingStage::First).unwrap().dimension, 4);
}

#[test]
fn without_a_second_tier_it_is_told_why() {
    let root = tempfile::tempdir().unwrap();
    let off = Settings {
        second_tier: false,
        ..Settings::default()
    };
    let models = ModelPool::find(&places(root.path()), &off);
    assert!(models.second().is_none() && models.known(EmbeddingStage::Second).is_none());
    assert_eq!(
        models.why_no_second(),
        Some("`search.second_tier` is false")
    );
    assert!(models.first().is_ok());
    let on = ModelPool::find(&places(root.path()), &Settings::default());
    if cfg!(feature = "second-tier") {
        assert_eq!((on.why_no_second(), on.second().is_some()), (None, true));
    } else {
        assert!(on.why_no_second().unwrap().contains("built without"));
        assert!(on.second().is_none());
    }
}

#[test]
fn models_are_loaded_once_and_let_go() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    write(&places.added, "tiny", &tiny::files());
    let models = ModelPool::find(&places, &Settings::default());
    assert!(!models.is_loaded(EmbeddingStage::First) && !models.is_loaded(EmbeddingStage::Second));
    let loaded: Vec<Arc<Model>> = std::thread::scope(|scope| {
        let load = || scope.spawn(|| models.second().unwrap().unwrap());
        let threads: Vec<_> = (0..4).map(|_| load()).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(loaded.iter().all(|one| Arc::ptr_eq(one, &loaded[0])));
    assert!(!models.is_loaded(EmbeddingStage::First));
    assert!(models.release_when_idle(Duration::ZERO).is_some());
    assert!(
        models.is_loaded(EmbeddingStage::Second),
        "it is being worked with"
    );
    drop(loaded);
    let left = models.release_when_idle(Duration::from_secs(3600));
    assert!(left.is_some_and(|left| left > Duration::from_secs(3000)));
    assert!(
        models.is_loaded(EmbeddingStage::Second),
        "it was used just now"
    );
    assert_eq!(models.release_when_idle(Duration::ZERO), None);
    assert!(!models.is_loaded(EmbeddingStage::Second));
    assert!(models.second().unwrap().is_ok());
}

#[test]
fn a_model_is_kept_while_it_will_be_needed() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    write(&places.added, "tiny", &tiny::files());
    let models = ModelPool::find(&places, &Settings::default());
    assert!(models.second_if_loaded().is_none());
    assert!(
        !models.is_loaded(EmbeddingStage::Second),
        "asking loads none"
    );
    drop(models.second().unwrap().unwrap());
    assert!(models.second_if_loaded().is_some());
    models.keep_second(Duration::from_secs(3600));
    let left = models.release_when_idle(Duration::ZERO);
    assert!(left.is_some_and(|left| left > Duration::from_secs(3000)));
    assert!(models.second_if_loaded().is_some());
    models.keep_second(Duration::ZERO);
    assert_eq!(models.release_when_idle(Duration::ZERO), None);
    assert!(models.second_if_loaded().is_none());
}

#[test]
fn a_model_that_changed_under_us_is_not_the_one_it_was() {
    let root = tempfile::tempdir().unwrap();
    let places = places(root.path());
    let folder = write(&places.added, "tiny", &tiny::files());
    let models = ModelPool::find(&places, &Settings::default());
    let mut files = tiny::files();
    files.vocabulary.to_mut().push(b'x');
    write(&places.added, "tiny", &files);
    let refused = models.second().unwrap().unwrap_err().to_string();
    assert!(refused.contains("have changed"), "{refused}");
    fs::remove_dir_all(folder).unwrap();
    let refused = models.second().unwrap().unwrap_err().to_string();
    assert!(refused.contains("cannot be read"), "{refused}");
}

#[test]
fn a_model_is_added_whole_with_its_terms() {
    let root = tempfile::tempdir().unwrap();
    let from = write(&root.path().join("from"), "tiny", &tiny::files());
    fs::write(from.join("LICENSE.txt"), "terms").unwrap();
    fs::write(from.join("junk.bin"), "junk").unwrap();
    let into = root.path().join("models");
    // A draft that a kill left incomplete does not prevent adding.
    fs::create_dir_all(into.join(".adding-tiny/x")).unwrap();
    let added = add(&from, &into).unwrap();
    assert!(!added.was_there);
    assert_eq!(added.known, files::know_folder(&into.join("tiny")).unwrap());
    let mut names: Vec<_> = fs::read_dir(&added.folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "LICENSE.txt",
            "config.json",
            "model.safetensors",
            "vocab.txt"
        ]
    );
    assert_eq!(fs::read_dir(&into).unwrap().count(), 1, "no draft is left");
    assert!(add(&from, &into).unwrap().was_there);
    write(&root.path().join("from"), "tiny", &tiny::statics());
    let taken = add(&from, &into).unwrap_err().to_string();
    assert!(taken.contains("contains another model"), "{taken}");
}

#[test]
fn what_cannot_be_used_is_not_added() {
    let root = tempfile::tempdir().unwrap();
    let into = root.path().join("models");
    let said = |name: &str, change: &dyn Fn(&Path)| {
        let from = write(&root.path().join("from"), name, &tiny::files());
        change(&from);
        let refused = add(&from, &into).unwrap_err().to_string();
        assert!(!into.exists(), "{name}: something was written");
        refused
    };
    let missing = said("missing", &|from| {
        fs::rename(
            from.join("model.safetensors"),
            from.join("pytorch_model.bin"),
        )
        .unwrap();
    });
    assert!(
        missing.contains("no model.safetensors") && missing.contains("\"pytorch_model.bin\""),
        "{missing}"
    );
    let unknown = said("unknown", &|from| {
        fs::write(from.join("config.json"), r#"{"model_type": "distilbert"}"#).unwrap();
    });
    assert!(unknown.contains("the nearest is \"bert\""), "{unknown}");
    let cut = said("cut", &|from| {
        let bytes = fs::read(from.join("model.safetensors")).unwrap();
        fs::write(from.join("model.safetensors"), &bytes[..bytes.len() - 7]).unwrap();
    });
    assert!(cut.contains("is not where the header says"), "{cut}");
    let other = said("floats", &|from| {
        let header = r#"{"embeddings": {"dtype": "F16", "shape": [1, 1], "data_offsets": [0, 2]}}"#;
        let length = (header.len() as u64).to_le_bytes();
        let file = [&length[..], header.as_bytes(), &[0, 0]].concat();
        fs::write(from.join("model.safetensors"), file).unwrap();
    });
    assert!(
        other.contains("F16") && other.contains("I8 rows"),
        "{other}"
    );
    let folder = said("pipe", &|from| {
        fs::remove_file(from.join("vocab.txt")).unwrap();
        fs::create_dir(from.join("vocab.txt")).unwrap();
    });
    assert!(folder.contains("not a regular file"), "{folder}");
    let named = said("a b", &|_| {});
    assert!(named.contains("\"a b\""), "{named}");
    let nothing = add(&root.path().join("nowhere"), &into).unwrap_err();
    assert!(nothing.to_string().contains("cannot be read"), "{nothing}");
}

/// Weights of zeros load but are useless; so are weights that embed all texts alike.
#[test]
fn a_model_that_knows_nothing_is_not_added() {
    let root = tempfile::tempdir().unwrap();
    let mut files = tiny::statics();
    let data = files.weights.len();
    files.weights.to_mut()[data - 100..].fill(0);
    let from = write(root.path(), "zeros", &files);
    let refused = add(&from, &root.path().join("models")).unwrap_err();
    assert!(matches!(refused, AddError::Useless { .. }), "{refused}");
}
