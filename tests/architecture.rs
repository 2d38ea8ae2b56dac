//! The walls between the crates, and rules that need a test.

mod circles;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::root;

/// Returns the names of the crates, from the folders below `crates/engine`, `crates/crawler` and
/// `crates/testing`.
fn crates() -> Vec<String> {
    let mut names: Vec<String> = folders()
        .iter()
        .map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns the folders of the crates.
fn folders() -> Vec<PathBuf> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let items = std::fs::read_dir(folder).unwrap();
        let paths = items.map(|item| item.unwrap().path());
        paths.filter(|path| path.is_dir()).collect()
    };
    let groups = below(&root().join("crates"));
    groups.iter().flat_map(|group| below(group)).collect()
}

/// Returns the folder of the crate with this name.
fn folder(name: &str) -> PathBuf {
    let mut folders = folders().into_iter();
    let found = folders.find(|folder| folder.ends_with(name));
    found.unwrap_or_else(|| panic!("no crate is named {name}"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the dependencies in a table of a crate's manifest.
fn dependencies(name: &str, table: &str) -> BTreeSet<String> {
    let manifest: toml::Table = toml::from_str(&read(&folder(name).join("Cargo.toml"))).unwrap();
    let named = manifest.get(table).and_then(toml::Value::as_table);
    named
        .into_iter()
        .flat_map(|table| table.keys().cloned())
        .collect()
}

/// Returns the Rust files below a directory, without those that a build has made.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for item in std::fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("target") {
                found.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn dependencies_point_down_and_siblings_do_not_know_each_other() {
    let may_know: BTreeMap<&str, &[&str]> = BTreeMap::from([
        ("neardup", &[][..]),
        ("web", &[]),
        ("disk", &[]),
        ("differences", &["neardup"]),
        ("comparison", &["differences", "neardup"]),
        ("journal", &["disk", "neardup", "topic", "web"]),
        ("store", &["disk", "journal", "neardup", "web"]),
        ("contract", &["disk", "journal", "neardup", "store", "web"]),
        (
            "shared-store",
            &["disk", "journal", "neardup", "store", "web"],
        ),
        ("sinks", &["disk", "web"]),
        ("render", &[]),
        ("pdf", &["web"]),
        ("requests", &["web"]),
        ("fetch", &["disk", "requests", "web"]),
        (
            "policy",
            &[
                "comparison",
                "disk",
                "journal",
                "reading",
                "requests",
                "sinks",
                "topic",
                "web",
            ],
        ),
        (
            "settings",
            &[
                "corpus", "disk", "journal", "messages", "neardup", "pdf", "policy", "reading",
                "requests", "sinks", "store", "topic", "web",
            ],
        ),
        ("search", &["disk", "sinks", "web"]),
        ("export", &["disk", "journal", "neardup", "web"]),
        ("statistics", &["journal", "store", "web"]),
        ("messages", &["disk", "journal", "web"]),
        ("batch", &["neardup"]),
        ("classics", &["neardup"]),
        (
            "facts",
            &[
                "comparison",
                "corpus",
                "differences",
                "export",
                "journal",
                "messages",
                "neardup",
                "policy",
                "reading",
                "search",
                "settings",
                "sinks",
                "statistics",
                "store",
                "topic",
                "web",
            ],
        ),
        (
            "web-ui",
            &[
                "comparison",
                "differences",
                "disk",
                "export",
                "journal",
                "policy",
                "render",
                "search",
                "sinks",
                "statistics",
                "store",
                "unpack",
                "web",
            ],
        ),
        (
            "crawl",
            &[
                "comparison",
                "disk",
                "fetch",
                "journal",
                "neardup",
                "policy",
                "reading",
                "render",
                "requests",
                "sinks",
                "store",
                "topic",
                "web",
            ],
        ),
        (
            "corpus",
            &[
                "batch",
                "classics",
                "comparison",
                "disk",
                "messages",
                "neardup",
                "reading",
                "sinks",
                "web",
            ],
        ),
        (
            "cli",
            &[
                "batch",
                "classics",
                "comparison",
                "corpus",
                "crawl",
                "differences",
                "disk",
                "export",
                "inspect",
                "journal",
                "mcp",
                "messages",
                "neardup",
                "pdf",
                "policy",
                "requests",
                "search",
                "settings",
                "setup",
                "shared-store",
                "sinks",
                "statistics",
                "store",
                "topic",
                "unpack",
                "web",
                "web-ui",
            ],
        ),
        (
            "setup",
            &[
                "batch",
                "corpus",
                "crawl",
                "disk",
                "fetch",
                "journal",
                "messages",
                "neardup",
                "policy",
                "reading",
                "render",
                "requests",
                "search",
                "settings",
                "shared-store",
                "sinks",
                "store",
                "topic",
                "web",
            ],
        ),
        (
            "inspect",
            &[
                "corpus",
                "crawl",
                "disk",
                "export",
                "facts",
                "journal",
                "messages",
                "neardup",
                "policy",
                "search",
                "settings",
                "setup",
                "shared-store",
                "sinks",
                "statistics",
                "store",
                "topic",
                "unpack",
                "web",
                "web-ui",
            ],
        ),
        (
            "mcp",
            &["corpus", "inspect", "journal", "messages", "settings"],
        ),
        ("reading", &["comparison", "neardup", "web"]),
        ("topic", &["neardup", "web"]),
        ("unpack", &["web"]),
        (
            "python",
            &[
                "batch", "classics", "corpus", "disk", "export", "facts", "journal", "messages",
                "neardup", "reading", "search", "store", "web",
            ],
        ),
        ("testkit", &["disk", "render"]),
        (
            "anybytes",
            &[
                "batch", "classics", "corpus", "crawl", "disk", "journal", "neardup", "policy",
                "reading", "requests", "search", "sinks", "unpack", "web",
            ],
        ),
    ]);
    for name in &crates() {
        let known = dependencies(name, "dependencies");
        for other in &crates() {
            match (known.contains(other), may_know[&**name].contains(&&**other)) {
                (true, false) => panic!("{name} must not know {other}"),
                (false, true) => panic!("{name} may know {other} and does not: remove it here"),
                _ => {}
            }
        }
    }
}

/// A line of the drawing in ARCHITECTURE.md: crates of one layer, and the crates that they use.
struct DrawnCrates {
    names: Vec<String>,
    uses: Uses,
}

/// The crates that a line names after its own.
enum Uses {
    Only(BTreeSet<String>),
    AllBelowExcept(BTreeSet<String>),
}

/// Returns the lines of the drawing, from the programs down to the base.
fn drawing() -> Vec<DrawnCrates> {
    let page = read(&root().join("ARCHITECTURE.md"));
    let (_, section) = page.split_once("## Crates").unwrap();
    let drawing = section.split("```").nth(1).unwrap();
    // A list goes on in the line below.
    let drawing = drawing.replace(&format!(",\n{:24}", ""), ", ");
    let list = |text: &str| text.split(',').map(|name| name.trim().to_owned()).collect();
    let line = |line: &str| {
        let columns: Vec<&str> = line.split("  ").map(str::trim).collect();
        let mut columns = columns.into_iter().filter(|column| !column.is_empty());
        // A layer has its name in its first line.
        let _layer = (!line.starts_with(' ')).then(|| columns.next());
        let names: Vec<String> = list(columns.next().unwrap());
        let uses = match columns.next() {
            Some(uses) => match uses.strip_prefix("every crate below except ") {
                Some(others) => Uses::AllBelowExcept(list(others).into_iter().collect()),
                None => Uses::Only(list(uses).into_iter().collect()),
            },
            None => Uses::Only(BTreeSet::new()),
        };
        DrawnCrates { names, uses }
    };
    drawing.lines().skip(1).map(line).collect()
}

/// ARCHITECTURE.md showed `corpus` and `topic` where the manifests did not have them.
#[test]
fn the_drawing_shows_what_the_manifests_have() {
    let lines = drawing();
    let base: BTreeSet<String> = lines.last().unwrap().names.iter().cloned().collect();
    let for_tests = ["anybytes", "contract", "testkit"].map(str::to_owned);
    let mut below: BTreeSet<String> = BTreeSet::new();
    for line in lines.iter().rev() {
        for name in &line.names {
            let known = dependencies(name, "dependencies");
            let of_ours = crates().into_iter();
            let known: BTreeSet<String> = of_ours.filter(|crate_| known.contains(crate_)).collect();
            let drawn = match &line.uses {
                Uses::Only(uses) => uses.clone(),
                Uses::AllBelowExcept(others) => &(&below - &base) - others,
            };
            let drawn = &drawn | &(&known & &base);
            assert_eq!(
                known, drawn,
                "the crates that {name} uses, and those in the drawing"
            );
            let above: Vec<_> = known.difference(&below).collect();
            assert!(
                base.contains(name) || above.is_empty(),
                "{name} uses {above:?} above it"
            );
        }
        below.extend(line.names.iter().cloned());
    }
    below.extend(for_tests);
    assert_eq!(
        below,
        crates().into_iter().collect(),
        "the crates in the drawing"
    );
}

#[test]
fn pure_crates_know_neither_a_runtime_nor_a_network_nor_a_disk() {
    for name in [
        "classics",
        "comparison",
        "differences",
        "neardup",
        "reading",
        "requests",
        "topic",
        "unpack",
        "web",
    ] {
        let known = dependencies(name, "dependencies");
        for other in ["disk", "tokio", "sled", "hyper", "tempfile", "testkit"] {
            assert!(!known.contains(other), "{name} must not know {other}");
        }
        for file in sources(&folder(name).join("src")) {
            let text = read(&file);
            for word in [
                "std::fs",
                "TcpStream",
                "UdpSocket",
                "ToSocketAddrs",
                "SystemTime",
                "std::thread",
            ] {
                assert!(!text.contains(word), "{word} in {}", file.display());
            }
        }
    }
}

/// The wheel contained an HTTP client, though it sends no request.
#[test]
fn the_python_package_compiles_no_network_client() {
    let lock = read(&folder("python").join("Cargo.lock"));
    let lock: toml::Table = toml::from_str(&lock).unwrap();
    let packages = lock["package"].as_array().unwrap();
    let names: BTreeSet<&str> = packages
        .iter()
        .map(|package| package["name"].as_str().unwrap())
        .collect();
    assert!(names.contains("facts"));
    for client in ["reqwest", "hyper", "rustls", "governor", "sqlx", "axum"] {
        assert!(!names.contains(client), "{client}");
    }
}

#[test]
fn sled_is_named_in_one_file_only() {
    let database = folder("store").join("src/embedded/database.rs");
    for name in &crates() {
        for file in sources(&folder(name)) {
            assert_eq!(
                read(&file).contains("sled::"),
                file == database,
                "{}",
                file.display()
            );
        }
        assert!(name == "store" || !dependencies(name, "dependencies").contains("sled"));
    }
}

#[test]
fn templates_and_the_web_server_are_known_to_one_crate_only() {
    for name in &crates() {
        for other in ["askama", "axum", "prometheus-client", "toml_edit"] {
            let knows = dependencies(name, "dependencies").contains(other);
            assert_eq!(knows, name == "web-ui", "{name}: {other}");
        }
    }
}

/// Files of `journal`, `store` and `sinks` that may change files without a [`disk::Disk`], and the
/// reasons.
const BEHIND_THE_DISKS_BACK: [(&str, &str); 5] = [
    (
        "store/src/embedded/lock.rs",
        "a lock needs the system's file and holds no data",
    ),
    (
        "store/src/embedded/database.rs",
        "sled writes its own files",
    ),
    (
        "store/src/embedded/recovery/quarantine.rs",
        "moves sled's directory",
    ),
    (
        "store/src/embedded/verify/snapshot.rs",
        "makes a copy that is thrown away",
    ),
    (
        "store/src/embedded/database/swap.rs",
        "puts one sled's directory in the place of another",
    ),
];

#[test]
fn journal_store_and_sinks_write_through_the_disk() {
    let words = [
        "fs::write",
        "File::create",
        "fs::rename",
        "remove_file",
        "remove_dir",
        "create_dir(",
        "create_dir_all",
        "fs::copy",
        "hard_link",
        "set_len(",
        "OpenOptions",
        "sync_data",
        "sync_all",
        "tokio::fs",
    ];
    let mut excused = BTreeSet::new();
    for file in ["journal", "store", "sinks"]
        .map(|name| sources(&folder(name).join("src")))
        .concat()
    {
        let is_of_tests = file
            .file_name()
            .is_some_and(|name| name.to_string_lossy().contains("tests"));
        let excuse = BEHIND_THE_DISKS_BACK
            .iter()
            .find(|(path, _)| file.ends_with(path));
        let text = read(&file);
        // Tests are at the end of a file.
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let found: Vec<_> = words.iter().filter(|word| code.contains(**word)).collect();
        match excuse {
            Some((path, _)) => excused.extend((!found.is_empty()).then_some(*path)),
            None => assert!(
                is_of_tests || found.is_empty(),
                "{found:?} in {}",
                file.display()
            ),
        }
    }
    assert_eq!(
        excused,
        BEHIND_THE_DISKS_BACK.map(|(path, _)| path).into(),
        "an exception is no longer needed"
    );
}

#[test]
fn the_life_of_a_page_has_less_than_60_lines() {
    let story = read(&folder("crawl").join("src/page.rs"));
    let (_, visit) = story.split_once("\npub async fn visit(").unwrap();
    let lines = visit.split("\n}\n").next().unwrap().lines().count();
    assert!(lines < 60, "{lines} lines");
}

#[test]
fn every_crate_begins_with_a_doc_comment() {
    for name in &crates() {
        let source = folder(name).join("src");
        let root = ["lib.rs", "main.rs"]
            .map(|file| source.join(file))
            .into_iter()
            .find(|file| file.exists());
        assert!(read(&root.unwrap()).starts_with("//! "), "{name}");
    }
}

#[test]
fn every_file_begins_with_a_doc_comment() {
    for name in &crates() {
        for file in sources(&folder(name).join("src")) {
            let is_submodule_of_tests = file
                .file_name()
                .is_some_and(|name| name.to_string_lossy().contains("tests"));
            let text = read(&file);
            assert!(
                is_submodule_of_tests || text.starts_with("//! "),
                "{}",
                file.display()
            );
        }
    }
}

/// The files with vector instructions. The compiler refuses unsafe code everywhere else, and this
/// list keeps the exceptions few.
const VECTORS: [&str; 7] = [
    "permutations/ifma.rs",
    "simd/avx2.rs",
    "simd/avx512.rs",
    "simd.rs",
    "similarity/avx512.rs",
    "sketch/agreement.rs",
    "tables/lanes.rs",
];

fn may_be_unsafe(file: &Path) -> bool {
    let source = folder("neardup").join("src");
    // Development only: it makes the arrays that foreign programs make.
    let makes_damage = file == folder("anybytes").join("src/arrow.rs");
    makes_damage || VECTORS.iter().any(|path| file == source.join(path))
}

#[test]
fn each_unsafe_block_has_a_safety_comment() {
    for path in VECTORS {
        let text = read(&folder("neardup").join("src").join(path));
        let (blocks, reasons) = (
            text.matches("unsafe {").count(),
            text.matches("// SAFETY:").count(),
        );
        assert!(
            (1..=reasons).contains(&blocks),
            "{path}: {blocks} blocks, {reasons} reasons"
        );
    }
}

#[test]
fn nothing_else_is_unsafe_and_nothing_is_left_to_do() {
    // This file names the words, so it is left out below.
    let words = [
        "unsafe ",
        "todo!",
        "unimplemented!",
        "#[ignore",
        "#[allow",
        "#![allow",
    ];
    let own = Path::new(file!()).file_name().unwrap();
    let tests = root().join("tests");
    for file in sources(&root().join("crates"))
        .into_iter()
        .chain(sources(&tests))
        .filter(|file| file.file_name() != Some(own))
    {
        let text = read(&file);
        let may_be_unsafe = may_be_unsafe(&file);
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for word in words {
                assert!(
                    may_be_unsafe && word == "unsafe " || !code.trim_start().starts_with(word),
                    "{word} in {}:{}",
                    file.display(),
                    number + 1
                );
            }
        }
    }
}

#[test]
fn every_crate_keeps_the_lints_of_the_workspace() {
    let manifest_at = |path: PathBuf| -> toml::Table { toml::from_str(&read(&path)).unwrap() };
    let workspace = manifest_at(root().join("Cargo.toml"));
    for name in &crates() {
        let manifest = manifest_at(folder(name).join("Cargo.toml"));
        if manifest.contains_key("workspace") {
            // A workspace of its own cannot inherit them.
            assert_eq!(manifest["lints"], workspace["workspace"]["lints"], "{name}");
            continue;
        }
        assert_eq!(
            manifest["lints"]["workspace"].as_bool(),
            Some(true),
            "{name}"
        );
    }
}
