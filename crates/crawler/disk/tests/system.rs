//! The machine's own disk does what the trait says, and a reserve on it takes up space.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use disk::{Disk, Reserve, ReservedDisk, Restored, SystemDisk};

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn appended_bytes_follow_the_existing_ones() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let disk = SystemDisk;
    assert_eq!(disk.open(&path).unwrap_err().kind(), ErrorKind::NotFound);
    let file = disk.create(&path).unwrap();
    disk.append(&file, b"one ").unwrap();
    disk.append(&file, b"two").unwrap();
    disk.set_length(&file, 5).unwrap();
    disk.sync(&file).unwrap();
    drop(file);
    assert_eq!(
        disk.create(&path).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    let file = disk.open(&path).unwrap();
    disk.append(&file, b"hree").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"one three");
    assert_eq!(file.length().unwrap(), 9);
    assert_eq!(file.path(), path);
}

#[test]
fn names_are_created_changed_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let disk = SystemDisk;
    let below = directory.path().join("a/b");
    disk.create_directories(&below).unwrap();
    disk.create_directories(&below).unwrap();
    drop(disk.create(&below.join("one")).unwrap());
    disk.rename(&below.join("one"), &below.join("two")).unwrap();
    disk.sync_directory(&below).unwrap();
    assert_eq!(names(&below), ["two"]);
    disk.remove(&below.join("two")).unwrap();
    assert_eq!(
        disk.remove(&below.join("two")).unwrap_err().kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn a_file_is_replaced_whatever_an_earlier_attempt_left() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("settings.toml");
    std::fs::write(directory.path().join("settings.toml.new"), "half").unwrap();
    for content in ["first", "second"] {
        SystemDisk.replace(&path, content.as_bytes()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    assert_eq!(names(directory.path()), ["settings.toml"]);
}

#[test]
fn a_reserve_occupies_space_until_it_is_spent_and_the_next_process_takes_it_over() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reserve");
    let bytes = (3 << 20) + 17;
    let take = || Reserve::take(Arc::new(SystemDisk), &path, bytes, 0).unwrap();
    let reserve = take();
    assert!(!reserve.is_spent());
    assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let allocated = std::fs::metadata(&path).unwrap().blocks() * 512;
        assert!(allocated >= bytes, "{allocated} bytes allocated");
    }
    let made = std::fs::metadata(&path).unwrap().modified().unwrap();
    let reserve = {
        drop(reserve);
        take()
    };
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        made,
        "not written again"
    );

    assert!(reserve.spend().unwrap());
    assert!(!reserve.spend().unwrap(), "there is no more");
    assert!(reserve.is_spent() && !path.exists());
    assert_eq!(reserve.restore().unwrap(), Restored::Held);
    assert!(!reserve.is_spent() && path.exists());
    reserve.release().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_reserve_of_another_size_is_written_anew() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("reserve");
    std::fs::write(&path, [0; 10]).unwrap();
    let _reserve = Reserve::take(Arc::new(SystemDisk), &path, 4096, 0).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 4096);
}

#[cfg(unix)]
#[test]
fn a_reserve_is_not_taken_again_below_the_low_water_mark() {
    let directory = tempfile::tempdir().unwrap();
    assert!(SystemDisk.free_space(directory.path()).is_some());
    assert!(
        SystemDisk
            .free_space(&directory.path().join("missing"))
            .is_none()
    );
    let path = directory.path().join("reserve");
    let reserve = Reserve::take(Arc::new(SystemDisk), &path, 4096, u64::MAX).unwrap();
    reserve.spend().unwrap();
    assert_eq!(reserve.restore().unwrap(), Restored::NoSpace);
    assert!(reserve.is_spent());
}

#[test]
fn a_reserved_disk_is_like_any_other_while_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let system: Arc<dyn Disk> = Arc::new(SystemDisk);
    let reserve = Reserve::take(
        Arc::clone(&system),
        &directory.path().join("reserve"),
        4096,
        0,
    )
    .unwrap();
    let disk = ReservedDisk::new(system, Arc::new(reserve));
    let path = directory.path().join("file");
    disk.replace(&path, b"content").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"content");
    assert!(!disk.reserve().unwrap().is_spent());
}
