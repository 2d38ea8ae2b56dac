# A menu over cargo: nothing needs `just`.

# What chance is drawn from here; plain `cargo test` draws from the seeds in .cargo/config.toml. SEED=… repeats a run.
seed := env("SEED", `od -An -N4 -tu4 /dev/urandom | tr -d ' '`)

# list what there is
default:
    @just --list

# what runs before a change lands
ci:
    bash .ci/run

# the tests, as in the README
test:
    cargo test --workspace

# the tests with chance drawn anew, so many times over; what fails says by which seed
explore rounds="10" *args="--workspace":
    #!/usr/bin/env bash
    set -euo pipefail
    for round in $(seq 0 $(({{rounds}} - 1))); do
        seed=$(({{seed}} + round))
        echo "== SEED=$seed"
        PROPTEST_RNG_SEED=$seed KILL_SEED=$seed FLIP_SEED=$seed WRECK_SEED=$seed cargo test {{args}}
    done

# crawl a toy web on loopback and show what comes of it
demo:
    cargo run --release --example demo

# crawl 20,000 generated pages on loopback: pages/s, CPU, memory, duplicates caught
bench-crawl *args:
    cargo run --release --manifest-path benches/Cargo.toml --bin bench-crawl -- {{args}}

# what writing the archive costs, by compression, digest and what is told of each page (docs/formats/archive.md)
bench-warc *args:
    cargo run --release --manifest-path benches/Cargo.toml --bin bench-warc -- {{args}}

# the pace of an honest host beside six traps without end (docs/guide/traps.md)
bench-traps *args:
    cargo run --release --manifest-path benches/Cargo.toml --bin bench-traps -- {{args}}

# write the tables of a crawl of a million visits: rows/s, CPU, memory, bytes (docs/formats/export.md)
bench-export *args:
    cargo run --release --manifest-path benches/Cargo.toml --bin bench-export -- {{args}}

# the search index: CPU a page, room, memory, latency, and 200 queries against a plain scan (docs/guide/search.md)
bench-search *args:
    cargo run --release --manifest-path benches/Cargo.toml --bin bench-search -- {{args}}

# lookups, all pairs, batches, simhash, text, MinHash beside their peers: `just peers lookup 1000000`
peers bin *args:
    cargo run --release --manifest-path benches/peers/Cargo.toml --bin {{bin}} -- {{args}}

# main content beside its peers on the labelled pages (docs/measurements/extraction.md)
extraction *args:
    cargo run --release --manifest-path benches/extraction/Cargo.toml -- {{args}}

# any bytes: a value or an error (needs a nightly compiler and cargo-fuzz). A minute for each target; `just fuzz url 600` is one for longer
fuzz target="all" seconds="60":
    #!/usr/bin/env bash
    set -euo pipefail
    # libdeflate, which the archive packs with, has one table in two of its objects.
    export ASAN_OPTIONS=detect_odr_violation=0
    targets="{{target}}"
    if [ "$targets" = all ]; then targets=$(cargo +nightly fuzz list); fi
    for target in $targets; do
        echo "== $target"
        mkdir -p "fuzz/corpus/$target"
        cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "crates/anybytes/corpus/$target" -- -max_total_time={{seconds}}
    done

# the vector instructions under AddressSanitizer (needs a nightly compiler)
sanitize:
    RUSTFLAGS=-Zsanitizer=address cargo +nightly test --target x86_64-unknown-linux-gnu -p neardup --lib -- simd:: simhash:: words:: shingles:: sketch:: similarity:: minhash:: tables::

# crawl Debian's clang manuals in two versions and compare the verdicts
real-documents:
    bash tests/real-documents.sh

# precision, recall and F1 of the verdicts on every labelled set: docs/measurements/quality.md
quality *args:
    bash evaluation/fetch-manuals.sh
    cargo run --release -p evaluation -- --output docs/measurements/quality.md {{args}}

# what a default crawl loses of real documentation sites: a section of docs/measurements/quality.md. `just real-sites llvm faq` is some of them
real-sites *args:
    cargo build --release -p crawler --bin crawler
    cargo build --release -p testkit --example serve
    python3 evaluation/real_sites.py --crawler target/release/crawler --serve target/release/examples/serve --report docs/measurements/quality.md --merges docs/measurements/real-sites-merges.md {{args}}

# kill -9 a crawl at 200 random moments, each followed by a restart; SEED=… repeats a run
kill kills="200":
    KILLS={{kills}} KILL_SEED={{seed}} cargo test -p crawler --test crawler -- kill:: --nocapture

# kill, fill, damage and flood crawls for ten minutes: one table. `just attack --only kills,fills`
attack *args:
    cargo run --release --manifest-path attack/Cargo.toml -- --seed {{seed}} {{args}}

# so many polite fetches over so many hosts with so many interrupts and kills, by the server's log
polite fetches="100000" hosts="200" restarts="20":
    FETCHES={{fetches}} HOSTS={{hosts}} RESTARTS={{restarts}} cargo test -p crawler --test crawler -- endurance:: --nocapture

# turn a bit in so many places of each file of a crawl's memory; SEED=… repeats a run
flips flips="120":
    FLIPS={{flips}} FLIP_SEED={{seed}} cargo test -p crawler --test crawler -- flips:: --nocapture

# cut the journal at every record and within it, and turn so many bits anywhere in the state, while the server is away
damages bits="200" step="1":
    DAMAGE_BITS={{bits}} DAMAGE_STEP={{step}} FLIP_SEED={{seed}} cargo test -p crawler --test crawler -- damages:: --nocapture

# let the disk fail at each of the first 500 calls of a crawl, and the power at 500 moments; SEED=… repeats a run
wrecks failures="500" cuts="500":
    FAILURES={{failures}} POWER_CUTS={{cuts}} WRECK_SEED={{seed}} cargo test -p crawl --test wrecks -- --nocapture

# read the archive of a crawl with warcio, FastWARC and the `warc` crate (installed in a virtual environment of their own)
check-warc dir="crawl":
    bash interop/readers.sh {{dir}}

# crawl 10,000 records of real documents and have readers, pywb, cdxj-indexer, wacz, DuckDB, pandas and a browser read them (docs/measurements/interop.md)
interop size="full":
    bash interop/run.sh {{size}}
