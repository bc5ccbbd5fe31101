"""The tests that transformers runs on each of its tokenizers, on ours.

They are in the source distribution of transformers; ``make test-integrations`` fetches them. Tests
for the Bert and T5 tokenizers at the end of that file need their vocabularies and are not run.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

import pytest

import prunedbpe

transformers = pytest.importorskip("transformers", reason="extra transformers is not installed")
pytestmark = pytest.mark.filterwarnings("default")

from prunedbpe.integrations.transformers import PrunedBPETokenizer  # noqa: E402

SUITE = Path(__file__).parents[2] / "build" / "transformers-suite"
# What the suite reads from a file that the source distribution lacks: any prose.
SAMPLE_TEXT = "This is a sample text.\nIt has several lines, and some of them are longer.\n\n" * 4
CORPUS = [
    "This is another sentence to be encoded.",
    "This is a test. Hello, how are you doing? The following string should be properly encoded.",
    "a sample text of the unit tests, used in the tests of a tokenizer and of the model",
]
ROLES = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "sep_token": "<sep>",
    "pad_token": "<pad>",
    "cls_token": "<cls>",
    "mask_token": "<mask>",
}
SKIPPED = {
    "test_integration_from_extractor": "builds a tokenizer from tokenizer.json; ours holds none",
    "test_prepare_seq2seq_batch": "for tokenizers of sequence-to-sequence models only",
    "test_bos_token_with_add_bos_token_true": "add_bos_token is an option of Llama's tokenizer",
    "test_bos_token_with_add_bos_token_false": "add_bos_token is an option of Llama's tokenizer",
    "test_chat_template_save_loading": "for processors, which hold a tokenizer",
}
# The suite skips these for tokenizers in Python, which have no offsets. Ours has them.
FOR_FAST_TOKENIZERS = {
    "test_sequence_ids",
    "test_chat_template_return_assistant_tokens_mask",
    "test_chat_template_return_assistant_tokens_mask_truncated",
}


def load_suite():
    """Import the suite as a package, so that its relative imports work."""
    if not (SUITE / "version.txt").exists():
        pytest.skip("not fetched: run make test-integrations", allow_module_level=True)
    fetched = (SUITE / "version.txt").read_text("utf-8")
    if fetched != importlib.metadata.version("transformers"):
        pytest.skip(f"the suite is that of transformers {fetched}", allow_module_level=True)
    pytest.importorskip("parameterized", reason="parameterized is not installed")
    fixtures = SUITE / "tests" / "fixtures"
    fixtures.mkdir(exist_ok=True)
    (fixtures / "sample_text.txt").write_text(SAMPLE_TEXT, "utf-8")
    init = SUITE / "tests" / "__init__.py"
    spec = importlib.util.spec_from_file_location(
        "transformers_suite", init, submodule_search_locations=[str(init.parent)]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["transformers_suite"] = package
    spec.loader.exec_module(package)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUN_SLOW", "1")  # one test, which is quick with our vocabulary
        return importlib.import_module("transformers_suite.test_tokenization_common")


suite = load_suite()


class SuiteOfTransformers(suite.TokenizerTesterMixin, unittest.TestCase):
    tokenizer_class = PrunedBPETokenizer
    test_seq2seq = False
    test_tokenizer_from_extractor = False
    special_tokens_pattern = "none"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        tok = prunedbpe.train(
            iter(CORPUS * 3), vocab_size=340, threshold=0, special_tokens=tuple(ROLES.values())
        )
        hf = PrunedBPETokenizer.from_tokenizer(
            tok, **ROLES, special_tokens_pattern=cls.special_tokens_pattern
        )
        hf.save_pretrained(cls.folder.name)
        cls.from_pretrained_id = [cls.folder.name]
        text = cls.integration_test_input_string
        ids = tok.encode(text, allowed_special="all")
        cls.integration_expected_token_ids = ids
        cls.integration_expected_tokens = hf.convert_ids_to_tokens(ids)
        cls.integration_expected_decoded_text = text
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()

    def setUp(self):
        super().setUp()
        if self._testMethodName in SKIPPED:
            self.skipTest(SKIPPED[self._testMethodName])

    def get_tokenizer(self, pretrained_name=None, **kwargs):
        hf = super().get_tokenizer(pretrained_name, **kwargs)
        if self._testMethodName in FOR_FAST_TOKENIZERS:
            hf.backend = "tokenizers"
        return hf

    def skipTest(self, reason):  # noqa: N802 (unittest)
        """Skip only what SKIPPED names: a test that skips itself might hide a failure."""
        assert self._testMethodName in SKIPPED, f"skips itself: {reason}"
        super().skipTest(reason)


class SuiteWithSpecialTokens(SuiteOfTransformers):
    special_tokens_pattern = "bos_eos"
