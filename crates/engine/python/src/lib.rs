//! The near-duplicate engine for Python: the extension module `neardup._neardup`.
//!
//! The package `neardup` (`python/neardup`) re-exports everything here; its stub file
//! `_neardup.pyi` declares the types. The interpreter's lock is released while texts are hashed and
//! compared, on all cores, by threads that live as long as a call or an iterator: they do not form
//! a global pool, which a fork could break.
//!
//! Invariant: a signal such as Ctrl-C is seen within a second, because no work without the
//! interpreter's lock lasts longer on the calling thread ([`interrupts`]).

mod arrow_stream;
mod arrow_text;
mod crawl;
mod dedup;
mod documents;
mod errors;
mod id;
mod index_file;
mod interrupts;
mod lsh;
mod minhash;
mod parallel;
mod results;
mod settings;
mod shingles;
mod signature_index;
mod simhash;
mod tokens;

#[pyo3::pymodule]
mod _neardup {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::arrow_stream::ArrowData;
    #[pymodule_export]
    use crate::crawl::table::CrawlTable;
    #[pymodule_export]
    use crate::crawl::{Crawl, open};
    #[pymodule_export]
    use crate::dedup::dedup;
    #[pymodule_export]
    use crate::dedup::findings::Findings;
    #[pymodule_export]
    use crate::lsh::MinHashLsh;
    #[pymodule_export]
    use crate::minhash::{MinHash, minhashes};
    #[pymodule_export]
    use crate::shingles::{Shingles, containment, resemblance};
    #[pymodule_export]
    use crate::signature_index::SignatureIndex;
    #[pymodule_export]
    use crate::simhash::{Simhash, fingerprints};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
