#!/usr/bin/env bash
# Builds the wheel, installs it into a new virtual environment, and runs the tests of the package:
# first without any other package, then with those that the tutorial uses.
#
#     crates/engine/python/test.sh              # CRAWLER=… names the binary for the test of crawls
#
# Needs Python 3.10 or later, a C compiler and Rust. Extra packages come from PyPI; without a
# network SKIP_EXTRAS=1 runs what needs none. WITH_SPARK=1 runs the block about PySpark as well,
# which needs Java and a package of 400 MB.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-python3}
root=$(cd ../../.. && pwd)
target=${CARGO_TARGET_DIR:-$root/target}/python
environments=$target/environments
mkdir -p "$environments"

# A binary that the tests of the crawler have built.
if [ -z "${CRAWLER:-}" ] && [ -x "${CARGO_TARGET_DIR:-$root/target}/debug/crawler" ]; then
    export CRAWLER=${CARGO_TARGET_DIR:-$root/target}/debug/crawler
fi

if [ ! -x "$environments/build/bin/maturin" ]; then
    "$python" -m venv "$environments/build"
    "$environments/build/bin/pip" install --quiet "maturin>=1.9,<2"
fi
rm -rf "$target/wheels-of-tests"
CARGO_TARGET_DIR=$target "$environments/build/bin/maturin" build \
    --locked --release --interpreter "$python" --out "$target/wheels-of-tests" "$@"

# Runs the tests from a directory in which the package itself cannot be found.
run() {
    (cd tests && "$1/bin/python" -m unittest discover --start-directory . --pattern "$2")
}

rm -rf "$environments/bare" "$environments/full"
"$python" -m venv "$environments/bare"
"$environments/bare/bin/pip" install --quiet --no-index "$target"/wheels-of-tests/*.whl
run "$environments/bare" "test_[kdih]*.py"

if [ -n "${SKIP_EXTRAS:-}" ]; then
    echo "SKIP_EXTRAS: what needs other packages was not run"
    exit 0
fi
"$python" -m venv "$environments/full"
"$environments/full/bin/pip" install --quiet "$target"/wheels-of-tests/*.whl \
    -r tests/requirements.txt ${WITH_SPARK:+pyspark}
run "$environments/full" "test_*.py"
"$environments/full/bin/python" -m mypy --strict tests/typed.py
"$environments/full/bin/python" -m mypy.stubtest neardup --ignore-missing-stub
