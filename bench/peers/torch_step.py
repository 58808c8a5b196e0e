#!/usr/bin/python3
"""PyTorch's training step of n2d's model: the peer of `n2d-bench step`.

    torch_step.py --preset tiny                     as it comes: PyTorch's own choice of everything
    torch_step.py --preset tiny --best              with all that may help, below
    torch_step.py --preset base --threads 1 --json  one line of JSON

A step is forward, label-smoothed cross entropy, backward and Adam (0.9, 0.98, 1e-9), with dropout, on one batch that stays; the model is
tests/golden/torch/model.py, nn.Transformer within. Batches: tiny, 282 pairs; pair i has 13 + i mod 4 source tokens and 13 + i / 4 mod 4
target tokens (4,087 + 4,082); base and big, 16 pairs of 32 + 32; --batch N: N of these. The vocabulary has 10,000 entries. Two untimed
steps, then steps until --samples and --seconds are both reached; the median counts.

How to set PyTorch as well as it can be set (--best is the first three; and try every number of threads):

--blas openmp     OpenBLAS built on OpenMP (Debian: libopenblas0-openmp), which shares PyTorch's threads. Debian's PyTorch calls
                  libblas.so.3, whatever that is: without any OpenBLAS the reference library, with libopenblas0 alone an OpenBLAS
                  with threads of its own. The library is chosen by LD_LIBRARY_PATH.
--heap keep       MALLOC_MMAP_MAX_=0, MALLOC_TRIM_THRESHOLD_ and MALLOC_TOP_PAD_ large: the C library keeps the memory of tensors
                  that are freed. Else each large tensor is mapped anew, and the kernel clears its pages, every step.
--adam foreach    Adam over lists of tensors instead of tensor by tensor.
--threads N       Left alone PyTorch takes as many threads as it counts cores, which in a virtual machine may be one.

What steers PyTorch and its libraries (STEERING) is set for somebody else, forces another processor's kernels or numbers of threads, and is
taken out of the environment, which is told on standard error. The script starts itself again with the environment these options need. The
kernels OpenBLAS chose are printed ("core").

--serve           for n2d-bench step --peers: first the line "ready<TAB>version<TAB>instruction set"; then a line on standard input is a
                  request, a line on standard output the answer:
                  open<TAB>MODEL<TAB>WORDS<TAB>B<TAB>S<TAB>T    "ok", loss and norm of the gradients, with tabs between them, or "no" and
                                      why: of the model in the file MODEL that n2d wrote, on the batch src [B,S], trg_in [B,T] and
                                      trg_out [B,T], int32, in the file WORDS, with dropout off
                  step                seconds of a step of that model on that batch, with dropout
"""
import argparse
import ctypes
import glob
import json
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BLAS = {"openmp": "openblas-openmp", "pthread": "openblas-pthread", "reference": "blas"}

STEERING = ("ATEN_CPU_CAPABILITY", "DNNL_MAX_CPU_ISA", "GOTO_NUM_THREADS", "OMP_THREAD_LIMIT", "ONEDNN_MAX_CPU_ISA", "OPENBLAS_CORETYPE",
            "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS")


def arguments():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--preset", choices=["tiny", "base", "big"], default="tiny")
    a.add_argument("--batch", type=int, help="pairs; 282 of tiny, 16 of the others if not given")
    a.add_argument("--threads", type=int, help="PyTorch's own choice if not given")
    a.add_argument("--blas", choices=["system", *BLAS], default="system")
    a.add_argument("--heap", choices=["system", "keep"], default="system")
    a.add_argument("--adam", choices=["single", "foreach"], default="single")
    a.add_argument("--best", action="store_true", help="--blas openmp --heap keep --adam foreach")
    a.add_argument("--samples", type=int, default=10, help="at least so many steps")
    a.add_argument("--seconds", type=float, default=10, help="at least so long")
    a.add_argument("--json", action="store_true", help="a line of JSON")
    a.add_argument("--serve", action="store_true", help="a step for each line of standard input")
    o = a.parse_args()
    if o.best:
        o.blas, o.heap, o.adam = "openmp", "keep", "foreach"
    return o


def environment(o):
    """What the C library and the loader read before the program starts."""
    e = {k: v for k, v in os.environ.items() if k not in STEERING}
    for k in sorted(os.environ.keys() - e.keys()):
        print(f"{os.path.basename(sys.argv[0])}: {k}={os.environ[k]} is in the environment and is not passed on to PyTorch", file=sys.stderr)
    if o.heap == "keep":
        e.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 40), MALLOC_TOP_PAD_=str(1 << 26))
    if o.blas != "system":
        found = glob.glob(f"/usr/lib/*/{BLAS[o.blas]}/libblas.so.3")
        if not found:
            sys.exit(f"torch_step.py: no {BLAS[o.blas]}/libblas.so.3 below /usr/lib; Debian's package is libopenblas0-openmp, "
                     "libopenblas0-pthread or libblas3")
        e["LD_LIBRARY_PATH"] = os.path.dirname(found[0])
    if o.threads:
        e["OMP_NUM_THREADS"] = str(o.threads)
    return e


def blas_core():
    """The BLAS in use, by the file that is mapped, and the kernels OpenBLAS chose."""
    with open("/proc/self/maps") as f:
        paths = {line.split()[-1] for line in f if "blas" in line.rsplit("/", 1)[-1]}
    for path in sorted(paths):
        try:
            name = ctypes.CDLL(path).openblas_get_corename
        except AttributeError:
            continue
        name.restype = ctypes.c_char_p
        return os.path.realpath(path), name().decode()
    return ", ".join(map(os.path.realpath, sorted(paths))), None


def greeting():
    """What this PyTorch is, and the instruction sets that it and its BLAS chose: the line that a served script begins with."""
    import torch
    own = [line.split()[-1] for line in torch.__config__.show().splitlines() if "CPU capability" in line]
    return f"ready\tPyTorch {torch.__version__}\t{'+'.join(filter(None, [*own, blas_core()[1]]))}"


def lengths(preset, pairs):
    if preset != "tiny":
        return [(32, 32)] * (pairs or 16)
    return [(13 + i % 4, 13 + i // 4 % 4) for i in range(pairs or 282)]


def own(o):
    """A model with initial weights of PyTorch's own, and random words: the three arrays of a batch."""
    import torch
    import model
    m = model.Model(model.options({"vocab": 10000}, o.preset))
    words = lambda n: torch.randint(model.SPECIAL, m.o["vocab"], (n - 1,)).tolist()
    return m, model.batch([(words(s), words(t)) for s, t in lengths(o.preset, o.batch)])


def given(path, words, sizes):
    """The same from files of n2d's."""
    import numpy
    import torch
    import model
    import safetensors
    tensors, metadata = safetensors.read(path)
    m = model.Model(model.options(metadata))
    m.load_state_dict({name: torch.tensor(x) for name, x in tensors.items()})
    B, S, T = map(int, sizes)
    ids = torch.from_numpy(numpy.fromfile(words, dtype=numpy.int32).astype(numpy.int64))
    return m, [part.reshape(B, -1) for part in ids.split([B * S, B * T, B * T])]


def loss_of(m, batch):
    src, trg_in, trg_out = batch
    return m.loss(m.logits(m(src, trg_in)[1]), trg_out)


def without_dropout(m, batch):
    """(loss, norm of the gradients); the model stays as it was."""
    m.eval()
    loss = loss_of(m, batch)
    loss.backward()
    squares = sum(p.grad.double().square().sum().item() for p in m.parameters())
    m.zero_grad(set_to_none=True)
    m.train()
    return loss.item(), squares ** 0.5


def stepper(o, m, batch):
    """The function that makes a step."""
    import torch
    adam = torch.optim.Adam(m.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, foreach=o.adam == "foreach")

    def step():
        adam.zero_grad(set_to_none=True)
        loss = loss_of(m, batch)
        loss.backward()
        adam.step()
        return loss.item()

    return step


def facts_of(o, m, batch):
    import torch
    library, core = blas_core()
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "blas": library, "core": core, "heap": o.heap, "adam": o.adam,
            "pairs": len(batch[0]), "source_tokens": (batch[0] > 0).sum().item(), "target_tokens": (batch[2] >= 0).sum().item(),
            "parameters": sum(p.numel() for p in m.parameters())}


def told(facts):
    return ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in facts.items())


def timed(step):
    start = time.perf_counter()
    loss = step()
    if not loss < 1e3:
        sys.exit(f"torch_step.py: the loss is {loss}")
    return time.perf_counter() - start


def answer(o, opened, words):
    """To a request; opened holds the step."""
    if words[0] != "open":
        return f"{timed(opened[0]):.9f}"
    m, batch = given(*words[1:3], words[3:])
    print(f"torch_step.py: {told(facts_of(o, m, batch))}", file=sys.stderr)
    loss, norm = without_dropout(m, batch)
    opened[:] = [stepper(o, m, batch)]
    return f"ok\t{loss:.9g}\t{norm:.9g}"


def serve(o):
    opened = []
    print(greeting(), flush=True)
    for line in sys.stdin:
        try:
            text = answer(o, opened, line.rstrip("\n").split("\t"))
        except (RuntimeError, ValueError, KeyError, IndexError, OSError, MemoryError) as error:
            text = "no " + " ".join(str(error).split())
        print(text, flush=True)


def measure(o):
    m, batch = own(o)
    step, facts = stepper(o, m, batch), {"preset": o.preset, **facts_of(o, m, batch)}
    for _ in range(2):
        step()
    samples, begin = [], time.perf_counter()
    while len(samples) < o.samples or time.perf_counter() - begin < o.seconds:
        samples.append(timed(step))
    median = statistics.median(samples)
    facts.update(samples=len(samples), median_s=median, min_s=min(samples), mad_s=statistics.median(abs(x - median) for x in samples),
                 tokens_per_s=(facts["source_tokens"] + facts["target_tokens"]) / median)
    if o.json:
        print(json.dumps(facts))
        return
    print(told(facts))


def main():
    o = arguments()
    e = environment(o)
    if e != dict(os.environ):
        os.execve(sys.executable, [sys.executable, os.path.abspath(__file__), *sys.argv[1:]], e)
    sys.path.insert(0, os.path.join(HERE, "../../tests/golden/torch"))
    try:
        import torch
    except ModuleNotFoundError as missing:
        sys.exit(f"torch_step.py: {missing}; Debian's package is python3-torch")
    torch.manual_seed(1)
    serve(o) if o.serve else measure(o)


if __name__ == "__main__":
    main()
