//! The settings of a crawl: defaults < preset < file < flags.
//!
//! A setting is a field of [`Settings`]. Its name is the key in the configuration file and the long
//! option, and its comment is the option's help. `defaults.rs` contains the defaults, `preset.rs`
//! the presets. `layers.rs` merges them with the file and the flags, and `check.rs` refuses
//! impossible values.

mod archive;
mod check;
mod defaults;
mod derived;
mod hosts;
mod layers;
mod origins;
mod parts;
mod shared;

use std::path::PathBuf;

use clap::Args;
use neardup::Features;
use policy::{
    DuplicateLinks, IndexedPages, OffTopic, OnDuplicate, RenderMode, RenderSandbox, Requisites,
};
use reading::Sitemaps;
use serde::{Deserialize, Serialize};
use sinks::DigestAlgorithm;
use sinks::warc::Packing;
use store::DuplicateScope;
use web::{GroupBy, LanguageFilter, Relations, ScopeKind, TypeFilter, Usages};

pub use self::hosts::HostTables;
pub use self::layers::one_line;
pub use self::origins::{Origin, Origins};
pub use self::parts::{PrefixTables, SeedTables};
use crate::preset::Preset;
use crate::values::{
    CookieKeeping, Date, Key, Rate, Share, SignatureIndexPlace, Size, Span, Switch, Tables,
    maybe_word, word,
};

/// Name of the file with a crawl's settings, below its directory.
pub const SETTINGS_FILE: &str = "crawler.toml";

/// Settings of a crawl.
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// File of seeds, one URL per line; blank lines and # comments are ignored, - is standard input
    #[arg(short = 'i', long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// Directory of the crawl; an existing crawl is continued. {date} is today's date (UTC)
    /// [default: crawl]
    #[arg(short, long, value_name = "DIR")]
    pub out: PathBuf,
    /// Refuse to continue: the directory must not exist
    #[arg(long)]
    pub fresh: bool,
    /// A list of settings: archive (archive-interstitials on, duplicate-links follow, max-body
    /// 1GiB, on-duplicate keep, page-requisites scope) archives everything but exact duplicates,
    /// with page requisites; focused (archive-interstitials off, duplicate-links probe, max-body
    /// 50MiB, on-duplicate drop, page-requisites off) archives each text once. Order: defaults <
    /// preset < file < flags
    #[arg(long, value_name = "NAME")]
    #[serde(with = "maybe_word")]
    pub preset: Option<Preset>,

    /// URLs in scope, relative to each seed: host, domain (with all subdomains), prefix (the seed's
    /// folder) or any [default: host]
    #[arg(long, value_name = "SCOPE", help_heading = "Scope")]
    #[serde(with = "word")]
    pub scope: ScopeKind,
    /// Only URLs that match one of these (repeatable); seeds always pass
    #[arg(long, value_name = "REGEX", help_heading = "Scope")]
    pub include: Vec<String>,
    /// No URLs that match one of these (repeatable); overrides all other rules
    #[arg(long, value_name = "REGEX", help_heading = "Scope")]
    pub exclude: Vec<String>,
    /// Also visit links out of the scope, up to N links off it: 1 visits the targets of links on
    /// pages in scope, and follows no link of these out of the scope; 7 at most. --exclude holds
    /// for them, --include does not [default: 0]
    #[arg(long, value_name = "N", help_heading = "Scope")]
    pub extra_hops: u8,
    /// Query parameters that do not change the page, ignored in URL comparison; a final * matches
    /// any characters (repeatable) [default: utm_* and others, see config/default.toml]
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    pub drop_parameters: Vec<String>,
    /// Treat URLs as equal if their query parameters differ only in order [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Scope")]
    pub sort_parameters: Switch,
    /// Fetch page requisites (images, style sheets with their fonts and images, scripts, media and
    /// frames) at any depth, not counted by --max-pages: within the scope (scope), or from any host
    /// (any) [default: off; scope if no value is given]
    #[arg(
        long,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "scope",
        value_name = "WHERE",
        help_heading = "Scope"
    )]
    #[serde(with = "word")]
    pub page_requisites: Requisites,
    /// Submit GET forms with their initial values, such as searches and selection lists
    #[arg(long, help_heading = "Scope")]
    pub forms: bool,
    /// Follow absolute URLs and quoted paths in scripts that look like pages; some guesses end in
    /// 404
    #[arg(long, help_heading = "Scope")]
    pub script_links: bool,

    /// Archive only pages of these media types: text/html, application/pdf, image/*, or !image/*
    /// for all others (separated by commas). Pages of other types are excluded, but their links are
    /// still followed. Does not apply to robots.txt, sitemaps, feeds and requisites [default: all]
    #[arg(long, value_name = "LIST", help_heading = "Scope")]
    #[serde(with = "maybe_word")]
    pub types: Option<TypeFilter>,
    /// Archive only pages in these languages, by primary tags: en,de. Pages in other languages are
    /// excluded, but their links are still followed. Pages of unknown language are archived
    /// [default: all]
    #[arg(long, value_name = "LIST", help_heading = "Scope")]
    #[serde(with = "maybe_word")]
    pub languages: Option<LanguageFilter>,

    /// Run the scripts of pages in Chromium and read what they show: off, shells (pages with next
    /// to no text without scripts) or all. The browser has no network: the crawler makes its
    /// requests, by the rules for links [default: off]
    #[arg(long, value_name = "WHICH", help_heading = "Scripts")]
    #[serde(with = "word")]
    pub render: RenderMode,
    /// Chromium to run scripts with [default: chromium on PATH]
    #[arg(long, value_name = "FILE", help_heading = "Scripts")]
    pub browser: Option<PathBuf>,
    /// Isolation of the browser: namespaces (no network, no other processes) or flags (only options
    /// of Chromium, where namespaces are forbidden) [default: namespaces]
    #[arg(long, value_name = "HOW", help_heading = "Scripts")]
    #[serde(with = "word")]
    pub render_sandbox: RenderSandbox,
    /// Archive a picture of each rendered page as PNG, under the URL urn:view:URL; needs --render
    #[arg(long, help_heading = "Scripts")]
    pub screenshots: bool,
    /// Send POST requests of scripts to the domain of their page, with bodies of up to 64 KiB;
    /// without it, they are refused; needs --render
    #[arg(long, help_heading = "Scripts")]
    pub render_post: bool,

    /// Visit pages about these words first, and archive only these: "tidal power". Off-topic pages
    /// are not archived, but their links are followed. Cannot be changed once the crawl has begun
    #[arg(long, value_name = "WORDS", help_heading = "Topic")]
    pub topic: Option<String>,
    /// Example of the topic: text, HTML, WARC, or a directory of such files; can be combined with
    /// --topic (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Topic")]
    pub topic_file: Vec<PathBuf>,
    /// Learn the topic from the pages of the seeds, which always count as on topic: at least three
    /// seeds with a common topic. Can be combined with --topic and --topic-file
    #[arg(long, help_heading = "Topic")]
    pub topic_of_seeds: bool,
    /// Minimum relevance of a page on topic, 0 to 1; `crawler topic` prints the relevance of files
    /// [default: computed from the words or the examples]
    #[arg(long, value_name = "R", help_heading = "Topic")]
    pub topic_threshold: Option<f64>,
    /// Treatment of off-topic pages: drop, or keep (archive and mark them, without comparing them
    /// with other pages). Their links are always followed [default: drop]
    #[arg(long, value_name = "WHAT", help_heading = "Topic")]
    #[serde(with = "word")]
    pub off_topic: OffTopic,
    /// End when the share of on-topic pages among the last 500 falls below this, for example 5%
    #[arg(long, value_name = "SHARE", help_heading = "Topic")]
    #[serde(with = "maybe_word")]
    pub min_harvest: Option<Share>,
    /// Maximum time for which a slot idles instead of visiting a page with a low link score, while
    /// the host of a better link delays or answers: fewer off-topic pages, a longer crawl [default:
    /// 5s with --max-pages, else 0]
    #[arg(long, value_name = "TIME", help_heading = "Topic")]
    #[serde(with = "maybe_word")]
    pub anticipation: Option<Span>,

    /// Fetch the sitemaps named in robots.txt, and follow their entries: on, off, or guess (also
    /// /sitemap.xml on hosts of seeds whose robots.txt does not name a sitemap) [default: on]
    #[arg(long, value_name = "ON|OFF|GUESS", help_heading = "Discovery")]
    #[serde(with = "word")]
    pub sitemaps: Sitemaps,
    /// Skip sitemap entries last changed before this date: 2026, 2026-11, 2026-11-20 or
    /// 2026-11-20T19:04:55Z; entries without a date are followed
    #[arg(long, value_name = "DATE", help_heading = "Discovery")]
    #[serde(with = "maybe_word")]
    pub sitemap_from: Option<Date>,
    /// Skip sitemap entries last changed after this date; 2026-11 is all of November
    #[arg(long, value_name = "DATE", help_heading = "Discovery")]
    #[serde(with = "maybe_word")]
    pub sitemap_to: Option<Date>,
    /// Follow the entries of feeds: RSS, Atom, JSON Feed [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Discovery")]
    pub feeds: Switch,

    /// After the crawl, check links that leave the scope: each target is requested once, by HEAD or
    /// else by GET without its body. Results are in link-checks.jsonl, the audit and the report;
    /// targets are not archived. A finished crawl can be continued with it
    #[arg(long, help_heading = "Discovery")]
    pub check_links: bool,
    /// Check pages instead of archiving them: HEAD is sent first, and GET for pages whose links are
    /// followed; these are archived. With --max-depth 0, HEAD alone. Broken links are in the
    /// summary, the audit and the report; the same crawl without --spider archives the rest
    #[arg(long, help_heading = "Discovery")]
    pub spider: bool,

    /// Stop after this number of pages
    #[arg(short = 'n', long, value_name = "N", help_heading = "Limits")]
    pub max_pages: Option<u64>,
    /// Maximum number of links away from a seed; 0 visits only the seeds
    #[arg(short = 'l', long, value_name = "N", help_heading = "Limits")]
    pub max_depth: Option<u32>,
    /// Stop after this time, for example 2h; pages in progress then get --timeout, 30s at most
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    #[serde(with = "maybe_word")]
    pub max_time: Option<Span>,
    /// Stop after receiving this amount of data, for example 10GiB
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    #[serde(with = "maybe_word")]
    pub max_size: Option<Size>,
    /// Maximum number of pages per host; further pages stay queued
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_pages_per_host: Option<u64>,
    /// Maximum number of pages per URL pattern (host, path template, query keys); further pages are
    /// excluded, and `crawler patterns` reopens the pattern [default: none]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_pages_per_pattern: Option<u64>,
    /// Maximum number of hosts per registrable domain; links to further hosts are excluded, but
    /// seeds are always in scope. Hosts below one name of the domain (a.u1.example.com,
    /// b.u1.example.com) get at most half of the remaining number [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_hosts_per_domain: u32,
    /// Exclude links that look like traps (repeating paths, growing queries, endless calendars),
    /// and close URL patterns without new content [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Limits")]
    pub traps: Switch,

    /// Minimum pause between two requests to a host [default: 1s]
    #[arg(short = 'w', long, value_name = "TIME", help_heading = "Politeness")]
    #[serde(with = "word")]
    pub delay: Span,
    /// Pause as a multiple of the host's last response time, if longer than --delay [default: 5]
    #[arg(long, value_name = "X", help_heading = "Politeness")]
    pub delay_factor: f64,
    /// Maximum pause caused by slow responses or Crawl-delay [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Politeness")]
    #[serde(with = "word")]
    pub max_delay: Span,
    /// Maximum number of concurrent pages, over all hosts; pages whose server has been silent for 2
    /// s do not count, up to three times this number [default: 64]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    pub concurrency: usize,
    /// Maximum number of concurrent pages per host [default: 1; 4 if both delays are 0]
    #[arg(long, value_name = "N", help_heading = "Politeness")]
    pub concurrency_per_host: Option<usize>,
    /// Maximum overall request rate, for example 20/s
    #[arg(long, value_name = "N/s", help_heading = "Politeness")]
    #[serde(with = "maybe_word")]
    pub rate: Option<Rate>,
    /// Maximum request rate per IP address, over all its hosts, for example 50/s; also the maximum
    /// number of concurrent requests [default: the rate of ten hosts, with 4 concurrent requests,
    /// fewer if the address is slow; no maximum with --delay 0 or --group-by host]
    #[arg(long, value_name = "N/s", help_heading = "Politeness")]
    #[serde(with = "maybe_word")]
    pub address_rate: Option<Rate>,
    /// Hosts that share one pace and one connection: host (none, and no maximum per IP address),
    /// address (all hosts of one IP address) or domain (a registrable domain with its subdomains)
    /// [default: none, with a maximum per IP address]
    #[arg(long, value_name = "WHAT", help_heading = "Politeness")]
    #[serde(with = "maybe_word")]
    pub group_by: Option<GroupBy>,
    /// Complete user agent; its first word is the name in robots.txt [default:
    /// crawler/VERSION (… contact …)]
    #[arg(short = 'U', long, value_name = "TEXT", help_heading = "Politeness")]
    pub user_agent: Option<String>,
    /// Contact for questions about this crawl: a URL or an e-mail address, sent in the user agent
    #[arg(long, value_name = "WHO", help_heading = "Politeness")]
    pub contact: Option<String>,
    /// Ignore robots.txt and nofollow; only for sites whose owners agreed
    #[arg(long, help_heading = "Politeness")]
    pub ignore_robots: bool,
    /// Values of rel whose links are skipped: nofollow, ugc and sponsored, separated by commas;
    /// none follows all links [default: nofollow]
    #[arg(long, value_name = "WORDS", help_heading = "Politeness")]
    #[serde(with = "word")]
    pub skip_rel: Relations,
    /// Do not archive pages whose owners refuse these uses: train (AI models), input (AI answers)
    /// and search, separated by commas. Read from robots.txt, headers and pages, and then also from
    /// /.well-known/tdmrep.json and /ai.txt of each host [default: none]
    #[arg(long, value_name = "WORDS", help_heading = "Politeness")]
    #[serde(with = "word")]
    pub respect_preferences: Usages,

    /// Treatment of a page that repeats an earlier one: drop, keep (archive and mark it), follow
    /// (archive it and follow all its links) [default: drop]
    #[arg(long, value_name = "WHAT", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub on_duplicate: OnDuplicate,
    /// Keep the text of a duplicate that is not archived, for `duplicates --diff`: on or off. Costs
    /// the compressed text of each such page; exact duplicates cost nothing [default: off]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub duplicate_text: Switch,
    /// Archive pages that a server sends in place of a page, and mark them: block pages and
    /// challenges, logins, consent pages, parked domains, and pages for missing URLs with status
    /// 200 [default: off]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub archive_interstitials: Switch,
    /// Links of a page that repeats an earlier one: probe (new URLs are queued last, and folders
    /// without new content are closed), follow (all), none [default: probe]
    #[arg(long, value_name = "WHAT", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub duplicate_links: DuplicateLinks,
    /// Maximum distance of fingerprints, in bits, for pages to be compared, 0 to 7 [default: 3]
    #[arg(long, value_name = "K", help_heading = "Duplicates")]
    pub distance: u32,
    /// Minimum resemblance of near duplicates, 0 to 1 [default: by length: 1 under 50 words, 0.90
    /// under 100, 0.86 under 350, 0.80 otherwise; in prose, also 0.87 of the counted words]. A
    /// crawl finds 98 % of the near duplicates at 0.80, and 40 % at 0.50
    #[arg(long, value_name = "R", help_heading = "Duplicates")]
    pub resemblance: Option<f64>,
    /// Confirm candidates by comparing their texts. off: fingerprints within --distance decide
    /// alone, as in the paper of Manku, Jain and Das Sarma; only for experiments, because pages
    /// with different content are then dropped [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub verify: Switch,
    /// Features of fingerprints: word:1, word:3, char:5, word:1+tf-idf, … [default: word:1+log-tf]
    #[arg(long, value_name = "UNIT:N", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub features: Features,
    /// Exclude the stop words of this language (en, de, …) from fingerprints
    #[arg(long, value_name = "LANG", help_heading = "Duplicates")]
    pub stop_words: Option<String>,
    /// With tf-idf features or a topic: file with the number of documents that contain each word,
    /// from `crawler frequencies` [default: learned while crawling]
    #[arg(long, value_name = "FILE", help_heading = "Duplicates")]
    pub frequencies: Option<PathBuf>,
    /// Compare only the main content of a page, without navigation [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Duplicates")]
    pub main_content: Switch,
    /// CSS selector of the main content, HOST=CSS for one host, or URL=CSS for the pages below a
    /// URL; the first match counts (repeatable) [default: detected]
    #[arg(long, value_name = "[PLACE=]CSS", help_heading = "Duplicates")]
    pub main_selector: Vec<String>,
    /// Compare a page only with pages of the same crawl, domain (registrable, with its subdomains)
    /// or host [default: crawl]
    #[arg(long, value_name = "SCOPE", help_heading = "Duplicates")]
    #[serde(with = "word")]
    pub duplicate_scope: DuplicateScope,
    /// Archive N pages per cluster: the original and N - 1 near-duplicates [default: 1]
    #[arg(long, value_name = "N", help_heading = "Duplicates")]
    pub per_cluster: u32,
    /// Compare with the pages of this earlier crawl, or of a WACZ or CDXJ of another program:
    /// unchanged pages are not archived again, but their links are followed; pages with other bytes
    /// under the same URL are archived as changed (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Duplicates")]
    pub against: Vec<PathBuf>,
    /// Like --against, with conditional requests (If-None-Match, If-Modified-Since): servers do not
    /// send unchanged pages again. Needs the archive of that crawl, or a WACZ. `latest` is the
    /// crawl in the directory that precedes --out in alphabetical order (repeatable)
    #[arg(long, value_name = "PATH", help_heading = "Duplicates")]
    pub since: Vec<PathBuf>,
    /// Key of all hashes, 16 hexadecimal digits; only crawls with the same key can be compared
    /// [default: random; a crawl keeps its key]
    #[arg(long, value_name = "HEX", help_heading = "Advanced")]
    #[serde(with = "maybe_word")]
    pub hash_key: Option<Key>,
    /// Place of the lookup keys for near-duplicates: memory (90 bytes per page), or disk (slower,
    /// for machines with little memory). The verdicts are the same [default: memory]
    #[arg(
        long,
        value_name = "memory|disk",
        hide_possible_values = true,
        help_heading = "Advanced"
    )]
    pub signature_index: SignatureIndexPlace,
    /// Number of permuted fingerprint tables on disk, for --signature-index disk: more tables take
    /// more disk space, and a lookup reads fewer candidates. `crawler plan` compares designs; a
    /// change rebuilds the tables [default: auto, four tables that support every --distance]
    #[arg(long, value_name = "auto|N", help_heading = "Advanced")]
    #[serde(with = "word")]
    pub tables: Tables,

    /// Maximum length of a body; longer bodies are truncated, and their records marked [default:
    /// 50MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Fetching")]
    #[serde(with = "word")]
    pub max_body: Size,
    /// Memory for bodies and for parsing them; excess bodies wait or go to disk. Other memory of
    /// the crawl is not included [default: 32MiB per processor, at most an eighth of the machine's
    /// memory]
    #[arg(long, value_name = "SIZE", help_heading = "Fetching")]
    #[serde(with = "maybe_word")]
    pub memory: Option<Size>,
    /// Maximum wait for a response, and for more data when its body stalls [default: 60s]
    #[arg(short = 'T', long, value_name = "TIME", help_heading = "Fetching")]
    #[serde(with = "word")]
    pub timeout: Span,
    /// Maximum number of attempts for a page whose failure may be temporary [default: 3]
    #[arg(short = 't', long, value_name = "N", help_heading = "Fetching")]
    pub tries: u32,
    /// Maximum number of redirects in a row [default: 10]
    #[arg(long, value_name = "N", help_heading = "Fetching")]
    pub max_redirects: usize,
    /// Connect to this address for HOST:PORT, as in curl (repeatable)
    #[arg(long, value_name = "HOST:PORT:ADDR", help_heading = "Fetching")]
    pub resolve: Vec<String>,
    /// Allow private, loopback and link-local addresses
    #[arg(long, help_heading = "Fetching")]
    pub allow_private: bool,
    /// Also trust the certificates in this PEM file (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub ca_certificate: Vec<PathBuf>,
    /// Cookies from servers: session (sent back to the host or domain of the cookie while this
    /// process runs; at most 50 per host and domain, of 4 KiB each) or off. Cookies are never
    /// written to disk; requests are archived without their values [default: off]
    #[arg(
        long,
        value_name = "session|off",
        hide_possible_values = true,
        help_heading = "Fetching"
    )]
    pub cookies: CookieKeeping,
    /// Client certificate (PEM, with intermediate certificates) for https origins of seeds that
    /// request one; [host."NAME"] in a settings file sets the certificate of one host
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub client_cert: Option<PathBuf>,
    /// Private key of --client-cert (PEM) [default: in the same file]
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub client_key: Option<PathBuf>,
    /// Sign every request with this private key (Ed25519 in PEM form; `crawler keys new` writes
    /// one), as Web Bot Auth asks of crawlers; needs --signature-agent. Only its owner may have
    /// access to the file. The key is never archived or stored, but signatures are. Requests over
    /// http through an HTTP proxy are not signed, since it may change what is signed
    #[arg(long, value_name = "FILE", help_heading = "Fetching")]
    pub sign_requests: Option<PathBuf>,
    /// https URL where the public key of --sign-requests is, sent as it is: the URL of the key
    /// directory, or its origin for verifiers that append
    /// /.well-known/http-message-signatures-directory
    #[arg(long, value_name = "URL", help_heading = "Fetching")]
    pub signature_agent: Option<String>,
    /// Do not verify the certificates of this host, on any port: an attacker on the network can
    /// read and change its pages. The archive records the option (repeatable)
    #[arg(long, value_name = "HOST", help_heading = "Fetching")]
    pub insecure_host: Vec<String>,
    /// Use a proxy: socks5:// (the crawler resolves names and refuses private addresses), http://
    /// or https:// (the crawler checks names, but the proxy resolves them again and should itself
    /// refuse private addresses) or socks5h:// (only the proxy resolves names, as Tor requires).
    /// User and password are part of the URL and are not stored: give them again to continue.
    /// Environment variables such as http_proxy are ignored
    #[arg(long, value_name = "URL", help_heading = "Fetching")]
    pub proxy: Option<String>,
    /// Compression of the archive, per record: gzip (.warc.gz, supported by every tool), zstd
    /// (.warc.zst, smaller and faster, supported by few tools) or none (.warc) [default: gzip]
    #[arg(long, value_name = "HOW", help_heading = "Archive")]
    #[serde(with = "word")]
    pub compression: Packing,
    /// Compression level: 1 (fast) to 12 (small) for gzip, 1 to 19 for zstd [default: 1 for gzip, 3
    /// for zstd]
    #[arg(long, value_name = "N", help_heading = "Archive")]
    pub compression_level: Option<i32>,
    /// Compress with this zstd dictionary from `zstd --train`; it is embedded in each file
    #[arg(long, value_name = "FILE", help_heading = "Archive")]
    pub zstd_dictionary: Option<PathBuf>,
    /// Digest of payloads and records: sha1, which indexes and replay tools expect, or sha256
    /// [default: sha1]
    #[arg(long, value_name = "WHICH", help_heading = "Archive")]
    #[serde(with = "word")]
    pub digest: DigestAlgorithm,
    /// Record each page's links in the archive, one per line, as Heritrix does [default: off]
    #[arg(long, value_name = "ON|OFF", help_heading = "Archive")]
    pub outlinks: Switch,
    /// Prefix of archive file names: PREFIX-TIME-NUMBER.warc.gz [default: crawl]
    #[arg(long, value_name = "PREFIX", help_heading = "Archive")]
    pub warc_prefix: String,
    /// Start a new archive file when the current one reaches this age [default: no limit]
    #[arg(long, value_name = "TIME", help_heading = "Archive")]
    #[serde(with = "maybe_word")]
    pub warc_max_time: Option<Span>,
    /// Start a new archive file when the current one reaches this size [default: 1GiB]
    #[arg(long, value_name = "SIZE", help_heading = "Archive")]
    #[serde(with = "word")]
    pub warc_max_size: Size,
    /// Do not write the search index; `crawler reindex` can build it later
    #[arg(long, help_heading = "Output")]
    pub no_index: bool,
    /// Archived pages in the search index: unique, or kept (also duplicates that --on-duplicate or
    /// --per-cluster archives) [default: unique]
    #[arg(long, value_name = "WHICH", help_heading = "Output")]
    #[serde(with = "word")]
    pub index: IndexedPages,
    /// Memory for writing the search index, at least 8MiB: one thread per 8MiB writes it, up to
    /// half of the processors; more memory makes fewer, larger segments [default: 32MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Output")]
    #[serde(with = "word")]
    pub index_memory: Size,
    /// Write a CDXJ index of the archive for replay tools, archive/index.cdxj, when the crawl ends
    /// [default: on]
    #[arg(long, value_name = "ON|OFF", help_heading = "Output")]
    pub cdxj: Switch,
    /// Start no new pages while free disk space is below this [default: 64MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Output")]
    #[serde(with = "word")]
    pub min_free: Size,
    /// Maximum wait for free space on a full disk, before the crawl ends with code 1; 0 does not
    /// wait
    /// [default: 10m]
    #[arg(long, value_name = "TIME", help_heading = "Output")]
    #[serde(with = "word")]
    pub wait_for_space: Span,

    /// Names of the secret options that the crawl was run with. Secrets are never stored.
    #[arg(skip)]
    pub secrets: Vec<String>,
    // In the file of a crawl, all its seeds.
    /// Seeds, in addition to --seeds
    #[arg(value_name = "URL")]
    pub url: Vec<String>,
    /// Settings of single hosts, in the file only. Tables are the last, because no key can follow
    /// one.
    #[arg(skip)]
    #[serde(skip_serializing_if = "HostTables::is_empty")]
    pub host: HostTables,
    /// Settings of the pages below a URL, in the file only.
    #[arg(skip)]
    #[serde(skip_serializing_if = "PrefixTables::is_empty")]
    pub prefix: PrefixTables,
    /// Settings of single seeds, in the file only.
    #[arg(skip)]
    #[serde(skip_serializing_if = "SeedTables::is_empty")]
    pub seed: SeedTables,
}
