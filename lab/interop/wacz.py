"""Checks a WACZ with `wacz validate` and the standard library's ZIP reader.

    wacz.py FILE.wacz
    wacz.py --new-key FILE      writes a private key for `crawler wacz --sign`

In addition to `wacz validate`: WARC files and compressed indexes are stored, not deflated; no name
leads outside; a record begins at each place of the index; each page of pages.jsonl is in the index; a
signature is by its public key.
"""

import base64
import gzip
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP384R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_public_key,
)

from crawls import Findings


def validate(file, findings):
    """Runs `wacz validate`, whose exit code says less than its output."""
    program = Path(sys.executable).with_name("wacz")
    run = subprocess.run([program, "validate", "-f", file], capture_output=True, text=True, timeout=3600)
    passes = "Validation succeeded, the passed WACZ is valid" in run.stdout and "invalid" not in run.stdout
    if run.returncode or not passes:
        findings.add(f"wacz validate answers {run.returncode}: {run.stdout.strip()} {run.stderr.strip()[-2000:]}")
    return "passes" if passes else "refuses it"


def signature(wacz, findings):
    """Verifies an anonymous signature as ReplayWeb.page does, with the library of Python."""
    signed = json.loads(wacz.read("datapackage-digest.json")).get("signedData")
    if signed is None:
        return "none"
    raw = base64.b64decode(signed["signature"])
    numbers = (int.from_bytes(raw[:48], "big"), int.from_bytes(raw[48:], "big"))
    try:
        key = load_der_public_key(base64.b64decode(signed["publicKey"]))
        key.verify(encode_dss_signature(*numbers), signed["hash"].encode(), ECDSA(SHA256()))
    except InvalidSignature:
        findings.add("the signature is not by its public key")
        return "wrong"
    digest = "sha256:" + hashlib.sha256(wacz.read("datapackage.json")).hexdigest()
    if signed["hash"] != digest or len(raw) != 96:
        findings.add(f"the signature is of {signed['hash']}, with {len(raw)} bytes")
    return "valid"


def index_lines(wacz, names):
    for name in names:
        if name.startswith("indexes/") and name.endswith((".cdx.gz", ".cdxj.gz")):
            yield from gzip.decompress(wacz.read(name)).decode().splitlines()
        elif name.startswith("indexes/") and name.endswith((".cdx", ".cdxj")):
            yield from wacz.read(name).decode().splitlines()


def main(file):
    findings = Findings("wacz")
    validated = validate(file, findings)
    with zipfile.ZipFile(file) as wacz:
        names = wacz.namelist()
        if broken := wacz.testzip():
            findings.add(f"{broken} does not have its checksum")
        for entry in wacz.infolist():
            path = PurePosixPath(entry.filename)
            if path.is_absolute() or ".." in path.parts or "\\" in entry.filename:
                findings.add(f"{entry.filename} leads outside")
            packed = entry.filename.endswith((".gz", ".zst")) or entry.filename.startswith("archive/")
            if packed and entry.compress_type != zipfile.ZIP_STORED:
                findings.add(f"{entry.filename} is deflated")
        package = json.loads(wacz.read("datapackage.json"))
        listed = {resource["path"] for resource in package["resources"]}
        if listed != set(names) - {"datapackage.json", "datapackage-digest.json"}:
            findings.add(f"datapackage.json lists {sorted(listed)}, the ZIP holds {sorted(names)}")
        archives = {PurePosixPath(name).name: wacz.read(name) for name in names if name.startswith("archive/")}
        if not archives:
            findings.add("no WARC file")
        captured, places = set(), 0
        for line in index_lines(wacz, names):
            fields = json.loads(line.split(" ", 2)[2]) if not line.startswith("!") else {}
            if "filename" not in fields:
                continue
            captured.add(fields["url"])
            places += 1
            start = int(fields["offset"])
            record = archives[fields["filename"]][start : start + int(fields["length"])]
            if fields["filename"].endswith(".gz"):
                record = gzip.GzipFile(fileobj=io.BytesIO(record)).read()
            if not record.startswith(b"WARC/1.") or fields["url"].encode() not in record:
                findings.add(f"{fields['url']}: no record of it where the index says")
        if not places:
            findings.add("no index, or an empty one")
        pages = wacz.read("pages/pages.jsonl") if "pages/pages.jsonl" in names else b""
        pages = [json.loads(line) for line in pages.decode().splitlines()]
        if not pages or "format" not in pages[0]:
            findings.add("pages.jsonl does not begin with its own description")
        for page in pages[1:]:
            if page["url"] not in captured:
                findings.add(f"the page {page['url']} is not in the index")
        if len(pages) < 2:
            findings.add("no page")
        signed = signature(wacz, findings)
    findings.finish(f"`wacz validate` {validated}; signature: {signed}; {len(names)} files, {places} places in {len(archives)} WARC file(s), {max(len(pages) - 1, 0)} pages")


def write_key(file):
    pem = generate_private_key(SECP384R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    Path(file).unlink(missing_ok=True)
    Path(file).touch(mode=0o600)
    Path(file).write_bytes(pem)


if __name__ == "__main__":
    if sys.argv[1] == "--new-key":
        write_key(sys.argv[2])
    else:
        main(sys.argv[1])
