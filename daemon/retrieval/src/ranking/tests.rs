//! Tests of fusion, reranking and captions on hand-made lists.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;

use super::*;

const HALVES: Fusion = Fusion::ZScores {
    text_share: TEXT_SHARE,
};

/// A list without scores of hits that only the other list ranks.
fn list<K>(ranked: &[(K, f32)]) -> RankedList<'_, K> {
    RankedList { ranked, also: &[] }
}

fn score(rank: Option<usize>, score: f32) -> Option<ListScore> {
    Some(ListScore { rank, score })
}

fn keys<K: Copy>(fused: &[RankedHit<K>]) -> Vec<K> {
    fused.iter().map(|hit| hit.key).collect()
}

#[test]
fn z_scores_weigh_both_lists_alike() {
    // Each key has one of the text scores 4, 2, 0 and one of the vector scores 0.9, 0.5, 0.1.
    let fused = fuse(
        list(&[(1, 4.0), (2, 2.0), (3, 0.0)]),
        list(&[(2, 0.9), (1, 0.5), (3, 0.1)]),
        HALVES,
    );
    assert_eq!(keys(&fused), [1, 2, 3]);
    let deviation = 1.5f64.sqrt();
    assert!(
        (fused[0].score - deviation / 2.0).abs() < 1e-6
            && (fused[2].score + deviation).abs() < 1e-6
    );
    assert_eq!(fused[0].text, score(Some(1), 4.0));
    assert_eq!(fused[0].vector, score(Some(2), 0.5));
    assert!((fused[0].parts[0] - deviation / 2.0).abs() < 1e-6 && fused[0].parts[1].abs() < 1e-6);
}

#[test]
fn what_one_list_lacks_counts_as_its_worst() {
    let fused = fuse(
        list(&[(1, 3.0), (2, 1.0)]),
        list(&[(3, 0.8), (1, 0.2)]),
        HALVES,
    );
    assert_eq!(fused.iter().find(|hit| hit.key == 3).unwrap().text, None);
    assert_eq!(keys(&fused), [1, 3, 2]);
    assert_eq!(
        keys(&fuse(list(&[(2, 1.0), (1, 1.0)]), list(&[]), HALVES)),
        [1, 2],
        "equal scores say nothing; the lower key is first"
    );
    assert!(fuse::<u64>(list(&[]), list(&[]), HALVES).is_empty());
}

#[test]
fn known_scores_of_what_was_not_ranked_count() {
    // With its known text score of 2.9, key 3 matches nearly as well as key 1.
    let text = RankedList {
        ranked: &[(1, 3.0), (2, 1.0)],
        also: &[(3, 2.9), (9, 7.0)],
    };
    let fused = fuse(text, list(&[(3, 0.8), (1, 0.2)]), HALVES);
    assert_eq!(keys(&fused), [3, 1, 2], "what neither list ranks is no hit");
    assert_eq!(fused[0].text, score(None, 2.9));
    let text_alone = fuse(
        text,
        list(&[(3, 0.8), (1, 0.2)]),
        Fusion::ZScores { text_share: 1.0 },
    );
    assert_eq!(keys(&text_alone), [1, 3, 2]);
    let by_rank = fuse(text, list(&[(3, 0.8)]), Fusion::ReciprocalRanks { k: 0.0 });
    assert_eq!(
        keys(&by_rank),
        [1, 3, 2],
        "ranks count only where there are any"
    );
}

#[test]
fn reciprocal_ranks_add_up() {
    let fused = fuse(
        list(&[(1, 9.0), (2, 8.0)]),
        list(&[(2, 0.3), (4, 0.2)]),
        Fusion::ReciprocalRanks { k: 60.0 },
    );
    assert_eq!(keys(&fused), [2, 1, 4]);
    assert!((fused[0].score - (1.0 / 62.0 + 1.0 / 61.0)).abs() < 1e-12);
}

#[test]
fn the_best_sentence_moves_its_document_up_within_the_head() {
    let hits: Vec<(u64, f32)> = (0..40)
        .map(|key| (key, 40.0 - key as f32 / 100.0))
        .collect();
    let mut reranked = fuse(list(&hits), list(&hits), HALVES);
    rerank(&mut reranked, |key| match key {
        29 => Some(0.9),
        39 => Some(1.0),
        5 => None,
        _ => Some(0.1),
    });
    let place = |key| reranked.iter().position(|hit| hit.key == key).unwrap();
    assert!(place(29) < 29, "{}", place(29));
    assert_eq!(place(39), 39, "what is behind the head stays there");
    let five = reranked[place(5)];
    assert_eq!(Some(five.score), five.fused);
    assert_eq!(reranked[place(29)].sentence, Some(0.9));
    assert_eq!(reranked.len(), 40);
}

#[test]
fn a_single_sentence_is_not_compared() {
    assert_eq!(best_sentence(&[1.0, 0.0], &[vec![1.0, 0.0]]), None);
    assert_eq!(
        best_sentence(
            &[1.0, 0.0],
            &[vec![0.6, 0.8], vec![0.8, 0.6], vec![0.8, 0.6]]
        ),
        Some(0.8)
    );
}

#[test]
fn a_caption_quotes_two_sentences_in_the_order_of_the_text() {
    let sentences = [
        "Cats purr.",
        "The Panthers gave up 308 points.",
        "They ranked sixth.",
        "Panthers lead in points!",
    ];
    let text = &sentences.join(" ");
    let ranges = sentences.map(|sentence| {
        let start = text.find(sentence).unwrap();
        start..start + sentence.len()
    });
    let vectors = vec![
        vec![0.0, 1.0],
        vec![1.0, 0.0],
        vec![0.0, 1.0],
        vec![0.8, 0.6],
    ];
    let query = words("How many POINTS did the panthers give up?");
    let found = caption(text, &ranges, &vectors, (&query, &[1.0, 0.0]), words);
    let quoted: Vec<&str> = found
        .parts
        .iter()
        .map(|part| &text[part.range.clone()])
        .collect();
    assert_eq!(
        quoted,
        [
            "The Panthers gave up 308 points.",
            "Panthers lead in points!"
        ]
    );
    assert!(found.parts[0].score > found.parts[1].score);
    let one = caption(
        sentences[0],
        &ranges[..1],
        &[vec![1.0]],
        (&query, &[1.0]),
        words,
    );
    assert_eq!(one.parts.len(), 1);
    assert_eq!(caption("", &[], &[], (&query, &[1.0]), words).parts, []);
}

proptest! {
    #[test]
    fn a_fused_list_holds_each_key_once_in_order(
        text in prop::collection::btree_map(0..30u8, -5f32..5.0, 0..20),
        vector in prop::collection::btree_map(0..30u8, -1f32..1.0, 0..20),
        by_rank in any::<bool>(),
    ) {
        let ranked = |list: &std::collections::BTreeMap<u8, f32>| {
            let mut list: Vec<(u8, f32)> = list.iter().map(|(key, score)| (*key, *score)).collect();
            list.sort_by(|left, right| right.1.total_cmp(&left.1));
            list
        };
        let fusion = if by_rank { Fusion::ReciprocalRanks { k: 60.0 } } else { HALVES };
        let fused = fuse(list(&ranked(&text)), list(&ranked(&vector)), fusion);
        let mut seen: Vec<u8> = keys(&fused);
        prop_assert!(fused.windows(2).all(|pair| (pair[1].score, pair[0].key) < (pair[0].score, pair[1].key) || pair[1].score < pair[0].score));
        prop_assert!(fused.iter().all(|hit| (hit.score - hit.parts[0] - hit.parts[1]).abs() < 1e-9 && hit.score.is_finite()));
        seen.sort_unstable();
        let mut all: Vec<u8> = text.keys().chain(vector.keys()).copied().collect();
        all.sort_unstable();
        all.dedup();
        prop_assert_eq!(seen, all);
    }
}

/// A score depends on the hit alone, is between 0 and 1, and grows with words and with the cosine.
#[test]
fn the_relevance_of_a_hit_is_its_own() {
    for scale in [VectorScale::Static, VectorScale::Transformer] {
        let of = |words, cosine| relevance(Some(words), Some((scale, cosine)));
        assert!(
            of(0.0, 0.0) < UNRELATED && UNRELATED < floor(true, scale),
            "an unrelated text is no hit"
        );
        assert!(
            (UNRELATED..floor(true, scale)).contains(&further_floor(scale)),
            "further evidence may match less, and is still no unrelated text"
        );
        assert!(of(0.6, 0.6) > 0.5, "{}", of(0.6, 0.6));
        assert!(of(0.3, 0.4) < of(0.4, 0.4) && of(0.3, 0.4) < of(0.3, 0.5));
        assert!((0.0..=1.0).contains(&of(9.0, 9.0)) && (0.0..=1.0).contains(&of(-9.0, -9.0)));
        let vectors_alone = |cosine| relevance(None, Some((scale, cosine)));
        assert!(vectors_alone(0.7) > vectors_alone(0.3));
        assert!(
            vectors_alone(0.15) < floor(false, scale),
            "as near as words that do not exist"
        );
        assert!(vectors_alone(0.35) > floor(false, scale));
    }
    assert!(relevance(Some(0.9), None) > relevance(Some(0.1), None));
    assert_eq!(relevance(None, None), 0.0);
}

/// One common word of four is no answer; a rare one, or several of a long question, are.
#[test]
fn words_of_a_question_match_by_chance() {
    assert!(!answers(0.1, 0.3) && !answers(0.2, 0.39));
    assert!(answers(0.25, 0.01) && answers(0.2, 0.5) && answers(0.06, 1.5));
}

#[test]
fn hits_below_the_floor_go_and_the_order_stays() {
    let hit = |key: u64, score: f64, relevance: f64| RankedHit {
        score,
        relevance,
        ..RankedHit::unscored(key)
    };
    let mut hits = vec![
        hit(1, 2.0, 0.5),
        hit(2, 1.0, 0.7),
        hit(3, 0.5, 0.001),
        hit(4, 0.1, 0.2),
    ];
    settle(&mut hits, 0.02);
    assert_eq!(keys(&hits), [1, 2, 4]);
    let scores: Vec<f64> = hits.iter().map(|hit| hit.score).collect();
    assert_eq!(scores, [0.5, 0.5, 0.2]);
    assert_eq!(hits[1].fused, Some(1.0));
    let mut hits = vec![hit(1, 2.0, 0.5), hit(2, 1.0, 0.01), hit(3, 0.5, 0.3)];
    settle(&mut hits, 0.02);
    keep_likely(&mut hits, 0.02);
    let scores: Vec<(u64, f64)> = hits.iter().map(|hit| (hit.key, hit.score)).collect();
    assert_eq!(
        scores,
        [(1, 0.5), (3, 0.3)],
        "the one that is gone lowers no score"
    );
    assert_eq!(hits[1].fused, Some(0.5));
    let mut unknown = vec![hit(1, 2.0, 0.01), hit(2, 1.0, 0.015)];
    settle(&mut unknown, 0.02);
    assert!(unknown.is_empty(), "even the best one says nothing");
    let mut alone = vec![hit(4, 0.0, 0.2)];
    settle(&mut alone, 0.02);
    assert_eq!(alone[0].score, 0.2, "however many hits there are");
}

#[test]
fn preferred_hits_rise_by_a_deviation() {
    let scored = |key: u64, score: f64| RankedHit {
        score,
        ..RankedHit::unscored(key)
    };
    let mut hits = vec![scored(1, 2.0), scored(2, 0.5), scored(3, -2.5)];
    prefer(&mut hits, 1.0, |key| key == 2);
    assert_eq!(keys(&hits), [2, 1, 3], "the deviation is 1.87");
    prefer(&mut hits, 1.0, |_| false);
    assert_eq!(keys(&hits), [2, 1, 3]);
}
