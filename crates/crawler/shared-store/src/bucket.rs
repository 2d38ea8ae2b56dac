//! Buckets: the parts of a crawl, with one owner each.
//!
//! Invariant: the bucket of a host is on disk forever, in the rows of its journal.

use web::{Host, PageUrl, UrlKey};

/// Number of buckets of a crawl.
pub const BUCKETS: u16 = 4096;

/// The number of a bucket, below [`BUCKETS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bucket(u16);

impl Bucket {
    /// Returns the bucket of a URL. Hosts of one registrable domain share it, so that their
    /// redirects to each other stay within one visit.
    #[must_use]
    pub fn of(url: &PageUrl) -> Self {
        Self::of_domain(url.registrable_domain())
    }

    /// Returns the bucket of a host.
    #[must_use]
    pub fn of_host(host: &Host) -> Self {
        Self::of_domain(host.registrable_domain())
    }

    fn of_domain(domain: &str) -> Self {
        let bucket = UrlKey::of_name(domain).as_u64() % u64::from(BUCKETS);
        Self(u16::try_from(bucket).expect("it is below the number of buckets"))
    }

    /// Returns the bucket with this number in the database.
    pub(crate) fn from_sql(number: i16) -> Self {
        Self(number.unsigned_abs() % BUCKETS)
    }

    /// Returns its number in the database.
    pub(crate) fn to_sql(self) -> i16 {
        i16::try_from(self.0).expect("there are 4,096 buckets")
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A set of buckets.
#[derive(Clone, Debug)]
pub(crate) struct BucketSet(Vec<bool>);

impl Default for BucketSet {
    fn default() -> Self {
        Self(vec![false; usize::from(BUCKETS)])
    }
}

impl BucketSet {
    pub(crate) fn contains(&self, bucket: Bucket) -> bool {
        self.0[bucket.index()]
    }

    pub(crate) fn insert(&mut self, bucket: Bucket) {
        self.0[bucket.index()] = true;
    }

    pub(crate) fn remove(&mut self, bucket: Bucket) {
        self.0[bucket.index()] = false;
    }

    /// Returns the buckets of the set in descending order.
    pub(crate) fn descending(&self) -> impl Iterator<Item = Bucket> {
        (0..BUCKETS)
            .rev()
            .map(Bucket)
            .filter(|bucket| self.contains(*bucket))
    }
}

impl FromIterator<Bucket> for BucketSet {
    fn from_iter<I: IntoIterator<Item = Bucket>>(buckets: I) -> Self {
        let mut set = Self::default();
        buckets.into_iter().for_each(|bucket| set.insert(bucket));
        set
    }
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    fn bucket(url: &str) -> Bucket {
        Bucket::of(&PageUrl::parse(url, &CanonicalForm::default()).unwrap())
    }

    #[test]
    fn hosts_of_a_registrable_domain_share_a_bucket_and_buckets_never_change() {
        assert_eq!(
            bucket("http://www.example.org/a"),
            bucket("https://example.org:8443/b")
        );
        // The numbers are in databases.
        let golden = [
            ("http://example.org/", 3909),
            ("http://127.0.0.1/", 1676),
            ("http://www.gov.uk/", 1733),
        ];
        for (url, number) in golden {
            assert_eq!(bucket(url), Bucket(number), "{url}");
        }
    }

    #[test]
    fn domains_spread_over_the_buckets() {
        let of = |number| bucket(&format!("http://site-{number}.test/"));
        let set: BucketSet = (0..20_000).map(of).collect();
        let used = set.descending().count();
        // 4,096 × (1 − e^(−20,000 / 4,096)) = 4,065 are expected.
        assert!(used > 4_000, "{used}");
    }
}
