"""The exceptions of the library, in one hierarchy.

A message names the file, line or value that is wrong; the text after ``hint:`` names the remedy.
"""

from __future__ import annotations


class PrunedBPEError(Exception):
    """Base class of all errors that the library raises on purpose.

    Args:
        message: What went wrong, and with which value.
        hint: What the user can do about it.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint


class CorpusError(PrunedBPEError):
    """A corpus cannot be read: a file is missing, a line is malformed, or text is not UTF-8."""


class SettingsError(PrunedBPEError, ValueError):
    """An option has an invalid value, or conflicts with another option."""


class WrongTypeError(SettingsError, TypeError):
    """An argument has the wrong type, or does not exist."""


class SpecialTextError(PrunedBPEError, ValueError):
    """A text spells a special token that the caller disallowed."""


class NotExactError(PrunedBPEError):
    """An export or import would not encode every text exactly as the original does."""


class FormatError(PrunedBPEError):
    """A file (counts, merges, vocabulary, settings) is damaged or has an unknown version."""


class RunMismatchError(PrunedBPEError):
    """A run directory was made from another corpus or with other settings."""


class InsufficientCandidatesError(PrunedBPEError):
    """Too few learned tokens reach the minimum exposure, and no further merge can help."""


class MissingExtraError(PrunedBPEError, ImportError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed",
            hint=f"pip install 'prunedbpe[{extra}]'",
        )
        self._arguments = (package, extra, purpose)

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        """Workers send errors to other processes."""
        return type(self), self._arguments
