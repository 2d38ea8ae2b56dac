"""datatrove: its four MinHash steps on the local executor, with its own settings.

14 buckets of 8 hashes, which is made for a resemblance of .72 to .8 (a pair at .8 is found with
probability .92), words by spaCy, no verification. A file is read by one task, so a corpus in as
many files as there are cores keeps all cores busy. The last step writes the documents that go.
"""

import json

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from documents import SHINGLE, arguments, write_removed


def main():
    asked = arguments()
    folder = asked.documents[0].parent
    config = MinhashConfig(n_grams=SHINGLE)
    signatures, buckets, removed, kept, gone = (
        str(asked.work / name) for name in ("signatures", "buckets", "removed", "kept", "gone")
    )

    def reader():
        return JsonlReader(str(folder), glob_pattern="documents*.jsonl")

    def run(name, pipeline, tasks):
        LocalPipelineExecutor(
            pipeline=pipeline,
            tasks=tasks,
            workers=min(tasks, asked.cores),
            logging_dir=str(asked.work / "logs" / name),
        ).run()

    files = len(asked.documents)
    run("1", [reader(), MinhashDedupSignature(signatures, config=config)], files)
    run("2", [MinhashDedupBuckets(signatures, buckets, config=config)], config.num_buckets)
    run("3", [MinhashDedupCluster(buckets, removed, config=config)], 1)
    excluded = JsonlWriter(gone, compression=None)
    left = JsonlWriter(kept, compression=None)
    run("4", [reader(), MinhashDedupFilter(removed, exclusion_writer=excluded), left], files)
    ids = []
    for path in sorted((asked.work / "gone").glob("*.jsonl")):
        with open(path, encoding="utf-8") as file:
            ids += [json.loads(line)["id"] for line in file]
    write_removed(asked.output, ids)


if __name__ == "__main__":
    main()
