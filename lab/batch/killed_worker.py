"""Kills a worker of Spark in the middle of the join; the result must be the same.

The job runs on a cluster within this machine (`local-cluster`): its executors are processes. One of
them gets SIGKILL when some tasks of the join have ended and others have not, so that finished
shuffle files are lost with it and have to be computed again.
"""

import os
import shutil
import signal
import sys
import threading
import time

import engines
import neardup

# Two executors of one core and 1 GiB each.
MASTER = "local-cluster[2,1,1024]"


def executors():
    """Returns the executors among the descendants of this process."""
    found = []
    for process in engines.descendants([os.getpid()]):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as line:
                if b"CoarseGrainedExecutorBackend" in line.read():
                    found.append(process)
        except OSError:
            continue
    return found


class Killer:
    """Kills one executor once the join is under way."""

    def __init__(self, spark):
        self.tracker, self.killed, self.over = (
            spark.sparkContext.statusTracker(),
            None,
            threading.Event(),
        )
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.over.is_set() and self.killed is None:
            if self.is_in_the_middle() and (processes := executors()):
                self.killed = processes[0]
                os.kill(self.killed, signal.SIGKILL)
            self.over.wait(0.05)

    def is_in_the_middle(self):
        """Returns true if a stage of the join that reads a shuffle has ended tasks and others."""
        for job in self.tracker.getJobIdsForGroup(neardup.JOIN):
            info = self.tracker.getJobInfo(job)
            for stage in sorted(info.stageIds if info else [])[1:]:
                stage = self.tracker.getStageInfo(stage)
                if stage and 0 < stage.numCompletedTasks < stage.numTasks:
                    return True
        return False

    def finish(self):
        """Returns the process that was killed; None if there was none."""
        self.over.set()
        self.thread.join()
        return self.killed


def session(partitions):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = (
        SparkSession.builder.appName("killed worker")
        .master(MASTER)
        .config("spark.ui.enabled", "false")
    )
    settings = {
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": partitions,
        # Small shuffles would become few tasks, and none would be in the middle.
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    # The driver logs a lost executor and each task that fails with it, at length.
    spark.sparkContext.setLogLevel("OFF")
    return spark


def find(source, rules, work):
    """Returns what Spark finds, and the executor that was killed meanwhile."""
    shutil.rmtree(work, ignore_errors=True)
    spark = session(partitions=32)
    killer, start = Killer(spark), time.monotonic()
    watch = engines.MemoryWatch(os.getpid())
    rules = neardup.Rules(rules.distance, rules.resemblance, rules.verify)
    clusters, pairs = work / "clusters", work / "pairs"
    neardup.run(spark, [str(source.parquet)], str(work / "steps"), str(clusters), str(pairs), rules)
    killed, seconds, memory = killer.finish(), time.monotonic() - start, watch.finish()
    alive = executors()
    spark.stop()
    found = engines.read_parquet(f"{clusters}/*.parquet", f"{pairs}/*.parquet")
    return engines.Found(*found, seconds, memory), killed if killed not in alive else None
