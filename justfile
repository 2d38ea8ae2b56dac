# A menu over cargo: nothing needs `just`.

# The seed of random choices. Plain `cargo test` takes the seeds of .cargo/config.toml.
# SEED=… repeats a run.
seed := env("SEED", `od -An -N4 -tu4 /dev/urandom | tr -d ' '`)

# list the recipes
default:
    @just --list

# run what a change must pass
ci:
    bash .ci/run

# check that the published crates build with every choice of features and package
packages:
    bash .ci/packages

# make the Debian package, the archive and, with a container engine, the image (packaging/README.md)
package *args:
    packaging/build all {{args}}

# install, run, upgrade and remove the packages in a bare Debian tree (needs root and mmdebstrap)
try-packages *args:
    sudo --preserve-env=PATH,HOME packaging/try {{args}}

# make the reference of the commands anew from `--help --all`
reference:
    UPDATE_REFERENCE=1 cargo test -p crawler --test crawler -- book::reference

# build the Python package, install it into new environments and run its tests and its tutorial
python:
    crates/engine/python/test.sh

# build the wheels of the Python package for x86-64 and aarch64 (needs zig, which pip installs)
wheels:
    crates/engine/python/wheels.sh

# compare the public items of the published crates with their last version (cargo-semver-checks)
semver:
    bash .ci/semver

# run the tests, as in the README
test:
    cargo test --workspace

# run the tests several times, each time with a new seed, which a failure reports
explore rounds="10" *args="--workspace":
    #!/usr/bin/env bash
    set -euo pipefail
    for round in $(seq 0 $(({{rounds}} - 1))); do
        seed=$(({{seed}} + round))
        echo "== SEED=$seed"
        export PROPTEST_RNG_SEED=$seed KILL_SEED=$seed FLIP_SEED=$seed WRECK_SEED=$seed
        cargo test {{args}}
    done

# crawl a toy web on loopback and show the result
demo:
    cargo run --release --example demo

# crawl a generated web by three nodes that share a crawl on PostgreSQL, and check it
nodes:
    cargo run --release --example nodes

# crawl 20,000 generated pages on loopback: pages/s, CPU, memory, duplicates found
bench-crawl *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-crawl -- {{args}}

# crawl 30,720 generated pages of 256 hosts on 2, 4, 8 and 12 cores (docs/measurements/cores.md)
bench-cores *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-cores -- {{args}}

# crawl 500 generated hosts for ten minutes: pages/s and memory by the minute, and of its quarters
soak *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin soak -- {{args}}

# measure what a topic adds to the cost of a page and of a link
bench-topic *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-topic -- {{args}}

# measure an index of fingerprints on disk: bytes, time to build, time and pages of a query
bench-index *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-index -- {{args}}

# measure writing the archive, by compression, digest and metadata (docs/formats/archive.md)
bench-warc *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-warc -- {{args}}

# measure the pace of an honest host beside six traps without end (docs/guide/traps.md)
bench-traps *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-traps -- {{args}}

# export a crawl of a million visits: rows/s, CPU, memory, bytes (docs/formats/export.md)
bench-export *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-export -- {{args}}

# measure the difference of two texts, word by word (docs/measurements/speed.md)
bench-difference *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-difference -- {{args}}

# write and read the journal of a million visits: `just bench-statistics write DIR 1000000 10000`
bench-statistics *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-statistics -- {{args}}

# measure the dashboard and the report of a million visits (docs/measurements/dashboard.md)
bench-ui *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-ui -- {{args}}

# measure the search index, and compare 200 queries with a plain scan (docs/guide/search.md)
bench-search *args:
    cargo run --release --manifest-path lab/benches/Cargo.toml --bin bench-search -- {{args}}

# compare with peers (lookup, all-pairs, batch, simhash, text, minhash): `just peers lookup 1000000`
peers bin *args:
    cargo run --release --manifest-path lab/benches/peers/Cargo.toml --bin {{bin}} -- {{args}}

# compare `crawler dedup` with its peers (docs/measurements/peers.md). Needs Python 3.12
peers-dedup *args:
    cargo build --release -p crawler --bin crawler
    cargo build --release --manifest-path lab/benches/peers/Cargo.toml --bin near-pairs
    python3 lab/benches/peers/dedup/compare.py {{args}}

# compare near-duplicates by DuckDB and PostgreSQL with the crawler (docs/measurements/batch.md)
batch *args:
    cargo build --release -p crawler --bin crawler
    "$(lab/batch/setup.sh postgresql)" lab/batch/check.py target/batch --crawler target/release/crawler \
        --count 1000000 --brute 100000 {{args}}

# the same with Spark as well, of which a worker is killed in the middle. Needs Java 17
spark *args:
    cargo build --release -p crawler --bin crawler
    PYTHONPATH=target/batch/pyspark "$(lab/batch/setup.sh spark postgresql)" lab/batch/check.py target/batch \
        --crawler target/release/crawler --count 1000000 --brute 100000 \
        --engines duckdb postgresql spark --kill {{args}}

# compare main content with peers on the labelled pages (docs/measurements/extraction.md)
extraction *args:
    cargo run --release --manifest-path lab/benches/extraction/Cargo.toml -- {{args}}

# Needs a nightly compiler and cargo-fuzz. `just fuzz url 600` runs one target for ten minutes.
# feed any bytes to each fuzz target for a minute
fuzz target="all" seconds="60":
    #!/usr/bin/env bash
    set -euo pipefail
    # libdeflate, which compresses the archive, has one table in two of its objects.
    export ASAN_OPTIONS=detect_odr_violation=0
    targets="{{target}}"
    if [ "$targets" = all ]; then targets=$(cargo +nightly fuzz list --fuzz-dir lab/fuzz); fi
    for target in $targets; do
        echo "== $target"
        mkdir -p "lab/fuzz/corpus/$target"
        cargo +nightly fuzz run --fuzz-dir lab/fuzz "$target" "lab/fuzz/corpus/$target" \
            "crates/testing/anybytes/corpus/$target" -- -max_total_time={{seconds}}
    done

# test the vector instructions under AddressSanitizer (needs a nightly compiler)
sanitize:
    RUSTFLAGS=-Zsanitizer=address cargo +nightly test --target x86_64-unknown-linux-gnu \
        -p near-duplicates --lib -- \
        simd:: simhash:: words:: shingles:: sketch:: similarity:: permutations:: tables::

# crawl two versions of Debian's clang manuals and compare the verdicts with the files
real-documents:
    bash tests/real-documents.sh

# measure precision, recall and F1 of the verdicts (docs/measurements/quality.md)
quality *args:
    bash lab/evaluation/fetch-manuals.sh
    cargo run --release -p evaluation -- --output docs/measurements/quality.md {{args}}

# measure what crawls of a blog, a shop and a wiki lose and keep twice (docs/measurements/quality.md)
dynamic-sites:
    cargo build --release -p crawler --bin crawler
    cargo run --release -p evaluation -- dynamic-sites --output docs/measurements/quality.md

# measure the order of visits of focused crawls (docs/measurements/focus.md)
focus:
    bash lab/evaluation/fetch-manuals.sh --hosts
    cargo run --release -p evaluation -- focus --output docs/measurements/focus.md

# `just real-sites llvm faq` crawls some of the sites.
# measure what a default crawl loses of real documentation sites (docs/measurements/quality.md)
real-sites *args:
    cargo build --release -p crawler --bin crawler
    cargo build --release -p testkit --example serve
    python3 lab/evaluation/real_sites.py \
        --crawler target/release/crawler --serve target/release/examples/serve \
        --report docs/measurements/quality.md --merges docs/measurements/real-sites-merges.md \
        {{args}}

# compare the text of PDF files with that of pdftotext (docs/measurements/pdf.md)
pdfs *args:
    lab/evaluation/pdfs.py {{args}}

# crawl a handbook in 26 languages, and judge the verdicts (docs/measurements/editions.md)
editions dir="target/editions":
    cargo build --release --workspace --bin crawler --example serve
    lab/evaluation/editions.py {{dir}} target/release/crawler target/release/examples/serve

# kill -9 a crawl at 200 random moments, each followed by a restart
kill kills="200":
    KILLS={{kills}} KILL_SEED={{seed}} cargo test -p crawler --test crawler -- kill:: --nocapture

# kill, fill, damage and flood crawls for ten minutes: one table. `just attack --only kills,fills`
attack *args:
    cargo run --release --manifest-path lab/attack/Cargo.toml -- --seed {{seed}} {{args}}

# check politeness by the server's log: many fetches and hosts, with interrupts and kills
polite fetches="100000" hosts="200" restarts="20":
    FETCHES={{fetches}} HOSTS={{hosts}} RESTARTS={{restarts}} \
        cargo test -p crawler --test crawler -- endurance:: --nocapture

# flip bits at random places in each file of a crawl's state
flips flips="120":
    FLIPS={{flips}} FLIP_SEED={{seed}} cargo test -p crawler --test crawler -- flips:: --nocapture

# cut the journal at and within every record, and flip bits of the state, without the server
damages bits="200" step="1":
    DAMAGE_BITS={{bits}} DAMAGE_STEP={{step}} FLIP_SEED={{seed}} \
        cargo test -p crawler --test crawler -- damages:: --nocapture

# crawl by four nodes of which one is killed, one stops, one is cut off, while the database crashes
node-stories stories="20":
    NODE_STORIES={{stories}} NODE_SEED={{seed}} \
        cargo test -p crawler --test crawler -- machines::faults --nocapture

# crawl real documents by one process and by three nodes, and compare the verdicts (STORE: a database)
documents-by-nodes *args:
    tests/real-documents-by-nodes.sh {{args}}

# fail each of the first 500 calls of a crawl to the disk, and cut the power at 500 moments
wrecks failures="500" cuts="500":
    FAILURES={{failures}} POWER_CUTS={{cuts}} WRECK_SEED={{seed}} \
        cargo test -p crawl --test wrecks -- --nocapture

# read the archive of a crawl with warcio, FastWARC and the `warc` crate, in a virtual environment
check-warc dir="crawl":
    bash lab/interop/readers.sh {{dir}}

# Needs Chromium. `just rendering canaries --pages 1000`; `replay` uses the tools of lab/interop.
# measure pages that need JavaScript: canaries, cost, hostile, kills, politeness, replay, static
rendering measurement *args:
    cargo build --release -p crawler --bin crawler
    "$(lab/interop/setup.sh)" lab/rendering/measure.py {{measurement}} {{args}}

# make the pictures of the report, a series and an archived page in docs/images (Chromium, rust-docs)
screenshots:
    cargo build --quiet --workspace --bin crawler --example serve
    "$(lab/interop/setup.sh chromium)" lab/interop/screenshots.py target/interop/pictures \
        --crawler target/debug/crawler --serve target/debug/examples/serve

# have readers, pywb, wacz, DuckDB and a browser read 10,000 records (docs/measurements/interop.md)
interop size="full":
    bash lab/interop/run.sh {{size}}
