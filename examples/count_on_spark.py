"""Count the chunks of a data frame on Spark: the same table as a count on one machine.

Needs: pyspark, pandas
"""

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import prunedbpe
from prunedbpe.counts.engines import spark as engine

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the executors need prunedbpe too
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
with tempfile.TemporaryDirectory() as folder:
    for source in Path(prunedbpe.__file__).parent.glob("counts/[a-z]*.py"):
        Path(folder, f"{source.stem}.txt").write_bytes(source.read_bytes())
    frame = spark.read.text(folder)  # or spark.read.parquet("s3a://...")
    counts = engine.count(frame, text_column="value")
    assert counts == prunedbpe.count(folder)
spark.stop()
print(f"{counts.corpus.bytes:,} bytes, {len(counts):,} unique chunks: equal to a local count")
