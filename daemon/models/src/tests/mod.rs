//! Compares the shipped models with reference implementations; tests damaged files with a tiny model.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

mod golden;
mod pool;
mod tiny;

/// Returns the folder of a shipped model.
fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    left.iter()
        .zip(right)
        .map(|(left, right)| left * right)
        .sum()
}

#[test]
fn word_pieces_are_those_of_the_original() {
    let read = |name| WordPiece::new(&fs::read(shipped(name).join("vocab.txt")).unwrap()).unwrap();
    let (minilm, potion) = (read("minilm-l6"), read("potion-8m"));
    for (text, in_minilm, in_potion) in golden::PIECES {
        assert_eq!(minilm.pieces(text, 1000), *in_minilm, "{text:?}");
        assert_eq!(potion.pieces(text, 1000), *in_potion, "{text:?}");
    }
}

#[test]
fn vectors_are_those_of_the_original() {
    for (name, dimension, golden) in [
        ("potion-8m", 256, golden::POTION),
        ("minilm-l6", 384, golden::MINILM),
    ] {
        let model = Model::load(&shipped(name)).unwrap();
        assert_eq!(model.dimension(), dimension);
        assert!(
            model.id().starts_with(name) && model.id().len() == name.len() + 13,
            "{}",
            model.id()
        );
        let texts: Vec<&str> = golden.iter().map(|(text, _)| *text).collect();
        for (vector, (text, first)) in model.embed_many(&texts).iter().zip(golden) {
            assert_eq!(vector.len(), dimension);
            assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
            for (ours, theirs) in vector.iter().zip(first) {
                assert!(
                    (ours - theirs).abs() < 5e-4,
                    "{text:?}: {ours} is not {theirs}"
                );
            }
        }
    }
}

#[test]
fn near_in_meaning_is_near_in_space() {
    let model = Model::load(&shipped("potion-8m")).unwrap();
    let [asked, answer, other] = [
        "how to fix a broken pipe",
        "repairing a leaking water tube",
        "the king of Spain",
    ]
    .map(|text| model.embed(text));
    assert!(cosine(&asked, &answer) > cosine(&asked, &other) + 0.1);
}

#[test]
fn a_text_is_read_up_to_a_limit_and_nothing_is_all_zeros() {
    let model = Model::load(&shipped("potion-8m")).unwrap();
    let long = "word ".repeat(STATIC_PIECES);
    assert_eq!(
        model.embed(&long),
        model.embed(&(long.clone() + &"other ".repeat(200_000)))
    );
    for nothing in ["", " \n", "\u{200b}\0"] {
        assert_eq!(model.embed(nothing), vec![0.0; 256]);
    }
    assert!(
        model
            .embed(&"x".repeat(1_000_000))
            .iter()
            .all(|number| *number == 0.0),
        "one word that is too long"
    );
}

/// A context changes the vector of a text only in a transformer, and an empty one changes nothing.
#[test]
fn a_context_is_read_with_the_text() {
    for name in ["potion-8m", "minilm-l6"] {
        let model = Model::load(&shipped(name)).unwrap();
        let (text, context) = ("He left for Rome.", "Where is my uncle?");
        let alone = model.embed(text);
        let vectors = model.embed_in_context(&[("", text), (context, text)]);
        assert_eq!(vectors[0], alone);
        assert_eq!(vectors[1] == alone, model.stage() == EmbeddingStage::First);
        let long = "word ".repeat(1_000);
        let cut = model.embed_in_context(&[(&long, text), (context, &long)]);
        assert!(cut.iter().flatten().all(|number| number.is_finite()));
    }
}

#[test]
fn a_vector_is_the_same_alone_and_among_others() {
    let model = tiny::model();
    let texts = [
        "one two",
        "three",
        "",
        "two two one three one two three four five",
        &"one ".repeat(400),
    ];
    let together = model.embed_many(&texts);
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(&model.embed(text), vector);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
    assert_ne!(together[0], together[1]);
    assert_eq!(
        model.embed("one ".repeat(300).as_str()),
        together[4],
        "beyond the limit nothing counts"
    );
}

#[test]
fn what_is_missing_or_damaged_is_said() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("potion");
    fs::create_dir(&folder).unwrap();
    let said = |folder: &std::path::Path| Model::load(folder).unwrap_err().to_string();
    assert!(said(&folder).starts_with("the model has no config.json"));
    for file in ["config.json", "vocab.txt", "model.safetensors"] {
        fs::copy(shipped("potion-8m").join(file), folder.join(file)).unwrap();
    }
    assert!(Model::load(&folder).is_ok());
    let weights = fs::read(folder.join("model.safetensors")).unwrap();
    for (damaged, wanted) in [
        (vec![1, 2, 3], "shorter than its header"),
        (u64::MAX.to_le_bytes().to_vec(), "claims more than"),
        (500u64.to_le_bytes().to_vec(), "ends within its header"),
        (
            weights[..weights.len() - 1].to_vec(),
            "is not where the header says",
        ),
    ] {
        fs::write(folder.join("model.safetensors"), damaged).unwrap();
        assert!(
            said(&folder).contains(wanted),
            "{} should say {wanted}",
            said(&folder)
        );
    }
    fs::write(folder.join("config.json"), r#"{"model_type": "gpt"}"#).unwrap();
    assert!(said(&folder).contains("known are"));
    fs::remove_file(folder.join("vocab.txt")).unwrap();
    assert!(said(&folder).starts_with("the model has no vocab.txt"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_is_too_strange(text in "\\PC{0,60}|[\\x00-\\x{ffff}]{0,60}") {
        let vector = tiny::model().embed(&text);
        prop_assert!(vector.iter().all(|number| number.is_finite()));
    }

    #[test]
    fn no_damage_is_believed(which in 0..3usize, at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut files = tiny::files();
        let file = [&mut files.config, &mut files.vocabulary, &mut files.weights].into_iter().nth(which).unwrap().to_mut();
        let at = at.index(file.len());
        if cut { file.truncate(at) } else { file[at] = byte }
        if let Ok(model) = Model::from_files("tiny", files) {
            prop_assert!(model.embed("one two").iter().all(|number| number.is_finite()));
        }
    }
}
