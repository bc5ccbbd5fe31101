"""``prunedbpe audit``: a tokenizer and a text -> which tokens earn their slot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from prunedbpe.analysis.auditing import Audit, Reallocated, TokenUse, audit, reallocate_slots
from prunedbpe.analysis.holding_out import hold_out
from prunedbpe.cli import options
from prunedbpe.cli.prune import ID_MAP_FILE
from prunedbpe.cli.saving import write_tokenizer
from prunedbpe.cli.terminal import explain, info, print_facts, print_json, print_line, print_table
from prunedbpe.corpus import Corpus
from prunedbpe.counts import count
from prunedbpe.errors import InsufficientCandidatesError
from prunedbpe.exchange.any_tokenizer import open_tokenizer
from prunedbpe.vocabulary.vocabulary_files import token_repr

_EXAMPLES = 10
_REALLOCATED = "slots reallocated by"


def command(
    tokenizer: Annotated[
        str,
        typer.Argument(
            metavar="TOKENIZER",
            help="A tokenizer folder, anything `prunedbpe import` reads, or a name on the Hub.",
            show_default=False,
        ),
    ],
    corpus: Annotated[
        list[str],
        typer.Option(metavar="PATH", help="Text to audit on. Repeatable.", show_default=False),
    ],
    segmentation: options.SegmentationOption = None,
    hardly: Annotated[
        int, typer.Option(min=1, help="A token used fewer times than this is rare.")
    ] = 10,
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="USES|auto",
            help="Reallocate the slots by this rule: auto, or the uses a visible token needs. "
            "Repeatable; auto by default.",
            show_default=False,
        ),
    ] = None,
    holdout: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Measure the gain on every N-th document, which the choice does not see; 0 for "
            "the text itself.",
        ),
    ] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for id_map.json and the tokenizer retargeted by the first rule.",
            show_default=False,
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(help="File for the uses of every token, as JSON lines.", show_default=False),
    ] = None,
    pretokenizer: options.OriginalPretokenizer = None,
    text_field: options.TextField = "text",
    max_document: options.MaxDocument = options.MAX_DOCUMENT,
    force: options.Force = False,
    threads: options.Threads = None,
    progress: options.ProgressOption = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Report which tokens a text uses, and what the others cost.

    A model barely trains tokens that its text rarely uses. Hiding them frees their slots, and they
    still help to build longer tokens. The audit also learns further merges on the text, and reports
    what the slots are worth if the new tokens take them. The segmentation is the tokenizer's own,
    unless --segmentation overrides it.

    \b
    prunedbpe audit tokenizer.json --corpus mytexts/ -o retargeted/
    """
    reporter = options.choose_progress(progress, quiet=quiet)
    tok = open_tokenizer(
        tokenizer, **({} if pretokenizer is None else {"pretokenizer": pretokenizer})
    )
    texts = Corpus(corpus, **options.choose_reading(text_field, max_document))
    counts = count(
        texts,
        pretokenizer=tok.pretokenizer,
        threads=threads,
        progress=reporter,
    )
    cut = options.choose_segmentation(segmentation)
    found = audit(tok, counts, segmentation=cut, hardly=hardly, threads=threads)
    parts = hold_out(texts, holdout, tok.pretokenizer, threads=threads)
    if parts is None and holdout and not quiet:
        info("nothing can be held out: the gain is measured on the text itself")
    learned, held_out = parts or (counts, None)
    rows: list[Reallocated] = []
    for place, rule in enumerate(threshold or ["auto"]):
        writes = output is not None and place == 0
        try:
            new, ids, row = reallocate_slots(
                tok, learned, threshold=rule, segmentation=cut, held_out=held_out,
                threads=threads, progress=reporter,
            )  # fmt: skip
        except InsufficientCandidatesError as error:
            if writes:
                raise
            info(f"threshold {rule}: {error.message}")
            continue
        rows.append(row)
        if output is not None and writes:
            options.prepare_folder(output)
            write_tokenizer(new, output, force=force)
            ids.save(output / ID_MAP_FILE)
    if tokens is not None:
        options.prepare_file(tokens)
        found.write_uses(tokens)
    if as_json:
        report = {**found.as_settings(), "holdout": holdout if parts else None}
        print_json({**report, "reallocated": [vars(row) for row in rows]})
        return
    _show(found, rows)
    if output is not None and not quiet:
        info(f"retargeted tokenizer and {ID_MAP_FILE} written to {output}")


def _show(found: Audit, rows: list[Reallocated]) -> None:
    learned = max(len(found.learned), 1)
    never, rare = found.never, found.hardly_seen
    facts = [
        ("text", f"{found.text_bytes:,} bytes, {found.tokens:,} tokens"),
        ("segmentation", found.segmentation),
        ("fewest tokens", _length(found.shortest, found.tokens)),
        ("learned tokens", f"{len(found.learned):,}"),
        ("never used", f"{len(never):,} ({len(never) / learned:.1%})"),
        ("mostly merged on", f"{len(found.scaffolds):,} ({len(found.scaffolds) / learned:.1%})"),
        (f"used 1 to {found.hardly - 1} times", f"{len(rare):,} ({len(rare) / learned:.1%})"),
    ]
    print_facts(facts)
    print_line()
    table = [("hide tokens used", "slots freed", "tokens of the text")]
    table += [
        (f"below {row.min_uses:,}", f"{row.slots:,}", _length(row.tokens, found.tokens))
        for row in found.freed
    ]
    print_table(table, right=[1, 2])
    if rows:
        print_line()
        is_held_out = rows[0].held_out_tokens is not None
        text = "tokens of held-out text" if is_held_out else "tokens of the text (in-sample)"
        worth = [(_REALLOCATED, text, "kept", "new", "dropped")]
        for row in rows:
            moved = (f"{row.kept:,}", f"{row.new:,}", f"{row.dropped:,}")
            after, before = row.held_out_tokens, row.held_out_before
            if after is None or before is None:
                after, before = row.tokens, found.tokens
            worth.append((row.threshold, _length(after, before), *moved))
        print_table(worth, right=[1, 2, 3, 4])
    _show_examples("never used, for example", sorted(never, key=lambda use: -len(use.spelled)))
    _show_examples("rare, for example", rare)
    explain([name for name, _ in facts] + [_REALLOCATED] * bool(rows))


def _show_examples(title: str, uses: list[TokenUse]) -> None:
    if uses:
        print_line()
        print_facts([(title, [token_repr(use.spelled) for use in uses[:_EXAMPLES]])])


def _length(tokens: int, before: int) -> str:
    return f"{tokens:,} ({(tokens - before) / max(before, 1):+.2%})"
