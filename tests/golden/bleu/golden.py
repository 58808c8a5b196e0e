#!/usr/bin/python3
r"""Writes tokens.txt, scores.txt and resamples.txt beside it, what tests/test-bleu.c holds n2d bleu to: sacreBLEU 2 on the sentences
below, which are made for it. Needs sacrebleu (its modules regex and numpy).

    golden.py            writes the files
    golden.py --check    computes everything again; exit 1 when a file differs

Texts have \t, \\ and \xNN (a byte) where a byte is no letter to look at. Lines of # are comments.

    tokens.txt     tokenizer, mixed or lc, text, its words with a space between; divided by tabs
    scores.txt     "sentence", hypothesis, three references; divided by tabs
                   "score" tokenizer case smoothing value orders effective references first end: of sentences [first, end), 0 is the first,
                   then score, brevity penalty, hypothesis and reference length, then for each order correct, total, precision
    resamples.txt  sentence numbers of system 1 and of system 2 (which says system 1's hypothesis of another sentence), then lines
                   "test" resamples seed: score mean interval of system 1, score mean interval p of system 2, with sacreBLEU's estimate_ci
                   and _compute_p_value on draws made here: Philox4x32-10 under the seed, counter (block, 0, resample, 0), the
                   last word of a block first, n times the word shifted by 32 bits, words whose product's low half is below 2^32 mod n left out
"""
import itertools
import logging
import os
import sys

import numpy
import sacrebleu
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import _compute_p_value, estimate_ci

HERE = os.path.dirname(os.path.abspath(__file__))

TEXTS = [
    "", " ", ".", "..", "...", ",", "-", "--", "a", "a.", "a..", "a...", "a....", ".a", "..a", "...a", "5.", "5..", "5...", ".5", "..5",
    "...5", "3.5", "3..5", "3...5", "3,5,7", "1.000,50 €", "2019.", "2019. ", " .5", "3-4", "3--4", "a-b-c", "5-a", "-5", "x.-5", "12.-13.",
    "Hello, world!", 'He said "no".', "don't", "l'eau", "(a) [b] {c} <d>", "a/b\\c", "50%", "$5", "#1 @home", "a_b", "a^b`c~d|e", "1+1=2", "a*b",
    "a;b:c?", "5:30", "two  spaces", "a\ttab", "\t lead and trail \t", "no\u00a0break", "thin\u2009space\u3000wide", "line\u2028sep\u0085nel",
    "\x1cfile\x1dgroup\x1e", "carriage\r", "zero\u200bwidth", "\ufeffmark", "zero\x00byte", "&quot;a&quot;", "a &amp; b", "&lt;b&gt;", "&amp;lt;",
    "&amp;quot;", "&amp;amp;gt;", "&apos;", "&QUOT;A&AMP;", "&", "&quot", "<skipped>", "a<skipped>b", "<skip<skipped>ped>", "&qu<skipped>ot;",
    "<SKIPPED>", "„Ja“, sagte er – „nein“.", "»Ja« ‚so‘", "Straße STRASSE ẞ", "ÄÖÜ", "İstanbul I", "ΟΔΥΣΣΕΥΣ", "ΣΑΣ Σ ΑΣ. ΑΣ'Α Σ'", "ЁЖ", "ⅷ Ⅷ Ⓐ ª",
    "😀 gut!😀", "👩‍👩‍👧.", "é.", "é5,é", "½.5", "٣٫٤ ٣.", "²,x", "中文，字。", "3、4", "…a…", "5…", "€5,–", "a—b", "l’été", "¿Qué?", "ª.º", "a\u0301.", "10°C",
    "v1.2.3-rc.4", "http://a.b/c?d=e&amp;f#g", "e.g., i.e.", "U.S.A.", "$1,000.00!", "+49-30-12", "x²+y²", "rich-text format", "saftig-grünes Gras",
]

# hypothesis, three references
SENTENCES = [
    ("the cat sat on the mat .", "the cat sat on the mat .", "a cat was on the mat .", "there is a cat ."),
    ("the the the the the the the", "the cat is on the mat", "there is a cat on the mat", ""),
    ("", "something", "", "two words"),
    ("nothing", "", "", ""),
    ("", "", "", ""),
    ("no match here at all", "totally other words", "entirely different", "x"),
    ("a b c d", "a b c", "a b c d e", "a"),
    ("a b c d e", "a b c d e f g", "a b c", "a b c d e f"),
    ("one", "one", "one two", "ones"),
    ("one two", "one two", "two one", "one"),
    ("one two three", "one two three", "", "three two one"),
    ("b a b a b a b a", "a b a b", "b a b a b a", "a b a b a b a b a"),
    ("Ein Mann geht über die Straße.", "Ein Mann überquert die Straße.", "Der Mann geht über die STRASSE.", "ein mann geht über die straße ."),
    ("„Das kostet 1.000,50 €“, sagte sie.", "„Das kostet 1.000,50 Euro“, sagte sie.", "Sie sagte: »Es kostet 1.000,50 €«.", "1.000,50 €"),
    ("say &quot;yes&quot; &amp; go", 'say "yes" & go', "say &quot;yes&quot; and go", "<skipped>"),
    ("two  spaces\tand a tab ", "two spaces and a tab", "two\u00a0spaces and a tab", "  two spaces"),
    ("😀 is fun 👩‍👩‍👧!", "😀 is fun!", "fun is 😀 👩‍👩‍👧 !", "😀😀"),
    ("ÄRGER ΑΣ İ", "ärger ας i\u0307", "ÄRGER ασ i", "Ärger"),
    ("a rich-text format for a well-known-to-all device", "a rich-text format for a well-known device", "rich text format", "a-b-c"),
    ("The quick brown fox jumps over the lazy dog while it rains.", "The quick brown fox jumped over a lazy dog while it rained.",
     "A fast brown fox jumps over the lazy dog while it rains.", "The quick brown fox jumps over the lazy dog."),
]

SMOOTHS = [("exp", None), ("none", None), ("floor", 0.1), ("floor", 0.0), ("floor", 0.5), ("add-k", 1), ("add-k", 0.25)]
TOKENIZERS = ["13a", "intl", "char", "none"]


def escaped(text):
    return "".join("\\t" if c == "\t" else "\\\\" if c == "\\" else c if c.isprintable() or ord(c) > 0x2fff
                   else "".join("\\x%02x" % b for b in c.encode()) for c in text)


def number(x):
    return repr(float(x)) if x != int(x) else str(int(x))


def tokens():
    for kind, lower in itertools.product(TOKENIZERS, (False, True)):
        bleu = BLEU(tokenize=kind, lowercase=lower)
        for text in TEXTS:
            words = " ".join(bleu._preprocess_segment(text).split())
            yield "\t".join([kind, "lc" if lower else "mixed", escaped(text), escaped(words)])


def score(kind, lower, smooth, value, orders, effective, refs, first, end):
    bleu = BLEU(tokenize=kind, lowercase=lower, smooth_method=smooth, smooth_value=value, max_ngram_order=orders, effective_order=effective)
    part = SENTENCES[first:end]
    counts = [sum(x) for x in zip(*bleu._extract_corpus_statistics([s[0] for s in part], [[s[1 + r] for s in part] for r in range(refs)]))]
    s = bleu.corpus_score([s[0] for s in part], [[s[1 + r] for s in part] for r in range(refs)])
    words = ["score", kind, "lc" if lower else "mixed", smooth, number(value or 0), orders, "yes" if effective else "no", refs, first, end,
             number(s.score), number(s.bp), s.sys_len, s.ref_len]
    for k in range(orders):
        words += [counts[2 + k], counts[2 + orders + k], number(s.precisions[k])]
    return " ".join(str(w) for w in words)


def scores():
    for s in SENTENCES:
        yield "\t".join(["sentence"] + [escaped(t) for t in s])
    everything = len(SENTENCES)
    for (smooth, value), orders, effective in itertools.product(SMOOTHS, range(1, 7), (False, True)):
        yield score("13a", False, smooth, value, orders, effective, 1, 0, everything)
    for kind, lower, refs in itertools.product(TOKENIZERS, (False, True), (1, 2, 3)):
        yield score(kind, lower, "exp", None, 4, False, refs, 0, everything)
    for i, (smooth, value), effective in itertools.product(range(everything), SMOOTHS, (False, True)):
        yield score("13a", False, smooth, value, 4, effective, 1 + i % 3, i, i + 1)


def philox(counter, key):
    c, k, mask = list(counter), list(key), 0xffffffff
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & mask, p >> 32 ^ c[3] ^ k[1], p & mask]
        k = [k[0] + 0x9E3779B9 & mask, k[1] + 0xBB67AE85 & mask]
    return c


def draws(n, resample, seed):
    found, block = [], 0
    while len(found) < n:
        for word in reversed(philox((block, 0, resample, 0), (seed & 0xffffffff, seed >> 32))):
            if (word * n & 0xffffffff) >= 2**32 % n:
                found.append(word * n >> 32)
        block += 1
    return found[:n]


def resamples():
    bleu = BLEU()
    first = list(range(len(SENTENCES)))
    second = [i if i % 4 else (i + 4) % len(first) for i in first]
    yield " ".join(["first"] + [str(i) for i in first])
    yield " ".join(["second"] + [str(i) for i in second])
    stats = [bleu._extract_corpus_statistics([SENTENCES[i][0] for i in system], [[s[1] for s in SENTENCES]]) for system in (first, second)]
    real = [bleu._aggregate_and_compute(s).score for s in stats]
    for n, seed in (2, 1), (39, 2), (40, 3), (1000, 12345), (1001, 2**40 + 7):
        drawn = [draws(len(first), r, seed) for r in range(n)]
        a, b = (numpy.array([bleu._compute_score_from_stats([sum(x) for x in zip(*(s[i] for i in d))]).score for d in drawn]) for s in stats)
        differences = abs(b - a)
        p = _compute_p_value(differences - differences.mean(), abs(real[0] - real[1]))
        yield " ".join(["test", str(n), str(seed)] + [number(x) for x in (real[0], *estimate_ci(a), real[1], *estimate_ci(b), p)])


def main():
    logging.disable(logging.CRITICAL)
    differ = 0
    for name, lines in ("tokens", tokens), ("scores", scores), ("resamples", resamples):
        path = os.path.join(HERE, name + ".txt")
        made = f"# Written by tests/golden/bleu/golden.py, which says what it means, with sacreBLEU {sacrebleu.__version__}.\n"
        made += "".join(line + "\n" for line in lines())
        if "--check" in sys.argv[1:]:
            with open(path, encoding="utf-8", newline="\n") as f:
                same = f.read().split("\n")[1:] == made.split("\n")[1:]
            print(path, "is the same" if same else "DIFFERS")
            differ |= not same
        else:
            with open(path, "w", encoding="utf-8", newline="\n") as f:
                f.write(made)
    sys.exit(differ)


main()
