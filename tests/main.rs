//! The real binary against real HTTP on loopback: everything that a user, a site and a reader of
//! the archive see of it.
//!
//! Nothing sleeps and nothing has a time limit: a gate holds an answer until the test has seen what
//! it waits for. Each test has a directory and a server of its own.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

// Walls between the crates, and rules of the text.
mod architecture;
// The documentation as a book: its contents, its commands, its reference.
mod book;
// The binary as a child process, its crawls, and the sites that it visits.
mod support;

// Pages that scripts fill, run by a real browser.
mod rendering;

/// Requests, and the waits between them, as the servers see them.
mod politeness {
    mod addresses; // many hosts of one address
    mod delays; // delays and turns of one host
    mod endurance; // thousands of fetches from many hosts, with restarts
    mod groups; // hosts that share a pace
    mod hosts; // `status --hosts`
    mod interstitials; // block pages, logins, soft 404s
    mod open_files; // more hosts than open files
    mod outages; // hosts that fail, `retry`
    mod preferences; // `--respect-preferences`
    mod restarts; // waits outlast interrupts and kills
    mod robots; // robots.txt
    mod stalls; // hosts that accept connections and do not move
}

/// Nothing is lost by kills, power cuts, full disks and damaged files.
mod durability {
    mod claims; // links to the targets of redirects in flight
    mod clocks; // clocks that are set between two sessions
    mod crashes; // kills after a number of requests
    mod damages; // a journal that is cut, and flipped bits, without a server
    mod disk_space; // `--min-free`, `--wait-for-space`
    mod faults; // full disks, unreadable directories, two crawls in one
    mod flips; // flipped bits in every file of the state
    mod golden_crawl; // crawls kept in the repository
    mod kill; // kills at random moments
    mod power_cuts; // bytes that were not synced
    mod rebuild; // `rebuild`, from our archives and others'
    mod resume; // interrupts, signals, deleted directories
    mod verify; // `verify`
}

/// A crawl by several nodes, on PostgreSQL. Where it is not installed, these tests are ignored.
mod machines {
    mod faults; // nodes and a database that fail at random moments
    mod fences; // commits that come too late
    mod input; // nodes that are started wrongly
    mod membership; // nodes that join, leave and come back
}

/// URLs, from links, sitemaps, feeds and redirects.
mod discovery {
    mod anticipation; // `--anticipation` of focused crawls
    mod content; // content types, codings, charsets, directives
    mod content_filters; // `--types`, `--languages`
    mod cuts; // limits that cost a page links, text or bytes
    mod extra_hops; // `--extra-hops`: pages off the scope
    mod leniency; // odd heads, bodies that break off, connections that end
    mod limits; // page, byte and time limits
    mod link_checks; // `--check-links`
    mod links; // every element and field that holds a URL
    mod odd_content; // content that is not what its header says
    mod off_topic_streaks; // hosts without pages on topic, of focused crawls
    mod parts; // `[prefix."URL"]`, `[seed."URL"]`
    mod redirects; // redirects, hop by hop
    mod requisites; // what pages need: images, styles, scripts
    mod scope; // hosts, domains, prefixes, `--include`, `--exclude`
    mod seeds; // seeds files, seeds that fail, seeds that have moved
    mod since; // `--since`: conditional requests
    mod sitemaps; // sitemaps and feeds
    mod skipped; // URLs that are not visited, and the reasons
    mod spellings; // URLs that are compared by a key and requested as written
    mod spider; // `--spider`: pages that are only checked
    mod topic; // focused crawls
    mod toy_web; // the toy web, whole
    mod traps; // sites without end
    mod widened; // continued crawls whose settings let in more
}

/// Verdicts on pages that are like others.
mod duplicates {
    mod against; // `--against`: pages of earlier crawls
    mod canonical; // canonical links
    mod changes; // versions of a page, `changes`
    mod clusters; // `--per-cluster`, `clusters`
    mod distinct; // `duplicates --distinct`, and its line in control.toml
    mod editions; // editions in several languages
    mod imports; // `--against FILE`: archives of other programs
    mod real_sites; // models of sites that lost pages
    mod shells; // applications whose pages are the same bytes
    mod texts; // pages compared by their texts, `frames`
    mod verdicts; // exact and near-duplicates, `--on-duplicate`
}

/// The archive, and everything that is derived from it.
mod archive {
    mod arc; // ARC files
    mod cdxj; // the CDXJ index
    mod compression; // gzip, zstd, dictionaries, none
    mod foreign_archives; // archives of other crawlers
    mod forms; // every form of archive and every command on it
    mod options; // sizes, names and digests of files
    mod pdfs; // text of PDF files
    mod records; // records against what the server sent
    mod replay; // archived pages in the dashboard
    mod search; // the search index
    mod unpack; // pages as files
    mod wacz; // WACZ packages
}

/// Other commands, settings and messages.
mod commands {
    mod api; // `/api/` of the dashboard
    mod audit; // `export --audit`
    mod bad_input; // errors of the command line and the configuration
    mod clean; // `clean`
    mod command_line; // suggestions, verbosity, `config`, `man`, `completions`
    mod containment; // `--containment` of `similar` and `dedup`
    mod control; // settings that change while a crawl runs
    mod dedup; // `dedup`, `plan`
    mod differences; // `compare --diff`, `duplicates --diff`
    mod export; // `export`
    mod export_texts; // `export --text`
    mod files; // `extract`, `compare`, `fingerprint`, …
    mod host_settings; // `[host."NAME"]`
    mod input; // formats, compressions, fields
    mod input_keep; // `dedup --keep`
    mod inspection; // `status`, `why`, `export` and others on a crawl
    mod interrupted; // files that an interrupt, a kill or a full disk leaves
    mod labels; // `dedup --labels`
    mod mcp; // `mcp`
    mod measures; // `compare --measures`
    mod on_file; // `--on-file`
    mod on_finish; // `--on-finish`
    mod one_form; // tables, JSON and CSV, wherever they go
    mod other_programs; // files and directories as other programs write them
    mod packaging; // files of the packages
    mod pipeline; // `dedup` with indexes, shards, parts and reports
    mod published_results; // what papers and textbooks say
    mod query; // `query`, and `similar` on files
    mod report; // `report`
    mod serve; // `serve`, `--serve`
    mod settings; // files, environment, seeds
    mod shared_crawl; // `import`, `nodes`, `--store`
    mod similar; // `similar`
    mod status; // `status` against a recount of `export`
    mod topic; // `topic`
    mod typed_ids; // findings with ids of their type
}

/// Hostile servers, private networks, credentials, terminals.
mod security {
    mod client_certificates; // `--client-cert`
    mod credentials; // secrets reach their origin only
    mod digest; // Digest authentication
    mod hostile; // servers that break every rule
    mod hsts; // hosts that ask for https
    mod netrc; // `--netrc`
    mod proxy; // proxies
    mod session_cookies; // `--cookies session`
    mod signed_requests; // `--sign-requests`, `keys`
    mod ssrf_guard; // addresses that pages cannot reach
    mod terminal; // escape sequences
    mod tls; // HTTPS and HTTP/2
}
