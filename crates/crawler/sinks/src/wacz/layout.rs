//! The names of the files in a WACZ (WACZ 1.1.1, section "Directory Layout").

/// The version of the format that is written.
pub const WACZ_VERSION: &str = "1.1.1";

/// The directory of the WARC files.
pub(super) const ARCHIVE: &str = "archive/";
/// The directory of the indexes.
pub(super) const INDEXES: &str = "indexes/";
pub(super) const INDEX: &str = "indexes/index.cdx.gz";
pub(super) const BLOCKS: &str = "indexes/index.idx";
pub(super) const PAGES: &str = "pages/pages.jsonl";
pub(super) const PACKAGE: &str = "datapackage.json";
pub(super) const DIGEST: &str = "datapackage-digest.json";

/// Bytes that are read at a time.
pub(super) const CHUNK: usize = 64 << 10;

/// Returns a digest in the form of WACZ.
pub(super) fn sha256_text(digest: &[u8]) -> String {
    format!("sha256:{}", data_encoding::HEXLOWER.encode(digest))
}
