"""Settings shared by all tests."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No deadline: the first call of an example may compile, import or page in something.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, max_examples=200, print_blob=True)
settings.register_profile("deep", deadline=None, max_examples=5_000, print_blob=True)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
settings.load_profile(PROFILE)


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of golden results; PRUNEDBPE_GOLDEN names another one of the same layout."""
    return Path(os.environ.get("PRUNEDBPE_GOLDEN", Path(__file__).parent / "golden" / "data"))


@pytest.fixture(scope="session")  # so that it skips before narrower fixtures do long work
def deep() -> None:
    """Skip a test that takes minutes, unless the deep profile is chosen."""
    if PROFILE != "deep":
        pytest.skip("takes minutes; set HYPOTHESIS_PROFILE=deep")
