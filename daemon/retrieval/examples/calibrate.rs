use lored_models::Model;
use lored_retrieval::ranking::{Fusion, RankedList, fuse};
use lored_retrieval::text::{Change, Class, IndexedText, Kind, NewText, Query, TextIndex, key};
use std::collections::HashMap;
use std::path::Path;
fn main() {
    let root = std::env::args().nth(1).unwrap();
    let out_all: Vec<String> = std::env::args().skip(2).collect();
    let first = Model::load(Path::new("/work/shared/models/potion-8m"));
    let first = match first {
        Ok(m) => m,
        Err(e) => panic!("{e}"),
    };
    let second = Model::load(Path::new("/work/shared/models/minilm-l6")).unwrap();
    for name in out_all {
        let folder = Path::new(&root).join(&name);
        let lines = |f: &str| -> Vec<serde_json::Value> {
            std::fs::read_to_string(folder.join(f))
                .unwrap()
                .lines()
                .map(|l| serde_json::from_str(l).unwrap())
                .collect()
        };
        let mut docs = lines("docs.jsonl");
        docs.truncate(1700);
        let ids: HashMap<String, u64> = docs
            .iter()
            .enumerate()
            .map(|(i, d)| (d["id"].as_str().unwrap().to_owned(), i as u64))
            .collect();
        let text_of = |d: &serde_json::Value| {
            format!(
                "{}\n{}",
                d["title"].as_str().unwrap_or(""),
                d["text"].as_str().unwrap_or("")
            )
        };
        for (talk, kind) in [(false, Kind::Document), (true, Kind::Message)] {
            let dir = tempfile::tempdir().unwrap();
            let index = TextIndex::open(dir.path(), 1).unwrap();
            let changes: Vec<Change> = docs
                .iter()
                .enumerate()
                .map(|(i, d)| {
                    Change::Add(NewText {
                        unit: IndexedText {
                            key: key(i as u64 + 1, 0),
                            kind,
                            group: i as u64 + 1,
                            session: 1,
                            number: 0,
                        },
                        text: text_of(d),
                        around: if talk { text_of(d) } else { String::new() },
                    })
                })
                .collect();
            index.apply(&changes, docs.len() as u64 + 1).unwrap();
            let texts: Vec<String> = docs.iter().map(text_of).collect();
            let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut qrels: HashMap<String, Vec<u64>> = HashMap::new();
            for l in std::fs::read_to_string(folder.join("qrels.tsv"))
                .unwrap()
                .lines()
            {
                let p: Vec<&str> = l.split('\t').collect();
                if p[2] != "0" {
                    if let Some(i) = ids.get(p[1]) {
                        qrels.entry(p[0].to_owned()).or_default().push(*i);
                    }
                }
            }
            let mut queries = lines("queries.jsonl");
            if queries.len() > 300 {
                let s = queries.len() / 300;
                queries = queries.into_iter().step_by(s).collect();
            }
            for (stage, model, share) in [(1, &first, 0.6), (2, &second, 0.5)] {
                if talk && stage == 2 {
                    continue;
                }
                eprintln!("{name} {stage}");
                let vectors: Vec<Vec<f32>> =
                    refs.chunks(16).flat_map(|c| model.embed_many(c)).collect();
                for q in &queries {
                    let Some(rel) = qrels.get(q["id"].as_str().unwrap()) else {
                        continue;
                    };
                    let question = q["text"].as_str().unwrap();
                    let qv = model.embed(question);
                    let cos =
                        |i: usize| -> f32 { vectors[i].iter().zip(&qv).map(|(a, b)| a * b).sum() };
                    let mut near: Vec<(u64, f32)> = (0..docs.len())
                        .map(|i| (key(i as u64 + 1, 0), cos(i)))
                        .collect();
                    near.sort_by(|a, b| b.1.total_cmp(&a.1));
                    near.truncate(100);
                    let also: Vec<u64> = near.iter().map(|n| n.0).collect();
                    let found = index
                        .search(
                            &Query {
                                text: question,
                                classes: &Class::ALL,
                                limit: 100,
                                also: &also,
                            },
                            None,
                        )
                        .unwrap();
                    let ranked: Vec<(u64, f32)> =
                        found.hits.iter().map(|h| (h.key, h.score)).collect();
                    let also_text: Vec<(u64, f32)> = also
                        .iter()
                        .zip(&found.also)
                        .filter(|(k, _)| !ranked.iter().any(|r| r.0 == **k))
                        .map(|(k, s)| (*k, *s))
                        .collect();
                    let also_vec: Vec<(u64, f32)> = ranked
                        .iter()
                        .filter(|(k, _)| !also.contains(k))
                        .map(|(k, _)| (*k, cos((*k >> 20) as usize - 1)))
                        .collect();
                    let hits = fuse(
                        RankedList {
                            ranked: &ranked,
                            also: &also_text,
                        },
                        RankedList {
                            ranked: &near,
                            also: &also_vec,
                        },
                        Fusion::ZScores { text_share: share },
                    );
                    let bound = found.bounds[usize::from(talk)];
                    for (r, h) in hits.iter().take(30).enumerate() {
                        let t = h.text.map_or(0.0, |s| s.score) / bound;
                        let c = h.vector.map_or(0.0, |s| s.score);
                        let ok = rel.contains(&((h.key >> 20) - 1));
                        println!(
                            "{name}\t{talk}\t{stage}\t{r}\t{t:.4}\t{c:.4}\t{}",
                            u8::from(ok)
                        );
                    }
                }
                for nonsense in [
                    "qwzxv plmok",
                    "zzkqt",
                    "blorft wex snarp",
                    "What is the wifi password of the office?",
                    "Which restaurant did Maria recommend?",
                    "kubernetes ingress timeout",
                    "how do I renew my passport",
                ] {
                    let qv = model.embed(nonsense);
                    let cos =
                        |i: usize| -> f32 { vectors[i].iter().zip(&qv).map(|(a, b)| a * b).sum() };
                    let mut near: Vec<f32> = (0..docs.len()).map(cos).collect();
                    near.sort_by(|a, b| b.total_cmp(a));
                    let found = index
                        .search(
                            &Query {
                                text: nonsense,
                                classes: &Class::ALL,
                                limit: 3,
                                also: &[],
                            },
                            None,
                        )
                        .unwrap();
                    eprintln!(
                        "{name} {stage} {nonsense}: cos {:?} text {:?}",
                        &near[..3],
                        found
                            .hits
                            .iter()
                            .map(|h| h.score / found.bounds[usize::from(talk)])
                            .collect::<Vec<_>>()
                    );
                }
            }
        }
    }
}
