//! The default settings. A test compares them with `config/default.toml`, which documents them.

use std::path::PathBuf;
use std::time::Duration;

use neardup::Features;
use policy::{
    DuplicateLinks, IndexedPages, OffTopic, OnDuplicate, RenderMode, RenderSandbox, Requisites,
};
use reading::Sitemaps;
use sinks::DigestAlgorithm;
use sinks::warc::Packing;
use store::DuplicateScope;
use web::{Relations, ScopeKind, Usages};

use super::{HostTables, PrefixTables, SeedTables, Settings};
use crate::values::{CookieKeeping, SignatureIndexPlace, Size, Span, Switch, Tables};

impl Default for Settings {
    fn default() -> Self {
        Self {
            seeds: None,
            out: PathBuf::from("crawl"),
            fresh: false,
            preset: None,
            scope: ScopeKind::Host,
            include: Vec::new(),
            exclude: Vec::new(),
            extra_hops: 0,
            drop_parameters: web::CanonicalForm::DEFAULT_PARAMETERS
                .iter()
                .map(ToString::to_string)
                .collect(),
            sort_parameters: Switch::On,
            page_requisites: Requisites::Off,
            forms: false,
            script_links: false,
            types: None,
            languages: None,
            render: RenderMode::Off,
            browser: None,
            render_sandbox: RenderSandbox::Namespaces,
            screenshots: false,
            render_post: false,
            topic: None,
            topic_file: Vec::new(),
            topic_of_seeds: false,
            topic_threshold: None,
            off_topic: OffTopic::Drop,
            min_harvest: None,
            anticipation: None,
            sitemaps: Sitemaps::On,
            sitemap_from: None,
            sitemap_to: None,
            feeds: Switch::On,
            check_links: false,
            spider: false,
            max_pages: None,
            max_depth: None,
            max_time: None,
            max_size: None,
            max_pages_per_host: None,
            max_pages_per_pattern: None,
            max_hosts_per_domain: 1_000,
            traps: Switch::On,
            delay: Span(Duration::from_secs(1)),
            delay_factor: 5.0,
            max_delay: Span(Duration::from_secs(30)),
            concurrency: 64,
            concurrency_per_host: None,
            rate: None,
            address_rate: None,
            group_by: None,
            user_agent: None,
            contact: None,
            ignore_robots: false,
            skip_rel: Relations::NOFOLLOW,
            respect_preferences: Usages::default(),
            on_duplicate: OnDuplicate::Drop,
            duplicate_text: Switch::Off,
            archive_interstitials: Switch::Off,
            duplicate_links: DuplicateLinks::Probe,
            distance: 3,
            resemblance: None,
            verify: Switch::On,
            features: Features::default(),
            stop_words: None,
            frequencies: None,
            main_content: Switch::On,
            main_selector: Vec::new(),
            duplicate_scope: DuplicateScope::Crawl,
            per_cluster: 1,
            against: Vec::new(),
            since: Vec::new(),
            hash_key: None,
            signature_index: SignatureIndexPlace::Memory,
            tables: Tables::Auto,
            max_body: Size(50 << 20),
            memory: None,
            timeout: Span(Duration::from_secs(60)),
            tries: 3,
            max_redirects: 10,
            resolve: Vec::new(),
            allow_private: false,
            ca_certificate: Vec::new(),
            cookies: CookieKeeping::Off,
            client_cert: None,
            client_key: None,
            sign_requests: None,
            signature_agent: None,
            insecure_host: Vec::new(),
            proxy: None,
            compression: Packing::Gzip,
            compression_level: None,
            zstd_dictionary: None,
            digest: DigestAlgorithm::Sha1,
            outlinks: Switch::Off,
            warc_prefix: "crawl".to_owned(),
            warc_max_time: None,
            warc_max_size: Size(1 << 30),
            no_index: false,
            index: IndexedPages::Unique,
            index_memory: Size(32 << 20),
            cdxj: Switch::On,
            min_free: Size(64 << 20),
            wait_for_space: Span(Duration::from_secs(600)),
            secrets: Vec::new(),
            url: Vec::new(),
            host: HostTables::new(),
            prefix: PrefixTables::new(),
            seed: SeedTables::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENTED: &str = include_str!("../../../../../config/default.toml");

    #[test]
    fn the_documented_defaults_are_the_defaults_in_code() {
        let documented: Settings = toml::from_str(DOCUMENTED).unwrap();
        assert_eq!(documented, Settings::default());
    }
}
