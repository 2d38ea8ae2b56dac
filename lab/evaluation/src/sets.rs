//! The labelled sets: pages, and the known duplicates among them.

mod generated;
mod labelled;
mod manuals;
pub(crate) mod page;
pub(crate) mod set;
mod sites;

use self::set::{Absent, Places, Set};

type Load = fn(&Places) -> Result<Set, Absent>;

/// Every set by its name, in the order of the report.
pub(crate) const CATALOGUE: &[(&str, Load)] = &[
    ("newsgroup-clusters-baseball", labelled::newsgroups),
    ("articles_1000", labelled::articles),
    ("judged-pairs", labelled::judged_pairs),
    ("clang-manuals", manuals::clang),
    ("reference-generated", |_| Ok(generated::reference())),
    ("reference-installed", manuals::reference),
    ("site-javadoc", |places| {
        sites::load(places, &sites::SITES[0])
    }),
    ("site-cppreference", |places| {
        sites::load(places, &sites::SITES[1])
    }),
    ("site-boost", |places| sites::load(places, &sites::SITES[2])),
    ("site-llvm", |places| sites::load(places, &sites::SITES[3])),
    ("wcxb-dev", labelled::wcxb),
    ("article-extraction", labelled::article_pages),
    ("chinese", |_| Ok(generated::chinese())),
    ("japanese", |_| Ok(generated::japanese())),
    ("other-scripts", |_| Ok(generated::other_scripts())),
];
