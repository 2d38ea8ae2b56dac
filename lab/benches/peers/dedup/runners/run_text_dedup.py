"""text-dedup: its `minhash` program, with word 5-shingles and otherwise its own settings.

Bands propose (9 of 13 rows at .8, as datasketch), and the exact resemblance decides. That check is
off by default, but without it 0.4.1 removes every document of a cluster and keeps none of them
(text-dedup#129). It writes the documents that stay, from which the removed ones follow.
"""

import os
import sys

from documents import PERMUTATIONS, SHINGLE, arguments, lines, parsed, write_removed


def main():
    asked = arguments()
    # The program and the library below it keep copies of their input in caches.
    os.environ.update(HF_HOME=str(asked.work / "hf"), HF_HUB_OFFLINE="1")
    from datasets import load_from_disk
    from text_dedup import minhash
    from text_dedup.config.base import Config, load_config_from_toml

    output = asked.work / "kept"
    files = ", ".join(f'"{path}"' for path in asked.documents)
    config = asked.work / "config.toml"
    config.write_text(f"""
[input]
input_type = "local_files"
file_type = "json"
[input.read_arguments]
path = "json"
data_files = [{files}]
split = "train"
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = {PERMUTATIONS}
ngram_size = {SHINGLE}
threshold = {asked.threshold}
num_proc = {asked.cores}
check_false_positive = true
[output]
output_dir = "{output}"
[debug]
""")
    minhash.main(load_config_from_toml(config))
    kept = set(load_from_disk(str(output))["id"])
    everything = (parsed(line)[0] for line in lines(asked.documents))
    write_removed(asked.output, (document for document in everything if document not in kept))


if __name__ == "__main__":
    sys.exit(main())
