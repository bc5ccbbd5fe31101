"""The exceptions of the library, one tree; each class says when it is raised.

Messages name the thing (a file, a line, a value) and, behind ``hint:``, the remedy.
"""

from __future__ import annotations


class PrunedBPEError(Exception):
    """Base of every error the library raises on purpose.

    Args:
        message: What went wrong, and with which value.
        hint: What the user can do about it.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint


class CorpusError(PrunedBPEError):
    """A corpus cannot be read: a missing file, a bad line, text that is not UTF-8."""


class SettingsError(PrunedBPEError, ValueError):
    """An option has a value that makes no sense, alone or beside another one."""


class SpecialTextError(PrunedBPEError, ValueError):
    """A text spells a special token that the caller disallowed."""


class NotExactError(PrunedBPEError):
    """Another library's format cannot express this tokenizer, or its tokenizer ours, exactly."""


class FormatError(PrunedBPEError):
    """A file of ours (counts, merges, vocabulary, settings) is damaged or of an unknown version."""


class RunMismatchError(PrunedBPEError):
    """A run directory holds another corpus or other settings than the ones asked for."""


class InsufficientCandidatesError(PrunedBPEError):
    """Too few learned tokens reach the minimum exposure, and no further merge can help."""


class MissingExtraError(PrunedBPEError, ImportError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed",
            hint=f"pip install 'prunedbpe[{extra}]'",
        )
