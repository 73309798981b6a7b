"""Spark with two executors: what it finds is what one process finds, also if an executor dies."""

import json
import os
import shutil
import signal
import subprocess

import pytest

import tracewise as tw

pyspark = pytest.importorskip("pyspark")
pytest.importorskip("google.protobuf")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java", allow_module_level=True)

import numpy as np
import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tracewise import spark

KEYED = tw.Spec(
    """
    property paid "every order is paid" : G (order -> F[0,2000s] pay);
    property fast : G (ms < 5990);
    property ends : F refund;
    """
)
# Two first-order policies, and a property that has nothing to slice on.
FIRST_ORDER = tw.Spec(
    """
    property approved : G forall r. publish(id: r) -> O approve(id: r);
    property closed : G forall r, u. lock(id: r, user: u) -> (!(exists w. lock(id: r, user: w) & !(w == u)) W unlock(id: r, user: u));
    property fast : G (ms < 5990);
    """
)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    builder = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        # Machines of continuous integration are busy.
        .config("spark.python.authenticate.socketTimeout", "120s")
        .config("spark.network.timeout", "600s")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.local.dir", str(folder))
        .config("spark.sql.warehouse.dir", str(folder))
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
    )
    if os.environ.get("PYTHONPATH"):
        builder = builder.config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
    session = builder.getOrCreate()
    yield session
    session.stop()


def log(length: int, users: int) -> pa.Table:
    draw = np.random.default_rng(length)
    return pa.table({
        "ts": np.arange(length) // 3,
        "user": [f"u{number}" for number in draw.integers(0, users, length)],
        "event": [("order", "pay", "see")[number] for number in draw.integers(0, 3, length)],
        "ms": draw.integers(0, 6000, length),
        "seq": np.arange(length),
        "unused": ["x" * 20] * length,
    })


def events(length: int) -> pa.Table:
    draw = np.random.default_rng(length)
    names = ("publish", "approve", "lock", "unlock")
    return pa.table({
        "ts": np.arange(length),
        "event": [names[number] for number in draw.integers(0, 4, length)],
        "id": draw.integers(0, length // 4, length),
        "user": [f"u{number}" for number in draw.integers(0, 3, length)],
        "ms": draw.integers(0, 6000, length),
    })


def rows(of) -> list:
    """Violations of either kind, sorted."""
    taken = [row.asDict() for row in of.collect()] if hasattr(of, "collect") else of.to_dicts()
    for row in taken:
        row.pop("trace", None)
    return sorted((tuple(sorted(row.items())) for row in taken), key=repr)


def same(found: spark.SparkReport, one: tw.Report) -> None:
    assert [(own.name, own.verdict, own.violation_count) for own in found.properties] == [
        (own.name, own.verdict, own.violation_count) for own in one.properties
    ]
    assert found.events == one.events and found.verdict == one.verdict
    assert rows(found.violations) == rows(one.violations)


def test_keys(session):
    table = log(6000, 200)
    frame = session.createDataFrame(table.to_pandas())
    one = KEYED.check(table, by="user", time="ts")
    assert one["paid"].violation_count > 50 and one["ends"].verdict == "violated"
    placed = spark.check(KEYED, frame, by="user", time="ts", position="seq")
    same(placed, one)
    assert "unused" not in placed._rows.frame.columns
    first = placed["paid"].first(1)[0]
    assert (first["position"], first["user"]) == (one["paid"].violations[0].position, one["paid"].violations[0].bindings["user"])
    assert "✗ F[0,2000s] pay" in placed["paid"].explain()
    # Positions from an order take a sort of all rows.
    same(spark.check(KEYED, frame, by="user", time="ts", order=["ts", "seq"], slices=3), one)
    with pytest.raises(tw.Error, match="unknown variable `nope`"):
        spark.check("G (nope < 3)", frame, by="user", time="ts", position="seq")
    with pytest.raises(tw.Error, match="no column `who`"):
        spark.check(KEYED, frame, by="who", position="seq")
    with pytest.raises(TypeError, match="unexpected keyword argument 'violations'"):
        spark.check(KEYED, frame, by="user", violations=5)
    with pytest.raises(tw.Error, match="no order"):
        spark.check(KEYED, frame.drop("ts"), by="user")


def test_slices(session):
    table = events(6000)
    one = FIRST_ORDER.check(table, time="ts")
    assert one["approved"].violation_count > 100 and one["closed"].violation_count > 100
    found = spark.check(FIRST_ORDER, session.createDataFrame(table.to_pandas()), time="ts")
    same(found, one)
    assert found.plan[0].startswith("approved on r") and found.plan[2] == "fast in one part"
    assert any("`fast` is checked in one part" in warning for warning in found.warnings)


def test_a_killed_executor(session, tmp_path):
    table = log(60_000, 500)
    session.createDataFrame(table.to_pandas()).repartition(4).write.parquet(str(tmp_path / "log"))
    frame = session.read.parquet(str(tmp_path / "log"))
    one = KEYED.check(table, by="user", time="ts")
    found = spark.check(KEYED, frame, by="user", time="ts", position="seq")
    before = executors(session)
    assert before, "there are executors"
    os.kill(before[0], signal.SIGKILL)
    # What it held is computed again where it is asked for; what is asked anew goes to who is left, and who comes instead.
    same(found, one)
    same(spark.check(KEYED, frame, by="user", time="ts", position="seq", slices=5), one)


def executors(session) -> list[int]:
    """The processes of the executors."""
    own = f"--app-id {session.sparkContext.applicationId}"
    listed = subprocess.run(["ps", "-eww", "-o", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "CoarseGrainedExecutorBackend" in line and own in line]


def first_batch(found, folder):
    """A query that has taken its first batch. Spark gives the Python process that looks at the state's schema ten seconds to begin, which a
    busy machine may need more than once."""
    for attempt in range(5):
        named = found.writeStream.format("memory").queryName("alerts")
        query = named.option("checkpointLocation", str(folder / str(attempt))).start()
        try:
            query.processAllAvailable()
            return query
        except StreamingQueryException as error:
            query.stop()
            if "failed to connect back" not in str(error) or attempt == 4:
                raise


def test_streams(session, tmp_path):
    source = tmp_path / "in"
    source.mkdir()

    def put(name, rows):
        text = "".join(json.dumps({"ts": f"2024-01-01T00:{ts // 60:02}:{ts % 60:02}Z", "user": user, "event": event, "ms": ms}) + "\n" for ts, user, event, ms in rows)
        (tmp_path / name).write_text(text)
        os.rename(tmp_path / name, source / name)

    schema = "ts timestamp, user string, event string, ms long"
    stream = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(source))
    spec = tw.Spec("property paid : G (order -> F[0,30s] pay); property fast : G (ms < 5000);")
    found = spark.monitor(spec, stream.withWatermark("ts", "10 seconds"), by="user", time="ts")
    put("a.json", [(0, "ann", "order", 1), (1, "bob", "order", 1), (2, "ann", "see", 6000)])
    query = first_batch(found, tmp_path / "state")
    try:
        # A row comes late, but before the watermark: it takes its place.
        put("b.json", [(20, "ann", "pay", 1), (45, "cid", "order", 1)])
        query.processAllAvailable()
        put("c.json", [(36, "bob", "see", 7000), (200, "cid", "see", 1)])
        query.processAllAvailable()
        put("d.json", [(300, "dan", "see", 1)])
        query.processAllAvailable()
        # The watermark passes after the batch that moves it.
        told = session.sql("select property, user, position, unix_seconds(time) - 1704067200 as at, unix_seconds(settled_time) - 1704067200 as settled from alerts").collect()
    finally:
        query.stop()
    assert sorted(tuple(row) for row in told) == [
        ("fast", "ann", 1, 2, 2),
        ("fast", "bob", 1, 36, 36),
        ("paid", "bob", 0, 1, 31),
        ("paid", "cid", 0, 45, 75),
    ]
