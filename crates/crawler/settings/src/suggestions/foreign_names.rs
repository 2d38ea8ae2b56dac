//! Names in other crawlers, and our equivalents.
//!
//! Invariant: no row contains one of our names, no name is in two rows, and every option and
//! command that a row suggests exists (tests of [`super`]).

/// Names of other crawlers' options and settings, and the advice for users who type them.
pub struct ForeignName {
    /// The names.
    pub names: &'static [&'static str],
    /// The advice.
    pub advice: &'static str,
}

/// Returns a row of the table.
const fn row(names: &'static [&'static str], advice: &'static str) -> ForeignName {
    ForeignName { names, advice }
}

/// Options of wget, wget2, Scrapy, HTTrack, Katana and Browsertrix that have another name here.
/// Names with one hyphen match literally. `--name` also matches `-name` and, without hyphens, a key
/// of a configuration file.
pub const FOREIGN: &[ForeignName] = &[
    row(
        &["--depth", "--level", "--depth-limit", "-d"],
        "did you mean --max-depth?",
    ),
    row(
        &["--recursive", "-r"],
        "it is the default: links are followed; --max-depth N limits them",
    ),
    row(
        &["--no-parent", "-np", "--stay-on-same-dir"],
        "did you mean --scope prefix?",
    ),
    row(
        &["--span-hosts", "-H", "--go-everywhere"],
        "did you mean --scope any? -H of curl is --header",
    ),
    row(
        &["--ext-depth", "--extraHops"],
        "did you mean --extra-hops?",
    ),
    row(
        &[
            "--domains",
            "-D",
            "--allowed-domains",
            "--stay-on-same-domain",
        ],
        "did you mean --scope domain? Each domain needs a seed",
    ),
    row(
        &["--stay-on-same-address", "--field-scope", "-fs"],
        "did you mean --scope? It is host, domain, prefix or any",
    ),
    row(
        &[
            "--accept",
            "-A",
            "--accept-regex",
            "--include-directories",
            "-I",
            "--crawl-scope",
            "-cs",
        ],
        "did you mean --include? It takes a regular expression on the URL",
    ),
    row(
        &[
            "--reject",
            "-R",
            "--reject-regex",
            "--exclude-directories",
            "-X",
            "--exclude-domains",
            "--crawl-out-scope",
            "-cos",
            "--deny",
        ],
        "did you mean --exclude? It takes a regular expression on the URL",
    ),
    row(
        &[
            "--wait",
            "--download-delay",
            "--rate-delay",
            "-rd",
            "--random-wait",
            "--waitretry",
        ],
        "did you mean --delay? Slow hosts and failures lengthen it automatically",
    ),
    row(
        &["--autothrottle-enabled", "--autothrottle-start-delay"],
        "it is the default: --delay-factor follows the response time of each host",
    ),
    row(
        &[
            "--limit-rate",
            "--max-rate",
            "--rate-limit",
            "-rl",
            "--connection-per-second",
        ],
        "did you mean --rate? It limits requests, such as 5/s; the download rate cannot be limited",
    ),
    row(
        &[
            "--max-threads",
            "--concurrent-requests",
            "--parallelism",
            "--sockets",
            "-c",
            "-p",
            "-C",
        ],
        "did you mean --concurrency? -p of wget is --page-requisites, -c is the default",
    ),
    row(
        &[
            "--concurrent-requests-per-domain",
            "--concurrent-requests-per-ip",
        ],
        "did you mean --concurrency-per-host?",
    ),
    row(
        &[
            "--output-dir",
            "--output-directory",
            "--directory-prefix",
            "--path",
            "--jobdir",
            "-P",
            "-O",
            "--output-document",
            "--feeds-uri",
        ],
        "did you mean --out DIR? `crawler export DIR` writes tables of a crawl",
    ),
    row(
        &["--jsonl", "-j", "--overwrite-output"],
        "did you mean `crawler export DIR --format jsonl`? It runs during or after the crawl",
    ),
    row(
        &["--warc-file", "--warc-header", "--warc-cdx"],
        "it is the default: every crawl writes WARC files; --warc-prefix is their name",
    ),
    row(
        &[
            "--input-file",
            "--list",
            "-list",
            "--urls",
            "--start-urls",
            "--seed",
            "--url-file",
        ],
        "did you mean --seeds FILE? URLs themselves need no option",
    ),
    row(
        &["--url", "-u"],
        "a URL needs no option: crawler https://example.org/",
    ),
    row(
        &["--closespider-pagecount", "--max-files", "--limit"],
        "did you mean --max-pages?",
    ),
    row(
        &["--closespider-timeout", "--crawl-duration", "-ct"],
        "did you mean --max-time?",
    ),
    row(&["--quota", "-Q"], "did you mean --max-size?"),
    row(
        &[
            "--max-response-size",
            "-mrs",
            "--download-maxsize",
            "--max-file-size",
        ],
        "did you mean --max-body?",
    ),
    row(
        &[
            "--connect-timeout",
            "--read-timeout",
            "--dns-timeout",
            "--download-timeout",
            "--max-retry-time",
        ],
        "did you mean --timeout? It is for the whole request",
    ),
    row(
        &["--retry", "--retries", "--retry-times", "--max-retries"],
        "did you mean --tries? It counts the first visit, too",
    ),
    row(
        &["--max-redirect", "--redirect-max-times"],
        "did you mean --max-redirects?",
    ),
    row(
        &["--robots", "--robotstxt-obey", "--no-robots", "-e"],
        "robots.txt is obeyed; use --ignore-robots only for sites whose owners agreed",
    ),
    row(
        &["--follow-sitemaps", "--known-files", "-kf"],
        "did you mean --sitemaps? It is on",
    ),
    row(&["--js-crawl", "-jc"], "did you mean --script-links?"),
    row(
        &["--crawl-javascript", "--javascript", "--headless"],
        "did you mean --render shells? It runs scripts in Chromium",
    ),
    row(
        &["--login", "--post-data", "--auth"],
        "login forms are not filled in: log in with a browser, and give its cookies with \
         --load-cookies FILE; or --http-user",
    ),
    row(
        &["--automatic-form-fill", "-aff", "--form-fill"],
        "did you mean --forms?",
    ),
    row(
        &["--near", "--requisites"],
        "did you mean --page-requisites?",
    ),
    row(
        &["--timestamping", "-N", "--update"],
        "did you mean --since DIR? It fetches what has changed since that crawl",
    ),
    row(
        &["--continue", "--resume", "--no-clobber", "-nc", "--persist"],
        "it is the default: `crawler --out DIR` continues the crawl in DIR",
    ),
    row(
        &[
            "--convert-links",
            "-k",
            "--adjust-extension",
            "-E",
            "-nd",
            "-nH",
            "-K",
        ],
        "pages are archived unchanged; write them as files with converted links by `crawler unpack \
         DIR -o OUT`",
    ),
    row(
        &["--mirror", "-m", "--archive"],
        "a crawl archives a whole site by default; --page-requisites adds images and styles",
    ),
    row(
        &["--no-check-certificate", "--insecure"],
        "did you mean --insecure-host HOST?",
    ),
    row(
        &["--agent", "--useragent"],
        "did you mean --user-agent? With --contact sites can write to you",
    ),
    row(
        &["--anyauth", "--auth-no-challenge"],
        "--http-user answers Basic and Digest; --header 'Authorization: …' is sent at once",
    ),
    row(
        &["--user", "--http-passwd"],
        "did you mean --http-user and --http-password-file?",
    ),
    row(
        &["--cookie-jar", "--headers"],
        "did you mean --load-cookies or --header?",
    ),
    row(
        &["--silent", "--no-verbose", "-nv", "--nolog"],
        "did you mean --quiet (-q)?",
    ),
    row(
        &["--debug", "--loglevel", "-L", "--log-level"],
        "did you mean --verbose (-v)? crawl.log in the directory of the crawl has everything",
    ),
    row(
        &["--set", "-s", "-a"],
        "every setting is an option of its own, such as --delay 2s; --config reads a file",
    ),
];

/// Options of datasketch, text-dedup, datatrove and pandas that a command has under another name.
pub const FOREIGN_OF_COMMANDS: &[(&str, ForeignName)] = &[
    (
        "dedup",
        row(
            &["--threshold", "--jaccard", "--jaccard-threshold"],
            "did you mean --resemblance?",
        ),
    ),
    (
        "dedup",
        row(
            &["--num-perm", "--permutations", "--bands", "--rows"],
            "did you mean --recall? The number of bands follows from it",
        ),
    ),
    (
        "dedup",
        row(
            &["--ngram", "--ngram-size", "--n-grams", "--shingle-size"],
            "did you mean --features word:5?",
        ),
    ),
    (
        "dedup",
        row(
            &["--column", "--columns", "--text-column", "--text-key"],
            "did you mean --text-field?",
        ),
    ),
    (
        "export",
        row(
            &["--column", "--columns", "--fields"],
            "every column is exported: select some in the program that reads the file",
        ),
    ),
];

/// Words that users type as commands, and the command or option that they need, or what to do.
pub const FOREIGN_COMMANDS: &[(&str, &str)] = &[
    ("check", "verify"),
    ("continue", "--out"),
    ("convert", "export"),
    ("dedupe", "dedup"),
    ("diff", "changes"),
    ("dump", "export"),
    ("dupes", "duplicates"),
    ("explain", "why"),
    ("expand", "unpack"),
    ("fetch", "crawl"),
    ("find", "search"),
    ("grep", "search"),
    ("info", "status"),
    ("list", "export"),
    ("ls", "export"),
    ("mirror", "crawl"),
    ("pause", "write `pause = true` into DIR/control.toml"),
    ("pack", "wacz"),
    ("repair", "rebuild"),
    ("resume", "--out"),
    ("runspider", "crawl"),
    ("scrape", "crawl"),
    ("start", "crawl"),
    ("stats", "status"),
    (
        "stop",
        "interrupt the crawl (Ctrl-C, or `kill -INT`): the same command continues it",
    ),
    ("traps", "patterns"),
    ("unwarc", "unpack"),
    ("version", "--version"),
];
