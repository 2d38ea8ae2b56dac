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

# crawl Debian's clang manuals in two versions and compare the verdicts
real-documents:
    bash tests/real-documents.sh

# precision, recall and F1 of the verdicts on every labelled set: docs/quality.md
quality *args:
    cargo run --release -p evaluation -- --output docs/quality.md {{args}}

# read the archive of a crawl with warcio (installed in a virtual environment of its own)
check-warc dir="crawl":
    bash tests/check-warc.sh {{dir}}
