"""``prunedbpe audit``: any tokenizer and a text -> which tokens earn their slot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prunedbpe.cli import options
from prunedbpe.cli.messages import aligned, put, put_json, tell

if TYPE_CHECKING:
    from prunedbpe.analysis.auditing import Audit, Reallocated, TokenUse

_EXAMPLES = 10


def command(
    tokenizer: Annotated[
        Path,
        typer.Argument(
            metavar="TOKENIZER",
            help="A folder of ours, or whatever `prunedbpe import` reads.",
            show_default=False,
        ),
    ],
    corpus: Annotated[
        list[str],
        typer.Option(metavar="PATH", help="Text to audit on; repeat for more.", show_default=False),
    ],
    hardly: Annotated[
        int, typer.Option(min=1, help="A token used fewer times than this is hardly seen.")
    ] = 10,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="USES|auto",
            help="What freed slots are worth when merges learned further take them, by this rule; "
            "repeat for more. auto by default.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the retargeted tokenizer of the first rule and id_map.json.",
            show_default=False,
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(help="File for the uses of every token, as JSON lines.", show_default=False),
    ] = None,
    pretokenizer: options.OriginalPretokenizer = None,
    text_field: options.TextField = "text",
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Say which tokens a text uses, and what the rest is worth.

    Tokens that a text never or hardly uses get hardly trained. Hiding them frees their slots; they
    stay steps towards longer tokens. Slots can be given to tokens learned further on the text.

    \b
    prunedbpe audit tokenizer.json --corpus mytexts/ -o retargeted/
    """
    from prunedbpe.analysis.auditing import audit, reallocate_slots
    from prunedbpe.corpus import Corpus
    from prunedbpe.counts import count
    from prunedbpe.errors import InsufficientCandidatesError
    from prunedbpe.exchange.importing import import_tokenizer

    watcher = options.choose_progress(progress, quiet=quiet)
    how = {} if pretokenizer is None else {"pretokenizer": pretokenizer}
    tok = import_tokenizer(tokenizer, **how)
    counts = count(
        Corpus(corpus, text_field=text_field),
        pretokenizer=tok.pretokenizer,
        threads=threads,
        progress=watcher,
    )
    found = audit(tok, counts, hardly=hardly, threads=threads)
    rows: list[Reallocated] = []
    for place, rule in enumerate(threshold or ["auto"]):
        try:
            new, ids, row = reallocate_slots(
                tok, counts, threshold=rule, threads=threads, progress=watcher
            )
        except InsufficientCandidatesError as error:
            if output is not None and place == 0:
                raise
            tell(f"threshold {rule}: {error.message}")
            continue
        rows.append(row)
        if output is not None and place == 0:
            options.prepare_folder(output)
            new.save(output)
            ids.save(output / "id_map.json")
    if tokens is not None:
        options.prepare_file(tokens)
        found.write_uses(tokens)
    if as_json:
        reallocated = [vars(row) for row in rows]
        put_json({**found.as_settings(), "reallocated": reallocated})
        return
    for line in _report(found, rows):
        put(line)
    if output is not None and not quiet:
        tell(f"retargeted tokenizer and id_map.json written to {output}")


def _report(found: Audit, rows: list[Reallocated]) -> list[str]:
    learned = max(len(found.learned), 1)
    lines = aligned(
        [
            ("text", f"{found.text_bytes:,} bytes, {found.tokens:,} tokens"),
            ("learned tokens", f"{len(found.learned):,}"),
            ("never used", f"{len(found.never):,} ({len(found.never) / learned:.1%})"),
            (
                f"used 1 to {found.hardly - 1} times",
                f"{len(found.hardly_seen):,} ({len(found.hardly_seen) / learned:.1%})",
            ),
        ]
    )
    table = [("hide tokens used", "slots freed", "tokens of the text")]
    table += [
        (f"below {row.min_uses:,}", f"{row.slots:,}", _length(row.tokens, found.tokens))
        for row in found.freed
    ]
    lines += ["", *aligned(table, right=[1, 2])]
    if rows:
        worth = [("slots reallocated by", "tokens of the text", "kept", "new", "dropped")]
        worth += [
            (
                row.threshold,
                _length(row.tokens, found.tokens),
                f"{row.kept:,}",
                f"{row.new:,}",
                f"{row.dropped:,}",
            )
            for row in rows
        ]
        lines += ["", *aligned(worth, right=[1, 2, 3, 4])]
    longest = sorted(found.never, key=lambda use: -len(use.spelled))
    for title, uses in (("never", longest), ("hardly", found.hardly_seen)):
        if uses:
            lines += ["", f"{title} used, for instance: {_examples(uses)}"]
    return lines


def _length(tokens: int, before: int) -> str:
    change = (tokens - before) / max(before, 1)
    return f"{tokens:,} ({change:+.2%})"


def _examples(uses: list[TokenUse]) -> str:
    return ", ".join(repr(use.as_settings()["text"]) for use in uses[:_EXAMPLES])
