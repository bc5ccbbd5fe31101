#!/usr/bin/env bash
# The public study: the corpus split into two disjoint halves of different sources.
#
#   docs/results/run.sh [CORPUS_FOLDER]
#
# CORPUS_FOLDER holds the folders chinese, code, english and multilingual. Merges, numbers and
# tokenizers are kept in ~/.cache/prunedbpe/study; remove it to start from nothing. The report goes to
# docs/results/study.
set -euo pipefail
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
corpus=$(cd "${1:-$HOME/.cache/prunedbpe/corpora/A}" && pwd)
work=${PRUNEDBPE_STUDY:-$HOME/.cache/prunedbpe/study}
mkdir -p "$work"
cd "$work"
ln -sfn "$corpus" A

join() { local IFS=,; echo "$*"; }
first=$(join A/chinese/{children-stories,ethereum-org-zh,laws-prc,lctt-zh}.txt \
             A/code/{cpp,html,java,python}.txt \
             A/english/{endless-sky,openstax-a,wikipedia-en}.txt \
             A/multilingual/ntrex-news.txt)
second=$(join A/chinese/{classical,cmrc2018-wikipedia,howtocook,kdconv-dialogues,laws-tw}.txt \
              A/chinese/{mdn-zh-cn,mdn-zh-tw,ntrex-news-zh,ud-gsd-zh-hant}.txt \
              A/code/{javascript,json,markdown,typescript}.txt \
              A/english/{digitalgov,lctt-opensource-com-en,mdn-en,ntrex-news-en}.txt \
              A/english/{sgd-dialogues,standardebooks-a,ud-ewt-web}.txt \
              A/multilingual/{ethereum-org,mdn-translated}.txt)

time "$checkout/.venv/bin/prunedbpe" paper --corpus "I=$first" --corpus "II=$second" \
  --sizes 4000,8000-18000+2000,32000,64000 -o study

mkdir -p "$checkout/docs/results/study"
cp study/index.html study/report.md study/study.json study/*.csv study/*.tex \
  "$checkout/docs/results/study/"
"$checkout/.venv/bin/python" "$checkout/docs/results/beside_paper.py"  # the tables of index.md
