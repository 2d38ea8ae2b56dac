#!/usr/bin/env bash
# Builds the wheels for manylinux on x86-64 and aarch64, and tries the one of this machine in a new
# virtual environment.
#
#     crates/engine/python/wheels.sh [OUTPUT]                 # target/python/wheels unless given
#
# zig (a package of PyPI) compiles and links against glibc 2.28, so wheels run on every Linux of the
# last years, whatever this machine has. The standard library of Rust for aarch64 is added by
# rustup. TARGETS="x86_64-unknown-linux-gnu" builds for fewer; PROFILE=release builds sooner.
set -euo pipefail
cd "$(dirname "$0")"

python=${PYTHON:-python3}
root=$(cd ../../.. && pwd)
target=${CARGO_TARGET_DIR:-$root/target}/python
out=$(realpath -m "${1:-$target/wheels}")
targets=${TARGETS:-"x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu"}
profile=${PROFILE:-dist}
environment=$target/environments/wheels

if [ ! -x "$environment/bin/maturin" ]; then
    "$python" -m venv "$environment"
    "$environment/bin/pip" install --quiet "maturin[zig]>=1.9,<2"
fi
mkdir -p "$out"
missing=()
for triple in $targets; do
    library=$(rustc --print sysroot)/lib/rustlib/$triple/lib
    if [ ! -d "$library" ] && ! timeout 900 rustup target add "$triple"; then
        missing+=("$triple")
        continue
    fi
    echo "== $triple"
    PATH="$environment/bin:$PATH" CARGO_TARGET_DIR=$target maturin build --locked \
        --profile "$profile" --target "$triple" --zig --compatibility manylinux_2_28 --out "$out"
done

if compgen -G "$out/neardup-*_$(uname -m).whl" >/dev/null; then
    echo "== trying the wheel of this machine"
    tried=$target/environments/tried
    rm -rf "$tried"
    "$python" -m venv "$tried"
    "$tried/bin/pip" install --quiet --no-index --find-links "$out" neardup
    (cd tests &&
        "$tried/bin/python" -m unittest discover --start-directory . --pattern "test_[kdi]*.py")
fi
ls -l "$out"

if [ ${#missing[@]} -gt 0 ]; then
    echo "NOT BUILT: ${missing[*]}: rustup cannot add the standard library of Rust for it" >&2
    exit 1
fi
