#!/usr/bin/python3
"""Writes tests/golden/torch/NAME.txt, what tests/test-transformer-golden.c holds n2d to: one small model of each kind in PyTorch, in
float64, from weights and sentences that both sides make by themselves.

    golden.py            writes the files
    golden.py --check    computes everything again and compares with the files, whose digits it should be; exit 1 when not

A file is words divided by white space, lines of # are comments:

    option NAME VALUE             of the model
    size NAME N                   B, S, T: sentences, longest source, longest target; warmup, steps: of the training
    ids NAME N ...                src [B,S], trg_in, trg_out [B,T] as a struct n2d_batch has them
    value NAME N ...              loss (nats a token, smoothed) before each step and after the last; nll (not smoothed) in the same way
    output NAME N ...             encoder [B,S,D], decoder [B,T,D], nll [B,T] of the first batch; 0 in the padding
    gradient PARAMETER N ...      of the loss before the first step
    after PARAMETER N ...         the parameter less its initial value, after `steps` steps of Adam (0.9, 0.98, 1e-9; the paper's rate)

Initial weights: x_0 = FNV-1a (32 bits) of the parameter's name, x_{i+1} = 1664525 x_i + 1013904223 mod 2^32; element i has
u = floor(x_{i+1} / 2^16) / 2^16 - 1/2; it is u in matrices, 1 + u/2 in the weights of norms, u/2 in other vectors: exact in float32.

The comments say by how much PyTorch differs from itself in float32, over all arrays: what single precision costs.
"""
import os
import sys

import numpy
import torch

import model

HERE = os.path.dirname(os.path.abspath(__file__))
WARMUP, STEPS = 100, 10

# Words are 4 .. 12; 3 is the unknown word. Longest and shortest sides meet in different sentences; both sides have a sentence
# without words.
PAIRS = [
    ([4, 9, 12, 5, 7, 7], [11, 5]),
    ([], [6, 4, 3, 12]),
    ([8, 3, 10], []),
    ([5, 6, 11, 4], [10, 8, 9]),
]

SMALL = {"vocab": 13, "d-model": 8, "d-ff": 12, "heads": 2, "enc-layers": 2, "dec-layers": 2, "dropout": 0.0}
LEAN = {"enc-layers": 1, "dec-layers": 1}  # for what differs inside a sublayer or at the ends
MODELS = {
    "post": {"final-norm": "yes"},
    "pre": {"norm": "pre"},
    "paper": {**LEAN, "dec-layers": 2, "final-norm": "no", "smoothing": 0.0},
    "gelu": {**LEAN, "activation": "gelu", "positions": "learned", "max-length": 8, "tied": "none", "output-bias": "yes"},
    "rms": {**LEAN, "norm": "pre", "norm-kind": "rms", "positions": "none", "tied": "output", "smoothing": 0.3},
    "swiglu": {**LEAN, "norm": "pre", "activation": "swiglu", "positions": "rotary", "d-k": 6, "d-v": 2, "window": 2},
    "lstm": {**LEAN, "mixer": "lstm"},
    "conv": {**LEAN, "mixer": "conv", "conv-width": 3},
}


def initial(name, shape):
    x = 2166136261
    for byte in name.encode():
        x = (x ^ byte) * 16777619 % 2**32
    u = numpy.empty(int(numpy.prod(shape)))
    for i in range(u.size):
        x = (1664525 * x + 1013904223) % 2**32
        u[i] = (x >> 16) / 2**16 - 0.5
    if len(shape) == 1:
        u = u / 2 + (".norm" in name and name.endswith(".weight"))
    return u.reshape(shape)


def adam(m, step):
    """One step on the gradients that are there."""
    if step == 1:
        m.adam = torch.optim.Adam(m.parameters(), lr=1, betas=(0.9, 0.98), eps=1e-9)
    m.adam.param_groups[0]["lr"] = model.paper_rate(step, m.o["d-model"], WARMUP)
    m.adam.step()


def explicit_loss(logits, target, eps):
    """The loss as src/op/loss.h states it, against PyTorch's reading of smoothing and padding."""
    logp = logits.log_softmax(-1)[target >= 0]
    nll = -logp.gather(1, target[target >= 0][:, None])[:, 0]
    return ((1 - eps) * nll - eps * logp.mean(-1)).mean(), nll.mean()


def run(o, dtype):
    """{(kind, name): array} of everything a file holds."""
    torch.set_default_dtype(dtype)
    m = model.Model(o, dtype)
    start = {name: initial(name, p.shape) for name, p in m.named_parameters()}
    m.load_state_dict({name: torch.tensor(x, dtype=dtype) for name, x in start.items()})
    src, trg_in, trg_out = model.batch(PAIRS)
    real = trg_out >= 0
    found = {("ids", name): ids.numpy() for name, ids in (("src", src), ("trg_in", trg_in), ("trg_out", trg_out))}
    losses, nlls = [], []
    for step in range(1, STEPS + 2):
        m.zero_grad()
        memory, out = m(src, trg_in)
        logits = m.logits(out)
        loss = m.loss(logits, trg_out)
        same, nll = explicit_loss(logits, trg_out, o["smoothing"])
        assert abs(loss - same) < 1e-5 * loss
        losses.append(loss.item())
        nlls.append(nll.item())
        loss.backward()
        if step == 1:
            each = -logits.log_softmax(-1).gather(2, trg_out.clamp(0)[..., None])[..., 0]
            outputs = {"encoder": memory * (src != model.PAD)[..., None], "decoder": out * real[..., None], "nll": each * real}
            found.update({("output", name): x.detach().numpy() for name, x in outputs.items()})
            for name, p in m.named_parameters():
                found["gradient", name] = p.grad.numpy().copy()
        if step <= STEPS:
            adam(m, step)
    found["value", "loss"], found["value", "nll"] = numpy.array(losses), numpy.array(nlls)
    for name, p in m.named_parameters():
        found["after", name] = p.detach().numpy() - start[name].astype(p.detach().numpy().dtype)
    return found


def worst(found, exact):
    """The largest difference of each kind, as part of its array's largest element."""
    w = {}
    for (kind, name), x in exact.items():
        top = abs(x).max()
        w[kind] = max(w.get(kind, 0), abs(found[kind, name] - x).max() / top if top > 1e-12 else 0)
    return w


def text(o, found, single):
    src, trg = found["ids", "src"], found["ids", "trg_in"]
    lines = [f"# Written by tests/golden/torch/golden.py, which says what it means, with PyTorch {torch.__version__}."]
    lines += [f"# float32 differs by {x:.1e} of the largest element ({kind})" for kind, x in single.items() if kind != "ids"]
    lines += [f"option {name} {o[name]}" for name in ("vocab", *model.BASE)]
    sizes = {"B": src.shape[0], "S": src.shape[1], "T": trg.shape[1], "warmup": WARMUP, "steps": STEPS}
    lines += [f"size {name} {n}" for name, n in sizes.items()]
    for (kind, name), x in found.items():
        form = {"ids": "%d", "after": "%.6g"}.get(kind, "%.9g")
        lines.append(f"{kind} {name} {x.size}")
        words = [form % v for v in x.flatten()]
        lines += [" ".join(words[i:i + 8]) for i in range(0, len(words), 8)]
    return "\n".join(lines) + "\n"


def read(path):
    found = {}
    with open(path) as f:
        words = iter([w for line in f if not line.startswith("#") for w in line.split()])
    for kind in words:
        name, n = next(words), next(words)
        if kind == "option" or kind == "size":
            continue
        found[kind, name] = numpy.array([float(next(words)) for _ in range(int(n))])
    return found


def main():
    bad = 0
    for name, changes in MODELS.items():
        o = model.options({**SMALL, **changes})
        path = os.path.join(HERE, name + ".txt")
        exact = run(o, torch.float64)
        if "--check" in sys.argv:
            w = worst({key: x.reshape(exact[key].shape) for key, x in read(path).items()}, exact)
            good = all(x <= (1e-5 if kind == "after" else 1e-7) for kind, x in w.items())  # six digits, nine digits
            print(f"{name}: {'as written' if good else 'DIFFERS'}:", ", ".join(f"{kind} {x:.1e}" for kind, x in w.items()))
            bad |= not good
        else:
            with open(path, "w") as f:
                f.write(text(o, exact, worst(run(o, torch.float32), exact)))
    return bad


if __name__ == "__main__":
    sys.exit(main())
