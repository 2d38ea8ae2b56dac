//! Drafts and their end. One test: the table of drafts belongs to the process.

use std::fs;
use std::io;

use disk::{DraftPath, end_drafts};

#[test]
fn drafts_are_removed_unless_they_are_completed_and_all_of_them_at_the_end() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let begin = |name: &str| {
        DraftPath::begin(&at(name), |path| fs::write(path, name))
            .unwrap()
            .1
    };

    drop(begin("dropped.part"));
    begin("kept.part").complete(&at("kept")).unwrap();
    begin("lost.part").complete(&at("absent/lost")).unwrap_err();
    let (file, folder) = (begin("file.part"), {
        let made = DraftPath::begin(&at("folder.part"), |path| fs::create_dir(path));
        made.unwrap().1
    });
    fs::write(folder.as_path().join("inside"), "1").unwrap();
    // The draft of another process.
    fs::write(at("taken.part"), "theirs").unwrap();
    let refuse = |_: &_| Err::<(), _>(io::Error::from(io::ErrorKind::ResourceBusy));
    DraftPath::begin(&at("taken.part"), refuse).unwrap_err();

    assert_eq!(end_drafts().removed, 2);
    // What was dropped after the end removes nothing that has come to its path since.
    fs::write(at("file.part"), "another's").unwrap();
    drop((file, folder));
    let mut left: Vec<_> = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["file.part", "kept", "taken.part"]);
}
