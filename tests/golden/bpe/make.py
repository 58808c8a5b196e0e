#!/usr/bin/env python3
"""Makes the files beside it, with subword-nmt 0.3.8 or later (pip install subword-nmt).

edge.txt is written here, the others are what subword-nmt makes of it when it gets lines that only "\\n" ends:
  edge.codes    learn-bpe -s 120
  edge.bpe      apply-bpe -c edge.codes
  edge.vocab    the pieces of edge.bpe and their counts, most frequent first
  edge.limited  apply-bpe -c edge.codes --vocabulary edge.vocab --vocabulary-threshold 3
  edge.kept     apply-bpe -c edge.codes --glossaries low er '\\.'

Two things that n2d does otherwise are not among the lines: of a word that ends in "@@" it writes the last character apart, so that the
text can be restored; and it keeps a "\\r" after a glossary, which subword-nmt loses.
"""
import collections
import io

from subword_nmt.apply_bpe import BPE, read_vocabulary
from subword_nmt.learn_bpe import learn_bpe

LINES = [
    "low low low low low lower lower newest newest newest newest newest newest widest widest widest",
    "",                                             # empty lines, and lines of spaces
    " ",
    "   ",
    " lower and  lowest,   newer  ",                # spaces at the ends and several between words
    "a b c a I x",                                  # words of one character
    "aaaa aaaaa aaaaaaa aaabaaab baaaaa aaaa",      # pairs that overlap
    "abab ababab bababa abba baab",
    "ähnlich ähnliche ähnlichste größer größte Übergröße ÄÖÜ ß",
    "\U0001f600\U0001f600 \U0001f680 lower\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "你好世界 世界 你好 日本語 日本 こんにちは",
    "e\u0301te\u0301 \ufeffbom \u202eright",        # combining, byte-order and direction marks
    "low\u2028er low\u0085er low\ver low\fer low\x1cer low\u00a0er",  # characters that end lines elsewhere
    "tab\tbed \ttab tab\t",
    "new\rest widest\r",                            # "\r" within a word and at the line's end
    "\r newest \r ",
    "@@lower low@@er @ @er @@@@er",                 # the separator in the text
    "zero\0byte \0 \0\0",
    "newest. lower. U.S.A. ...... 3.14",
    "</w> low</w> a</w>b <w> </s>",                 # the mark of a word's end in the text
    "lowerlowerlowernewestwidestlow",
    "the last line has no end",
]


def apply(codes, **options):
    bpe = BPE(io.StringIO(codes, newline="\n"), **options)
    return "".join(map(bpe.process_line, lines))


def write(name, text):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write(text)


text = "\n".join(LINES)
lines = [line + "\n" for line in LINES[:-1]] + LINES[-1:]
codes = io.StringIO(newline="\n")
learn_bpe(lines, codes, 120)
codes = codes.getvalue()
encoded = apply(codes)
count = collections.Counter(w for line in encoded.split("\n") for w in line.strip("\r ").split(" ") if w)
vocab = "".join("%s %d\n" % (w, n) for w, n in sorted(count.items(), key=lambda e: (-e[1], e[0])))
pieces = read_vocabulary(vocab.split("\n")[:-1], 3)
write("edge.txt", text)
write("edge.codes", codes)
write("edge.bpe", encoded)
write("edge.vocab", vocab)
write("edge.limited", apply(codes, vocab=pieces))
write("edge.kept", apply(codes, glossaries=["low", "er", r"\."]))
