#!/usr/bin/python3
"""PyTorch's layers on the shapes of ours: a peer of `n2d-bench layers --peers`, which starts it.

    torch_layers.py FILE THREADS

A line on standard input is a request, a line on standard output the answer; FILE holds arrays of floats. First the line
"ready<TAB>version<TAB>instruction set", or why not. Then

    open ID KIND PASS B n D H W DILATION F CAUSAL    "ok", or "no" and why: FILE begins with x[B,n,D], dy[B,n,D] and the layer's
                                                     parameters in n2d's layout, src/layer/layer.h
    run ID N       seconds of N calls together: forward, or with PASS train forward and backward
    results ID     "ok": FILE begins with y, and with train dx and the parameters' gradients
    close ID       "ok"

PyTorch is set as torch_step.py --best sets it: OpenBLAS on OpenMP, memory of freed tensors kept, threads from the start (set_num_threads makes a
pool of threads that spin). Forward is without gradients
(inference_mode, eval). The layers: nn.MultiheadAttention (whole, without returned weights), nn.RNN, nn.LSTM, nn.GRU, nn.Conv1d, the latter by groups and
nn.Linear for a separable convolution, two nn.Linear and ReLU for the feed-forward network. Input is [B,n,D] as ours; a convolution gets
it transposed, as a view.
"""
import os
import sys
import time
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from torch_step import environment, greeting  # noqa: E402


def attention(torch, s):
    m = torch.nn.MultiheadAttention(s.D, s.H, batch_first=True)
    mask = torch.triu(torch.ones(s.n, s.n, dtype=torch.bool), 1) if s.causal else None
    return m, lambda x: m(x, x, x, need_weights=False, attn_mask=mask)[0], [m.in_proj_weight, m.in_proj_bias, m.out_proj.weight, m.out_proj.bias]


def recurrent(kind):
    def make(torch, s):
        m = getattr(torch.nn, kind)(s.D, s.D, batch_first=True)
        return m, lambda x: m(x)[0], [m.weight_ih_l0, m.weight_hh_l0, m.bias_ih_l0, m.bias_hh_l0]
    return make


def padding(s):
    """On the left, and behind it, which a causal convolution does not have."""
    all_ = (s.W - 1) * s.dilation
    return (all_, 0) if s.causal else (all_ // 2, all_ - all_ // 2)


def convolve(torch, m, s, x):
    x = x.transpose(1, 2)
    if s.causal:
        x = torch.nn.functional.pad(x, padding(s))
    return m(x).transpose(1, 2)


def convolution(torch, s):
    m = torch.nn.Conv1d(s.D, s.D, s.W, dilation=s.dilation, padding=0 if s.causal else padding(s)[0])
    return m, lambda x: convolve(torch, m, s, x), [m.weight, m.bias]


def separable(torch, s):
    depth = torch.nn.Conv1d(s.D, s.D, s.W, dilation=s.dilation, padding=0 if s.causal else padding(s)[0], groups=s.D, bias=False)
    point = torch.nn.Linear(s.D, s.D)
    return torch.nn.ModuleList([depth, point]), lambda x: point(convolve(torch, depth, s, x)), [depth.weight, point.weight, point.bias]


def ffn(torch, s):
    m = torch.nn.Sequential(torch.nn.Linear(s.D, s.F), torch.nn.ReLU(), torch.nn.Linear(s.F, s.D))
    return m, m, [m[0].weight, m[0].bias, m[2].weight, m[2].bias]


LAYERS = {"self-attention": attention, "rnn": recurrent("RNN"), "lstm": recurrent("LSTM"), "gru": recurrent("GRU"),
          "convolution": convolution, "separable-convolution": separable, "ffn": ffn}


def ours(kind, i, tensor):
    """A parameter or its gradient as n2d has it: depth[W,D] where Conv1d has [D,1,W]; the others alike."""
    return tensor.squeeze(1).t() if kind == "separable-convolution" and i == 0 else tensor


class Case:
    def __init__(self, torch, file, words):
        self.torch, self.kind, self.train = torch, words[0], words[1] == "train"
        numbers = dict(zip(("B", "n", "D", "H", "W", "dilation", "F", "causal"), map(int, words[2:])))
        s = SimpleNamespace(**numbers)
        self.module, self.call, self.parameters = LAYERS[self.kind](torch, s)
        self.module.train(self.train)
        file.seek(0)
        self.x, self.dy = (self.read(file, (s.B, s.n, s.D)) for _ in range(2))
        with torch.no_grad():
            for i, p in enumerate(self.parameters):
                to = ours(self.kind, i, p)
                to.copy_(self.read(file, to.shape))
        self.x.requires_grad_(self.train)

    def read(self, file, shape):
        data = bytearray(4 * int(self.torch.Size(shape).numel()))
        if file.readinto(data) != len(data):
            raise ValueError("the file is too short")
        return self.torch.frombuffer(data, dtype=self.torch.float32).reshape(shape)

    def once(self):
        if not self.train:
            self.y = self.call(self.x)
            return
        for p in (self.x, *self.parameters):
            p.grad = None
        self.y = self.call(self.x)
        self.y.backward(self.dy)

    def run(self, calls):
        with self.torch.inference_mode(not self.train):
            start = time.perf_counter()
            for _ in range(calls):
                self.once()
            return time.perf_counter() - start

    def results(self, file):
        gradients = [ours(self.kind, i, p.grad) for i, p in enumerate(self.parameters)] if self.train else []
        file.seek(0)
        for t in [self.y.detach()] + ([self.x.grad] if self.train else []) + gradients:
            file.write(memoryview(t.contiguous().numpy()).cast("B"))


def answer(torch, file, cases, words):
    what, name = words[:2]
    if what == "open":
        cases[name] = Case(torch, file, words[2:])
    elif what == "run":
        return f"{cases[name].run(int(words[2])):.9f}"
    elif what == "results":
        cases[name].results(file)
    else:
        del cases[name]
    return "ok"


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: torch_layers.py FILE THREADS (n2d-bench layers --peers starts it)")
    best = environment(SimpleNamespace(heap="keep", blas="openmp", threads=sys.argv[2]))
    if best != dict(os.environ):
        os.execve(sys.executable, [sys.executable, os.path.abspath(__file__), *sys.argv[1:]], best)
    try:
        import torch
    except ModuleNotFoundError as missing:
        print(f"{missing}; Debian's package is python3-torch")
        sys.exit(1)
    torch.set_flush_denormal(True)
    cases = {}
    file = open(sys.argv[1], "r+b", buffering=0)  # before the greeting: then it loses its name
    print(greeting(), flush=True)
    for line in sys.stdin:
        try:
            text = answer(torch, file, cases, line.split())
        except (RuntimeError, ValueError, AssertionError) as error:
            text = "no " + " ".join(str(error).split())
        print(text, flush=True)


if __name__ == "__main__":
    main()
