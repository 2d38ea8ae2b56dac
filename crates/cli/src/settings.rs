//! The settings of a crawl: defaults < preset < file < flags.
//!
//! A setting is a field of [`Settings`]. Its name is the key in the configuration file and the long
//! option, and its comment is the option's help. `defaults.rs` contains the defaults, `preset.rs`
//! the presets. `layers.rs` merges them with the file and the flags, and `check.rs` refuses
//! impossible values.

mod check;
mod defaults;
mod derived;
mod flags;
mod hosts;
mod layers;
mod origins;
mod shared;

use std::path::PathBuf;

use clap::Args;
use crawl::{DuplicateLinks, IndexedPages, OffTopic, OnDuplicate, Requisites};
use neardup::Features;
use reading::Sitemaps;
use serde::{Deserialize, Serialize};
use sinks::DigestAlgorithm;
use sinks::warc::Packing;
use store::DuplicateScope;
use web::{GroupBy, LanguageFilter, Relations, ScopeKind, TypeFilter};

pub(crate) use self::flags::{ConfigArgs, CrawlArgs, SummaryForm};
pub(crate) use self::hosts::HostTables;
pub(crate) use self::layers::one_line;
pub(crate) use self::origins::Origins;
use crate::preset::Preset;
use crate::values::{
    CookieKeeping, Date, Key, Rate, Share, SignatureIndexPlace, Size, Span, Switch, Tables,
    maybe_word, word,
};

/// Name of the file with a crawl's settings, below its directory.
pub(crate) const SETTINGS_FILE: &str = "crawler.toml";

/// Settings of a crawl.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Settings {
    /// File of seeds, one URL a line; blank lines and # comments are ignored, - is standard input
    #[arg(short = 'i', long, value_name = "FILE")]
    pub(crate) seeds: Option<PathBuf>,
    /// Directory of the crawl; one that holds a crawl is continued [default: crawl]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Refuse to continue: the directory must not exist
    #[arg(long)]
    pub(crate) fresh: bool,
    /// A list of settings: archive (duplicate-links follow, max-body 1GiB, on-duplicate keep,
    /// page-requisites scope) leaves out only the same bytes, and fetches what pages need; focused
    /// (duplicate-links probe, max-body 50MiB, on-duplicate drop, page-requisites off) keeps each
    /// text once. Order: defaults < preset < file < flags
    #[arg(long, value_name = "NAME")]
    #[serde(with = "maybe_word")]
    pub(crate) preset: Option<Preset>,

    /// URLs that a seed lets in: host, domain (with all its subdomains), prefix (the seed's folder)
    /// or any [default: host]
    #[arg(long, value_name = "SCOPE", help_heading = "Scope")]
    #[serde(with = "word")]
    pub(crate) scope: ScopeKind,
    /// Only URLs that match one of these (repeatable); seeds always pass
    #[arg(long, value_name = "REGEX", help_heading = "Scope")]
    pub(crate) include: Vec<String>,
    /// No URLs that match one of these (repeatable); wins over all else
    #[arg(long, value_name = "REGEX", help_heading = "Scope")]
    pub(crate) exclude: Vec<String>,
    /// Query parameters to ignore when URLs are compared, because they do not change the page; * at
    /// the end for any (repeatable) [default: utm_* and others, see config/default.toml]
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    pub(crate) drop_parameters: Vec<String>,
    /// Treat URLs as equal if their query parameters differ only in order [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Scope")]
    pub(crate) sort_parameters: Switch,
    /// Fetch what a page needs to be displayed (images, styles and what they need, scripts, media
    /// and frames) at any depth and not counted by --max-pages: within the scope (scope), or from
    /// any host (any) [default: off; scope if no value is given]
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "scope",
        value_name = "WHERE",
        help_heading = "Scope"
    )]
    #[serde(with = "word")]
    pub(crate) page_requisites: Requisites,
    /// Submit forms by GET with their initial values: searches, lists to choose from
    #[arg(long, help_heading = "Scope")]
    pub(crate) forms: bool,
    /// Follow absolute URLs and quoted paths in scripts that look like pages; some are guesses and
    /// end as 404
    #[arg(long, help_heading = "Scope")]
    pub(crate) script_links: bool,

    /// Archive only pages of these media types: text/html, application/pdf, image/*, or !image/*
    /// for all others (separated by commas). Others are excluded; the links of pages are followed
    /// all the same. robots.txt, sitemaps, feeds and requisites are not concerned [default: all]
    #[arg(long, value_name = "LIST", help_heading = "Scope")]
    #[serde(with = "maybe_word")]
    pub(crate) types: Option<TypeFilter>,
    /// Archive only pages in these languages, by primary tags: en,de. Pages in others are excluded,
    /// and their links are followed all the same. Pages whose language is unknown are archived
    /// [default: all]
    #[arg(long, value_name = "LIST", help_heading = "Scope")]
    #[serde(with = "maybe_word")]
    pub(crate) languages: Option<LanguageFilter>,

    /// Visit pages about these words first, and archive no others: "tidal power". Off-topic pages
    /// are passed through: their links are followed. Cannot be changed once the crawl has begun
    #[arg(long, value_name = "WORDS", help_heading = "Topic")]
    pub(crate) topic: Option<String>,
    /// An example of the topic: text, HTML, WARC, or a directory of them; with --topic both count
    /// (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Topic")]
    pub(crate) topic_file: Vec<PathBuf>,
    /// Learn the topic from the pages of the seeds, which are on topic whatever they say: three
    /// seeds or more that have their topic in common. With --topic or --topic-file all count
    #[arg(long, help_heading = "Topic")]
    pub(crate) topic_of_seeds: bool,
    /// Least relevance of a page on topic, 0 to 1; `crawler topic` prints that of files [default:
    /// by the words, or what separates the examples]
    #[arg(long, value_name = "R", help_heading = "Topic")]
    pub(crate) topic_threshold: Option<f64>,
    /// Treatment of pages off topic: drop, or keep (archive them, marked; they are not compared
    /// with others). Their links are followed either way [default: drop]
    #[arg(long, value_name = "WHAT", help_heading = "Topic")]
    #[serde(with = "word")]
    pub(crate) off_topic: OffTopic,
    /// End when fewer than this share of the last 500 pages was on topic, for example 5%
    #[arg(long, value_name = "SHARE", help_heading = "Topic")]
    #[serde(with = "maybe_word")]
    pub(crate) min_harvest: Option<Share>,
    /// Longest time for which a slot stays empty rather than take a page of poor promise, while a
    /// host with a better one rests or answers: fewer pages in vain, a longer crawl [default: 5s
    /// with --max-pages, else 0]
    #[arg(long, value_name = "TIME", help_heading = "Topic")]
    #[serde(with = "maybe_word")]
    pub(crate) patience: Option<Span>,

    /// Fetch the sitemaps that robots.txt names, and follow what they list: on, off, or guess (also
    /// /sitemap.xml on seeds' hosts whose robots.txt names none) [default: on]
    #[arg(long, value_name = "ON|OFF|GUESS", help_heading = "Discovery")]
    #[serde(with = "word")]
    pub(crate) sitemaps: Sitemaps,
    /// Skip entries of sitemaps last changed before this date: 2026, 2026-11, 2026-11-20 or
    /// 2026-11-20T19:04:55Z; entries without a date are followed
    #[arg(long, value_name = "DATE", help_heading = "Discovery")]
    #[serde(with = "maybe_word")]
    pub(crate) sitemap_from: Option<Date>,
    /// Skip entries of sitemaps last changed after this date; 2026-11 is all of November
    #[arg(long, value_name = "DATE", help_heading = "Discovery")]
    #[serde(with = "maybe_word")]
    pub(crate) sitemap_to: Option<Date>,
    /// Follow the entries of feeds: RSS, Atom, JSON Feed [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Discovery")]
    pub(crate) feeds: Switch,

    /// Stop after this number of pages
    #[arg(short = 'n', long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_pages: Option<u64>,
    /// Maximum number of links away from a seed; 0 is the seeds alone
    #[arg(short = 'l', long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_depth: Option<u32>,
    /// Stop after this time, for example 2h; pages in progress then get --timeout, 30s at most
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    #[serde(with = "maybe_word")]
    pub(crate) max_time: Option<Span>,
    /// Stop when this much was received, for example 10GiB
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    #[serde(with = "maybe_word")]
    pub(crate) max_size: Option<Size>,
    /// Maximum number of pages of one host; the others stay queued
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_pages_per_host: Option<u64>,
    /// Maximum number of pages of one URL pattern (host, path template, query keys); the others
    /// are left out, and `crawler patterns` reopens it [default: none]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_pages_per_pattern: Option<u64>,
    /// Maximum number of hosts of one registrable domain; links to others are left out, but seeds
    /// are always let in. Hosts below one name of the domain (a.u1.example.com, b.u1.example.com)
    /// get at most half of what the others leave [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) max_hosts_per_domain: u32,
    /// Leave out links with the shape of a trap (a path that repeats itself, a query that grows, a
    /// calendar without end), and close URL patterns that bring nothing new [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Limits")]
    pub(crate) traps: Switch,

    /// Minimum pause between two requests to a host [default: 1s]
    #[arg(short = 'w', long, value_name = "TIME", help_heading = "Politeness")]
    #[serde(with = "word")]
    pub(crate) delay: Span,
    /// The pause in multiples of the host's last response time, if that is longer [default: 5]
    #[arg(long, value_name = "X", help_heading = "Politeness")]
    pub(crate) delay_factor: f64,
    /// Longest pause that slowness or Crawl-delay leads to [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Politeness")]
    #[serde(with = "word")]
    pub(crate) max_delay: Span,
    /// Pages in progress at a time, over all hosts; a page whose server is silent for 2 s does not
    /// count, up to three times as many [default: 64]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    pub(crate) concurrency: usize,
    /// Pages in progress at a time to one host [default: 1; 4 where both delays are 0]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    pub(crate) concurrency_per_host: Option<usize>,
    /// Maximum overall rate of requests, for example 20/s
    #[arg(long, value_name = "N/s", help_heading = "Politeness")]
    #[serde(with = "maybe_word")]
    pub(crate) rate: Option<Rate>,
    /// Maximum rate of requests to one IP address, over all its hosts, for example 50/s; up to as
    /// many are then in flight at a time [default: as many as ten hosts get, 4 at a time; fewer if
    /// the address is slow; no maximum with --delay 0 or --group-by host]
    #[arg(long, value_name = "N/s", help_heading = "Politeness")]
    #[serde(with = "maybe_word")]
    pub(crate) address_rate: Option<Rate>,
    /// Hosts that share one pace and one connection: host (each has its own, without a maximum for
    /// its IP address), address (all hosts of one IP address) or domain (registrable, with its
    /// subdomains) [default: each host has its own, with a maximum for its address]
    #[arg(long, value_name = "WHAT", help_heading = "Politeness")]
    #[serde(with = "maybe_word")]
    pub(crate) group_by: Option<GroupBy>,
    /// The complete user agent; robots.txt knows the crawler by its first word [default:
    /// crawler/VERSION (… contact …)]
    #[arg(short = 'U', long, value_name = "TEXT", help_heading = "Politeness")]
    pub(crate) user_agent: Option<String>,
    /// Address to which sites may write about this crawl: a URL or an e-mail address, sent in the
    /// user agent
    #[arg(long, value_name = "WHO", help_heading = "Politeness")]
    pub(crate) contact: Option<String>,
    /// Fetch what robots.txt forbids, and follow nofollow: only on sites that agreed to it
    #[arg(long, help_heading = "Politeness")]
    pub(crate) ignore_robots: bool,
    /// Links to skip, by their rel: nofollow, ugc and sponsored, separated by commas; none follows
    /// all [default: nofollow]
    #[arg(long, value_name = "WORDS", help_heading = "Politeness")]
    #[serde(with = "word")]
    pub(crate) skip_rel: Relations,

    /// Treatment of a page that repeats an earlier one: drop, keep (archive and mark it), follow
    /// (archive it and follow all its links) [default: drop]
    #[arg(long, value_name = "WHAT", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub(crate) on_duplicate: OnDuplicate,
    /// Keep the text of a page that is left out because it repeats another, so that `duplicates
    /// --diff` can show where they differ: on or off. Costs the compressed text of each such page;
    /// pages with the bytes of another need none [default: off]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub(crate) duplicate_text: Switch,
    /// Links of a page that repeats an earlier one: probe (unseen URLs are queued last, and folders
    /// that bring nothing new are closed), follow (all), none [default: probe]
    #[arg(long, value_name = "WHAT", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub(crate) duplicate_links: DuplicateLinks,
    /// Maximum distance of two fingerprints, in bits, at which pages are compared, 0 to 7
    /// [default: 3]
    #[arg(long, value_name = "K", help_heading = "Duplicates")]
    pub(crate) distance: u32,
    /// Minimum resemblance of near duplicates, 0 to 1 [default: by length: 1 under 50 words, 0.90
    /// under 100, 0.86 under 350, 0.80 from there on; in prose, 0.87 of the counted words suffice].
    /// A crawl finds 98 % of the pages at 0.80 and 40 % of those at 0.50
    #[arg(long, value_name = "R", help_heading = "Duplicates")]
    pub(crate) resemblance: Option<f64>,
    /// Confirm the pages that fingerprints propose by their texts. off: fingerprints within
    /// --distance decide alone, as in the paper of Manku, Jain and Das Sarma; for comparison, since
    /// pages of another content are left out [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub(crate) verify: Switch,
    /// Features of fingerprints: word:1, word:3, char:5, word:1+tf-idf, … [default: word:1+log-tf]
    #[arg(long, value_name = "UNIT:N", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub(crate) features: Features,
    /// Leave the stop words of this language, en, de, …, out of fingerprints
    #[arg(long, value_name = "LANG", help_heading = "Duplicates")]
    pub(crate) stop_words: Option<String>,
    /// With features weighted by tf-idf, or with a topic: how many documents have a word, as
    /// `crawler frequencies` counts [default: learned while crawling]
    #[arg(long, value_name = "FILE", help_heading = "Duplicates")]
    pub(crate) frequencies: Option<PathBuf>,
    /// Judge a page by its main content, without navigation [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub(crate) main_content: Switch,
    /// CSS selector of the main content, for one host as HOST=CSS; the first that matches counts
    /// (repeatable) [default: recognised]
    #[arg(long, value_name = "[HOST=]CSS", help_heading = "Duplicates")]
    pub(crate) main_selector: Vec<String>,
    /// Compare a page only with pages of the same crawl, domain (registrable, with its subdomains)
    /// or host [default: crawl]
    #[arg(long, value_name = "SCOPE", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub(crate) duplicate_scope: DuplicateScope,
    /// Keep N pages of a cluster: the first, and N - 1 that repeat it in other bytes [default: 1]
    #[arg(long, value_name = "N", help_heading = "Duplicates")]
    pub(crate) per_cluster: u32,
    /// Count pages of this earlier crawl as seen: unchanged pages are not archived again, but their
    /// links are followed; other bytes under the same URL are archived as changed (repeatable)
    #[arg(long, value_name = "DIR", help_heading = "Duplicates")]
    pub(crate) against: Vec<PathBuf>,
    /// Like --against, and request its pages with If-None-Match and If-Modified-Since: unchanged
    /// pages are not sent again. Needs its archive (repeatable)
    #[arg(long, value_name = "DIR", help_heading = "Duplicates")]
    pub(crate) since: Vec<PathBuf>,
    /// Key of all hashes, 16 hexadecimal digits: crawls with the same key can be compared [default:
    /// random; a crawl keeps its key]
    #[arg(long, value_name = "HEX", help_heading = "Advanced")]
    #[serde(with = "maybe_word")]
    pub(crate) hash_key: Option<Key>,
    /// Place of the keys by which near-duplicates are found: memory holds them all, 90 bytes a
    /// page; disk reads the tables on disk for each page, which is slower, for machines with little
    /// memory. The verdicts are the same [default: memory]
    #[arg(
        long,
        value_name = "memory|disk",
        hide_possible_values = true,
        help_heading = "Advanced"
    )]
    pub(crate) signature_index: SignatureIndexPlace,
    /// The number of permuted tables of fingerprints on disk, which --signature-index disk reads:
    /// more tables take more disk and leave fewer candidates to read. `crawler plan` compares them;
    /// a change rebuilds them [default: auto, four that serve every --distance]
    #[arg(long, value_name = "auto|N", help_heading = "Advanced")]
    #[serde(with = "word")]
    pub(crate) tables: Tables,

    /// Maximum length of a body; the rest is cut off and the record says so [default: 50MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Fetching")]
    #[serde(with = "word")]
    pub(crate) max_body: Size,
    /// Memory for bodies and for reading them. What exceeds it waits, or goes to disk; the rest of
    /// the crawl is not counted [default: 32MiB for each processor, and an eighth of the machine's
    /// memory at most]
    #[arg(long, value_name = "SIZE", help_heading = "Fetching")]
    #[serde(with = "maybe_word")]
    pub(crate) memory: Option<Size>,
    /// Longest wait for a response, and for more of its body once it stops [default: 60s]
    #[arg(short = 'T', long, value_name = "TIME", help_heading = "Fetching")]
    #[serde(with = "word")]
    pub(crate) timeout: Span,
    /// Maximum number of visits of a page whose failure may be temporary [default: 3]
    #[arg(short = 't', long, value_name = "N", help_heading = "Fetching")]
    pub(crate) tries: u32,
    /// Maximum number of redirects in a row [default: 10]
    #[arg(long, value_name = "N", help_heading = "Fetching")]
    pub(crate) max_redirects: usize,
    /// Connect to this address for the host and port, as in curl (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDR", help_heading = "Fetching")]
    pub(crate) resolve: Vec<String>,
    /// Allow private, loopback and link-local addresses
    #[arg(long, help_heading = "Fetching")]
    pub(crate) allow_private: bool,
    /// Trust the certificates in this PEM file too (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub(crate) ca_certificate: Vec<PathBuf>,
    /// Cookies that servers set: session (sent back to the host that set them, or to the hosts of
    /// the domain that they name, while this process runs; at most 50 per host and domain, of 4
    /// KiB) or off. No file keeps them; requests are archived without their values [default: off]
    #[arg(
        long,
        value_name = "session|off",
        hide_possible_values = true,
        help_heading = "Fetching"
    )]
    pub(crate) cookies: CookieKeeping,
    /// Show this certificate (PEM, with those between it and a root) to servers that ask for one,
    /// at https origins of seeds and at no others; [host."NAME"] in a file of settings binds one to
    /// a host
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub(crate) client_cert: Option<PathBuf>,
    /// The private key of --client-cert (PEM) [default: in the same file]
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub(crate) client_key: Option<PathBuf>,
    /// Do not check the certificates of this host, on any of its ports: anybody on the way can read
    /// and change its pages, and the archive says so (repeatable)
    #[arg(long, value_name = "HOST", help_heading = "Fetching")]
    pub(crate) insecure_host: Vec<String>,
    /// Use a proxy: socks5:// (the crawler resolves names and refuses private addresses), http://
    /// or https:// (the crawler checks names, and the proxy resolves them again; it should refuse
    /// private addresses itself) or socks5h:// (only the proxy resolves names, as Tor needs). User
    /// and password go into the URL and are not stored: give them again to continue. Environment
    /// variables such as http_proxy are ignored
    #[arg(long, value_name = "URL", help_heading = "Fetching")]
    pub(crate) proxy: Option<String>,
    /// Compression of the archive, record by record: gzip (.warc.gz, which every tool reads), zstd
    /// (.warc.zst, smaller and cheaper, read by few tools yet) or none (.warc) [default: gzip]
    #[arg(long, value_name = "HOW", help_heading = "Archive")]
    #[serde(with = "word")]
    pub(crate) compression: Packing,
    /// Compression level: 1 (fast) to 12 (small) for gzip, 1 to 19 for zstd [default: 1 for gzip, 3
    /// for zstd]
    #[arg(long, value_name = "N", help_heading = "Archive")]
    pub(crate) compression_level: Option<i32>,
    /// Compress with this zstd dictionary, made by `zstd --train`; each file contains it, so
    /// readers need nothing else
    #[arg(long, value_name = "FILE", help_heading = "Archive")]
    pub(crate) zstd_dictionary: Option<PathBuf>,
    /// Digest of payloads and records: sha1, which indexes and replay tools compare, or sha256
    /// [default: sha1]
    #[arg(long, value_name = "WHICH", help_heading = "Archive")]
    #[serde(with = "word")]
    pub(crate) digest: DigestAlgorithm,
    /// Record each page's links in the archive, one line each, as Heritrix does [default: off]
    #[arg(long, value_name = "ON|OFF", help_heading = "Archive")]
    pub(crate) outlinks: Switch,
    /// Prefix of the names of the archive's files: PREFIX-TIME-NUMBER.warc.gz [default: crawl]
    #[arg(long, value_name = "PREFIX", help_heading = "Archive")]
    pub(crate) warc_prefix: String,
    /// Start a new archive file when the current one reaches this age [default: no limit]
    #[arg(long, value_name = "TIME", help_heading = "Archive")]
    #[serde(with = "maybe_word")]
    pub(crate) warc_max_time: Option<Span>,
    /// Start a new archive file when the current one reaches this size [default: 1GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Archive")]
    #[serde(with = "word")]
    pub(crate) warc_max_size: Size,
    /// Do not write the search index; `crawler reindex` makes it later
    #[arg(long, help_heading = "Output")]
    pub(crate) no_index: bool,
    /// Archived pages that can be searched: unique, or kept (also those that repeat one and are
    /// kept by --on-duplicate or --per-cluster) [default: unique]
    #[arg(long, value_name = "WHICH", help_heading = "Output")]
    #[serde(with = "word")]
    pub(crate) index: IndexedPages,
    /// Memory of the search index while it is written, at least 8MiB: more makes fewer, larger
    /// parts [default: 32MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Output")]
    #[serde(with = "word")]
    pub(crate) index_memory: Size,
    /// Write a CDXJ index of the archive, archive/index.cdxj when the crawl ends, for replay tools
    /// [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Output")]
    pub(crate) cdxj: Switch,
    /// Start no new pages while less than this is free on the disk, and continue when there is more
    /// [default: 64MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Output")]
    #[serde(with = "word")]
    pub(crate) min_free: Size,
    /// Longest wait for room on a full disk before the crawl ends with code 1; 0 does not wait
    /// [default: 10m]
    #[arg(long, value_name = "TIME", help_heading = "Output")]
    #[serde(with = "word")]
    pub(crate) wait_for_room: Span,

    /// Names of the options for secrets that the crawl was run with. No secret is stored.
    #[arg(skip)]
    pub(crate) secrets: Vec<String>,
    // In the file of a crawl, all its seeds.
    /// Seeds, in addition to --seeds
    #[arg(value_name = "URL")]
    pub(crate) url: Vec<String>,
    /// Settings of single hosts, in the file only. The last, because no key can follow a table.
    #[arg(skip)]
    #[serde(skip_serializing_if = "HostTables::is_empty")]
    pub(crate) host: HostTables,
}
