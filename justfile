# A menu over cargo: nothing needs `just`.

# list what there is
default:
    @just --list

# what runs before a change lands
ci:
    bash .ci/run

# the tests, as in the README
test:
    cargo test --workspace

# crawl a toy web on loopback and show what comes of it
demo:
    cargo run --release --example demo

# crawl 20,000 generated pages on loopback: pages/s, CPU, memory, duplicates caught
bench-crawl *args:
    cargo run --release --manifest-path benches/Cargo.toml --bin bench-crawl -- {{args}}

# lookups, all pairs, batches, simhash, text, MinHash beside their peers: `just peers lookup 1000000`
peers bin *args:
    cargo run --release --manifest-path benches/peers/Cargo.toml --bin {{bin}} -- {{args}}

# main content beside its peers on the labelled pages (docs/extraction.md)
extraction *args:
    cargo run --release --manifest-path benches/extraction/Cargo.toml -- {{args}}

# any bytes: a value or an error (needs a nightly compiler and cargo-fuzz): `just fuzz features`
fuzz target:
    cargo +nightly fuzz run {{target}} -- -max_total_time=60

# the vector instructions under AddressSanitizer (needs a nightly compiler)
sanitize:
    RUSTFLAGS=-Zsanitizer=address cargo +nightly test --target x86_64-unknown-linux-gnu -p neardup --lib -- simd:: simhash:: words:: shingles:: sketch:: similarity:: minhash:: tables::

# crawl Debian's clang manuals in two versions and compare the verdicts
real-documents:
    bash tests/real-documents.sh

# precision, recall and F1 of the verdicts on every labelled set: docs/quality.md
quality *args:
    bash evaluation/fetch-manuals.sh
    cargo run --release -p evaluation -- --output docs/quality.md {{args}}

# read the archive of a crawl with warcio (installed in a virtual environment of its own)
check-warc dir="crawl":
    bash tests/check-warc.sh {{dir}}
