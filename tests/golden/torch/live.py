#!/usr/bin/python3
"""Weights pass both ways between PyTorch and n2d: live.py [N2D], the program, ./n2d if not given. Exit 1 when something differs.

    there   PyTorch makes models of each kind and writes them; `n2d score` gives each pair's log-probability and `--grad` the gradients
    back    `n2d train` learns to reverse; PyTorch reads the checkpoint and gives each held-out pair the log-probability `n2d score` does

PyTorch computes in float64, n2d in float32. What may differ is as in tests/test-transformer-golden.c: 1e-5 of a log-probability or of an
array's largest element, about ten times what PyTorch's own float32 differs by.
"""
import os
import random
import subprocess
import sys
import tempfile

import numpy
import torch

import golden
import model
import safetensors

SHARE = 1e-5
PAIRS = 40

# Widths that no vector divides; sentences longer than a tile.
MIDDLE = {"vocab": 101, "d-model": 36, "d-ff": 50, "heads": 3, "enc-layers": 2, "dec-layers": 2, "dropout": 0.0}
KINDS = {name: {**MIDDLE, **{k: v for k, v in changes.items() if k not in ("enc-layers", "dec-layers", "d-k", "d-v", "max-length")}}
         for name, changes in golden.MODELS.items()}
KINDS["swiglu"].update({"d-k": 10, "d-v": 14})


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"live.py: {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def write_lines(path, sentences):
    """As integers from 0 on, what --ids reads: id less the special ones."""
    with open(path, "w") as f:
        f.writelines(" ".join(str(w - model.SPECIAL) for w in s) + "\n" for s in sentences)


def read_lines(path):
    with open(path) as f:
        return [[int(w) + model.SPECIAL for w in line.split()] for line in f]


class Text:
    """Pairs of sentences in files for n2d, and as a batch for PyTorch."""

    def __init__(self, directory, pairs):
        self.pairs = pairs
        self.paths = [os.path.join(directory, name) for name in ("pairs.src", "pairs.trg")]
        for side, path in enumerate(self.paths):
            write_lines(path, [pair[side] for pair in pairs])

    def score(self, n2d, path, *more):
        text = run(n2d, "score", "-m", path, "--src", self.paths[0], "--trg", self.paths[1], "--ids", *more)
        return numpy.array([float(line) for line in text.split()])


def torch_score(m, pairs):
    """(log-probability of each target, the summed training loss)."""
    src, trg_in, trg_out = model.batch(pairs)
    logits = m.logits(m(src, trg_in)[1])
    real = trg_out >= 0
    each = logits.log_softmax(-1).gather(2, trg_out.clamp(0)[..., None])[..., 0] * real
    return each.sum(1).detach().numpy(), m.loss(logits, trg_out) * real.sum()


def largest_share(found, want):
    return abs(found - want).max() / max(abs(want).max(), 1e-30)


def verdict(what, share):
    """Prints by how much something differs; whether it is too much, which NaN is."""
    good = share <= SHARE
    print(f"{what}: {share:.1e} off, {'as PyTorch' if good else 'DIFFERS'}", flush=True)
    return not good


def random_pairs(vocab, count):
    draw = random.Random(1)
    sentence = lambda: [draw.randrange(model.SPECIAL, vocab) for _ in range(draw.choice((0, 1, 2, 5, 13, 30, 70)))]
    return [(sentence(), sentence()) for _ in range(count)]


def random_model(o):
    torch.manual_seed(1)
    m = model.Model(o)
    with torch.no_grad():
        for p in m.parameters():
            if p.dim() == 1:
                p.add_(torch.randn_like(p), alpha=0.2)
        m.src_embed.weight.div_(o["d-model"] ** 0.5)
    return m


def there(n2d, directory, name, o):
    m = random_model(o)
    path, grads = os.path.join(directory, "torch.safetensors"), os.path.join(directory, "grads.safetensors")
    safetensors.write(path, {key: t.numpy() for key, t in m.state_dict().items()}, {key: str(value) for key, value in o.items()})
    text = Text(directory, random_pairs(o["vocab"], PAIRS))
    found = text.score(n2d, path, "--grad", grads)
    torch.set_default_dtype(torch.float64)
    want, loss = torch_score(m.double(), text.pairs)
    loss.backward()
    torch.set_default_dtype(torch.float32)
    bad = verdict(f"{name}: {PAIRS} log-probabilities", (abs(found - want) / abs(want)).max())
    read, _ = safetensors.read(grads)
    if read.keys() != dict(m.named_parameters()).keys():
        print(f"{name}: gradients of other names: {sorted(read.keys() ^ dict(m.named_parameters()).keys())}")
        return True
    shares = [(largest_share(read[key], p.grad.numpy()), key) for key, p in m.named_parameters()]
    share, worst = max(shares, key=lambda s: (numpy.isnan(s[0]), s[0]))
    return verdict(f"{name}: {len(read)} gradients, the worst {worst}", share) or bad


def back(n2d, directory):
    sizes = {"layers": 2, "d-model": 32, "d-ff": 64, "heads": 4, "dropout": 0.1}
    for split, lines in (("train", 2000), ("test", PAIRS)):
        run(n2d, "make-data", "reverse", "--ids", "--vocab", "20", "--split", split, "--lines", str(lines), "-o",
            os.path.join(directory, split))
    files = {(split, side): os.path.join(directory, f"{split}.{name}") for split in ("train", "test")
             for side, name in enumerate(("src", "trg"))}
    run(n2d, "train", "--src", files["train", 0], "--trg", files["train", 1], "--ids", "-o", directory, "--quiet", "--max-steps", "40",
        "--warmup", "40", *(word for name, value in sizes.items() for word in ("--" + name, str(value))))
    path = os.path.join(directory, "step-00000040.safetensors")
    weights, metadata = safetensors.read(path)
    m = model.Model({**model.options(metadata), "dropout": 0.0})
    m.load_state_dict({key: torch.tensor(x) for key, x in weights.items()})
    text = Text(directory, list(zip(read_lines(files["test", 0]), read_lines(files["test", 1]))))
    torch.set_default_dtype(torch.float64)
    want, _ = torch_score(m.double(), text.pairs)
    torch.set_default_dtype(torch.float32)
    found = text.score(n2d, path)
    return verdict(f"trained by n2d: {len(want)} log-probabilities", (abs(found - want) / abs(want)).max())


def main():
    n2d = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "n2d")
    bad = 0
    if subprocess.run([n2d, "score", "--help"], capture_output=True).returncode:
        print("live.py: skipped: n2d has no score (without jansson or zlib it reads no models)")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        for name, changes in KINDS.items():
            bad += there(n2d, directory, name, model.options(changes))
        bad += back(n2d, directory)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
