//! Context files and their templates: any text is checked with a suggested fix; any two changes of a text are
//! compared and merged. The input is three texts separated by zero bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lored::projects::check_file;
use lored::projects::compare::{LONGEST, Merge, merge, unified};

fuzz_target!(|texts: &str| {
    let mut texts = texts.splitn(3, '\0');
    let [template, one, other] = [(); 3].map(|()| texts.next().unwrap_or_default());
    let _ = check_file(template, one);
    let _ = unified(one, other, ["one", "other"], 3, LONGEST);
    let unchanged = merge(one, one, other, ["ours", "theirs"], LONGEST);
    assert_eq!(unchanged, Merge::Clean(other.to_owned()));
    if let Merge::Conflicts { count, text } =
        merge(template, one, other, ["ours", "theirs"], LONGEST)
    {
        assert!(count > 0 && text.contains("<<<<<<< ours"));
    }
});
