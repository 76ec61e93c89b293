//! Search quality on a small built-in collection: nDCG@10 of each mode has a minimum.
//!
//! `tests/quality.py` measures the same on collections of any size.

use serde_json::json;
use tests::serve;

use super::{add, folder};

/// Number of evaluated results.
const DEPTH: usize = 10;

/// File name, title, text.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    (
        "sourdough",
        "Sourdough bread",
        "A starter of flour and water ferments for a week. Wild yeast makes the dough rise overnight. \
         Bake the loaf in a closed pot, so that steam keeps the crust soft while it grows.",
    ),
    (
        "pasta",
        "Fresh pasta",
        "Knead flour with eggs until the dough is smooth. Rest it for half an hour, roll it thin, cut it, \
         and cook it for two minutes in salted water.",
    ),
    (
        "coffee",
        "Brewing coffee",
        "Grind the beans just before brewing. Water of 93 degrees draws out flavour without bitterness. \
         A finer grind needs less time; too fine, and the cup tastes burnt.",
    ),
    (
        "tea",
        "Green tea",
        "Leaves are steamed soon after the harvest, which keeps them green. Pour on water that has cooled \
         to 75 degrees: boiling water makes the drink bitter.",
    ),
    (
        "bicycle-brakes",
        "Adjusting bicycle brakes",
        "If a lever touches the handlebar, tighten the cable at the barrel adjuster. Worn pads squeal and \
         stop badly in the rain; replace them before the metal shows.",
    ),
    (
        "bicycle-tyre",
        "Mending a puncture",
        "Take off the wheel, lever the tyre over the rim and pull out the inner tube. Find the hole under \
         water, roughen the rubber, and press a patch on the glue when it is dry.",
    ),
    (
        "car-battery",
        "A flat car battery",
        "In cold weather an old battery cannot turn the engine. Connect the red cable to the positive pole \
         first, the black one to bare metal, and start the other vehicle.",
    ),
    (
        "car-oil",
        "Changing engine oil",
        "Let the motor run warm, open the drain plug and wait until the last drops are out. Lubricant that is \
         old turns black and no longer protects moving parts from wear.",
    ),
    (
        "postgres-vacuum",
        "Vacuum in PostgreSQL",
        "Updates leave dead rows behind. Autovacuum frees their space for later inserts, but does not return it \
         to the file system; VACUUM FULL does, and locks the table meanwhile.",
    ),
    (
        "postgres-index",
        "Choosing a database index",
        "A B-tree answers equality and ranges. Without one a query reads every row of the table. Each index makes \
         writes slower, so drop those that are never used.",
    ),
    (
        "backup",
        "Restoring from a backup",
        "A copy that was never restored is only a hope. Once a month load last night's dump into an empty server \
         and compare the counts. Keep one copy in another building.",
    ),
    (
        "deploy",
        "Rolling back a release",
        "When errors climb after a deployment, switch traffic to the previous version first and ask why later. \
         The flag `rollback_to` names the build; `retry_max_attempts` bounds how often it is tried.",
    ),
    (
        "on-call",
        "On-call duty",
        "Whoever is on call answers a page within ten minutes. Write down what was tried, hand over at nine, and \
         wake a second person rather than guess.",
    ),
    (
        "sleep",
        "Sleeping well",
        "Go to bed at the same hour every day. Bright screens in the evening delay tiredness. A cool, dark room \
         helps most people to stay asleep until the morning.",
    ),
    (
        "running",
        "Starting to run",
        "Begin with a minute of jogging and a minute of walking. Raise the distance by a tenth each week; sore shins \
         mean that it was too much, or that the shoes are worn out.",
    ),
    (
        "whales",
        "Songs of whales",
        "Humpback males sing for hours in warm waters. The melody changes from year to year, and all animals of \
         an ocean sing the same one. Low notes carry for hundreds of kilometres.",
    ),
    (
        "bees",
        "How bees tell the way",
        "A forager that found blossoms dances on the comb. The angle of the dance against the vertical is the \
         direction against the sun, its length the distance.",
    ),
    (
        "volcano",
        "Why volcanoes erupt",
        "Molten rock is lighter than what lies above it, and rises. Gas that was dissolved under pressure forms \
         bubbles near the surface and drives the lava out.",
    ),
    (
        "tides",
        "Ebb and flow",
        "The moon pulls the sea towards itself more on the near side than on the far one, so the water bulges on \
         both. The earth turns below, and a coast sees two high tides a day.",
    ),
    (
        "lease",
        "Ending a lease",
        "A tenant gives notice in writing three months before moving out. The deposit is returned when the flat is \
         handed over without damage; ordinary wear is no damage.",
    ),
];

/// A question, and the relevant documents with their grades.
const QUESTIONS: &[(&str, &[(&str, u32)])] = &[
    ("how do I make bread dough rise", &[("sourdough", 2)]),
    ("recipes with flour", &[("sourdough", 1), ("pasta", 2)]),
    (
        "why does my hot drink taste bitter",
        &[("tea", 2), ("coffee", 2)],
    ),
    (
        "repairing a bike",
        &[("bicycle-tyre", 2), ("bicycle-brakes", 2)],
    ),
    ("hole in the inner tube", &[("bicycle-tyre", 2)]),
    ("automobile does not start in winter", &[("car-battery", 2)]),
    ("lubrication of a motor", &[("car-oil", 2)]),
    (
        "slow SQL query scans the whole table",
        &[("postgres-index", 2), ("postgres-vacuum", 1)],
    ),
    ("retry_max_attempts", &[("deploy", 2)]),
    (
        "production is broken, what now",
        &[("deploy", 2), ("on-call", 1), ("backup", 1)],
    ),
    (
        "verifying that saved data can be recovered",
        &[("backup", 2)],
    ),
    ("insomnia at night", &[("sleep", 2)]),
    ("marine mammals communicating under water", &[("whales", 2)]),
    ("how insects show where flowers are", &[("bees", 2)]),
    ("renter moving out of an apartment", &[("lease", 2)]),
];

/// Returns the discounted gain of grades by rank.
fn gain(grades: impl IntoIterator<Item = u32>) -> f64 {
    let ranked = (2..).zip(grades).take(DEPTH);
    ranked
        .map(|(rank, grade)| f64::from(grade) / f64::from(rank).log2())
        .sum()
}

fn ndcg(found: &[&str], relevant: &[(&str, u32)]) -> f64 {
    let grade = |name: &&str| {
        let known = relevant.iter().find(|(document, _)| document == name);
        known.map_or(0, |(_, grade)| *grade)
    };
    let mut best: Vec<u32> = relevant.iter().map(|(_, grade)| *grade).collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    gain(found.iter().map(grade)) / gain(best)
}

#[test]
fn every_mode_finds_what_it_should() {
    let (home, daemon) = serve!();
    let files: Vec<(String, String)> = DOCUMENTS
        .iter()
        .map(|(name, title, text)| {
            (
                format!("{name}.md"),
                format!("---\ntitle: {title}\n---\n{text}\n"),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    add(&daemon, &folder(&home, "collection", &files), json!({}));
    let mean = |mode: &str| {
        let sum: f64 = QUESTIONS
            .iter()
            .map(|(query, relevant)| {
                let args = json!({"query": query, "search_type": mode, "max_results": 50});
                let reply = daemon.call("search_documents", args);
                assert_eq!(reply["search_type_used"], mode);
                let mut found: Vec<&str> = Vec::new();
                for result in reply["results"].as_array().unwrap() {
                    let name = result["file_name"]
                        .as_str()
                        .unwrap()
                        .trim_end_matches(".md");
                    // The document of several chunks counts once.
                    if !found.contains(&name) {
                        found.push(name);
                    }
                }
                ndcg(&found, relevant)
            })
            .sum();
        sum / QUESTIONS.len() as f64
    };
    let reached = ["text", "vector", "hybrid", "semantic"].map(|mode| (mode, mean(mode)));
    let floors = [0.57, 0.95, 0.86, 0.88];
    for ((mode, reached), floor) in reached.iter().zip(floors) {
        assert!(*reached >= floor, "{mode}: {reached:.4} is below {floor}");
    }
    let [(_, text), _, (_, hybrid), _] = reached;
    assert!(hybrid >= text, "{reached:?}");
}
