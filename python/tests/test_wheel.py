"""What is installed: one wheel for every Python from 3.10 on, with its types, its licences and its pytest plugin."""

from importlib.metadata import distribution

import tracewise as tw

from conftest import ROOT


def test_what_the_wheel_says():
    own = distribution("tracewise")
    told = own.metadata
    assert told["Name"] == "tracewise" and told["Version"] == tw.__version__ == own.version
    assert told["License-Expression"] == "MIT OR Apache-2.0" and told["Requires-Python"] == ">=3.10"
    assert "Typing :: Typed" in told.get_all("Classifier")
    assert told.get_all("Requires-Dist")[0].startswith("numpy")
    assert {"spark", "otel"} <= set(told.get_all("Provides-Extra"))
    wheel = own.read_text("WHEEL")
    assert "Root-Is-Purelib: false" in wheel and "Tag: cp310-abi3-" in wheel
    (plugin,) = [point for point in own.entry_points if point.group == "pytest11"]
    assert plugin.value == "tracewise.pytest_plugin"


def test_what_is_in_it():
    files = {str(path).replace("\\", "/"): path for path in distribution("tracewise").files}
    for name in ("py.typed", "_native.pyi", "__init__.py", "pytest_plugin.py", "recording.py", "spark.py", "_explanation.py"):
        assert f"tracewise/{name}" in files, name
    assert any(name.startswith("tracewise/_native.abi3.") for name in files)
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        (own,) = [path for path in files if path.endswith(f"licenses/{name}")]
        assert files[own].read_text() == (ROOT / name).read_text()
    # Nothing of the tests or of a build comes along.
    assert all(name.startswith(("tracewise/", "tracewise-")) for name in files)
