"""n2d's model in PyTorch: nn.Transformer with embeddings, positions, output and loss as n2d has them.

Options are a dictionary with the names and values of n2d's command line, texts or numbers ("d-model": 8, "norm": "pre"), which is also
what the metadata of its model files hold. Parameters are called as in those files (src/model/parameters.h), so that
load_state_dict takes what n2d writes, and n2d what state_dict gives. What nn.Transformer has not is put in the place of its parts:
RMSNorm, SwiGLU, rotary positions and free head widths, LSTM and convolution.

Where the paper has no dropout nn.Transformer has some (attention weights, inside the feed-forward network); it is switched off.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

PAD, BEGIN, END, SPECIAL = 0, 1, 2, 4

BASE = {
    "d-model": 512, "d-ff": 2048, "heads": 8, "d-k": "auto", "d-v": "auto", "enc-layers": 6, "dec-layers": 6, "norm": "post",
    "norm-kind": "layer", "final-norm": "auto", "positions": "sinusoidal", "activation": "relu", "mixer": "attention", "window": "all",
    "conv-width": 3, "max-length": 1024, "tied": "all", "output-bias": "no", "dropout": 0.1, "smoothing": 0.1,
}
PRESETS = {
    "base": {},
    "big": {"d-model": 1024, "d-ff": 4096, "heads": 16, "dropout": 0.3},
    "tiny": {"enc-layers": 4, "dec-layers": 4, "d-model": 128, "d-ff": 256, "heads": 4, "dropout": 0.3},
}


def options(given, preset="base"):
    """All options: those given, of the types of BASE, before the preset's, before base's. Other keys are left out."""
    o = {**BASE, **PRESETS[preset]}
    for name in ("vocab", *BASE):
        if name not in given:
            continue
        value = given[name]
        if name == "vocab" or isinstance(BASE[name], int) or (name in ("d-k", "d-v", "window") and str(value).isdigit()):
            value = int(value)
        elif isinstance(BASE[name], float):
            value = float(value)
        o[name] = value
    return o


def sinusoids(length, width, dtype):
    """Section 3.5: sines in the even columns, cosines in the odd ones."""
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :width].to(dtype)


class RMSNorm(nn.Module):
    eps = 1e-5

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight


class Attention(nn.Module):
    """For head widths that are not d-model / heads, for rotary positions (Su et al. 2021: pairs of neighbours are turned), and for
    windows, with which nn.MultiheadAttention makes a NaN of padding that sees no key. Called as that is with batch_first."""
    batch_first = True

    def __init__(self, width, heads, d_k, d_v, rotary):
        super().__init__()
        self.heads, self.d_k, self.d_v, self.rotary = heads, d_k, d_v, rotary
        rows = heads * (2 * d_k + d_v)
        self.in_proj_weight = nn.Parameter(torch.zeros(rows, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(rows))
        self.out_proj = nn.Linear(heads * d_v, width)

    def split(self, x, part, head):
        begin = (0, self.heads * self.d_k, 2 * self.heads * self.d_k)[part]
        rows = slice(begin, begin + self.heads * head)
        y = F.linear(x, self.in_proj_weight[rows], self.in_proj_bias[rows])
        return y.unflatten(-1, (self.heads, head)).transpose(1, 2)

    def turn(self, x):
        angle = torch.arange(x.shape[2], dtype=torch.float64)[:, None] / 10000 ** (
            torch.arange(0, self.d_k, 2, dtype=torch.float64) / self.d_k)
        c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    def forward(self, query, key, value, attn_mask=None, key_padding_mask=None, need_weights=False):
        q, k, v = self.split(query, 0, self.d_k), self.split(key, 1, self.d_k), self.split(value, 2, self.d_v)
        if self.rotary:
            q, k = self.turn(q), self.turn(k)
        score = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)
        hidden = key_padding_mask[:, None, None, :]
        if attn_mask is not None:
            hidden = hidden | attn_mask
        score = score.masked_fill(hidden, -1e30)
        return self.out_proj((score.softmax(-1) @ v).transpose(1, 2).flatten(2)), None


class Conv(nn.Module):
    """Over positions; padding reads as 0. The decoder's sees itself and what lies before."""

    def __init__(self, width, taps, causal):
        super().__init__()
        self.conv = nn.Conv1d(width, width, taps)
        self.pad = (taps - 1, 0) if causal else (taps // 2, taps // 2)

    def forward(self, x, padding):
        x = x.masked_fill(padding[..., None], 0).transpose(1, 2)
        return self.conv(F.pad(x, self.pad)).transpose(1, 2)


class Model(nn.Transformer):
    def __init__(self, o, dtype=torch.float32):
        post = o["norm"] == "post"
        activation = {"relu": F.relu, "gelu": F.gelu, "swiglu": self.swiglu}[o["activation"]]
        super().__init__(o["d-model"], o["heads"], o["enc-layers"], o["dec-layers"], o["d-ff"], o["dropout"], activation,
                         batch_first=True, norm_first=not post)
        self.o = o
        layers = [(layer, False) for layer in self.encoder.layers] + [(layer, True) for layer in self.decoder.layers]
        for layer, decoder in layers:
            self.adapt(layer, decoder)
        if o["norm-kind"] == "rms":
            self.encoder.norm, self.decoder.norm = RMSNorm(o["d-model"]), RMSNorm(o["d-model"])
        if o["final-norm"] == "no" or (o["final-norm"] == "auto" and post):
            self.encoder.norm = self.decoder.norm = None
        self.src_embed = nn.Embedding(o["vocab"], o["d-model"])
        if o["tied"] != "all":
            self.tgt_embed = nn.Embedding(o["vocab"], o["d-model"])
        if o["positions"] == "learned":
            self.src_positions = nn.Embedding(o["max-length"], o["d-model"])
            self.tgt_positions = nn.Embedding(o["max-length"], o["d-model"])
        if o["tied"] == "none" or o["output-bias"] == "yes":
            self.generator = nn.Linear(o["d-model"], o["vocab"], bias=o["output-bias"] == "yes")
            if o["tied"] != "none":
                self.generator.weight = None
        self.embed_dropout = nn.Dropout(o["dropout"])
        self.to(dtype)

    @staticmethod
    def swiglu(x):
        gate, up = x.chunk(2, -1)
        return F.silu(gate) * up

    def adapt(self, layer, decoder):
        o, width, heads = self.o, self.o["d-model"], self.o["heads"]
        d_k, d_v = (width // heads if o[name] == "auto" else o[name] for name in ("d-k", "d-v"))
        layer.dropout.p = 0.0
        if o["activation"] == "swiglu":
            layer.linear1 = nn.Linear(width, 2 * o["d-ff"])
        if o["norm-kind"] == "rms":
            for name in ("norm1", "norm2", "norm3")[:2 + decoder]:
                setattr(layer, name, RMSNorm(width))
        rotary, widths, window = o["positions"] == "rotary", (d_k, d_v) != (width // heads,) * 2, o["window"] not in ("all", 0)
        if rotary or widths or window:
            layer.self_attn = Attention(width, heads, d_k, d_v, rotary)
        if decoder and widths:
            layer.multihead_attn = Attention(width, heads, d_k, d_v, False)
        for attention in [layer.self_attn, layer.multihead_attn] if decoder else [layer.self_attn]:
            attention.dropout = 0.0
        if o["mixer"] != "attention":
            self.replace(layer, decoder)

    def replace(self, layer, decoder):
        """Self-attention by what n2d calls another mixer."""
        width = self.o["d-model"]
        del layer.self_attn
        if self.o["mixer"] == "lstm":
            layer.lstm = nn.LSTM(width, width, batch_first=True)
            layer._sa_block = lambda x, mask, padding: layer.dropout1(layer.lstm(x)[0])
        else:
            mixer = Conv(width, self.o["conv-width"], decoder)
            layer.conv = mixer.conv
            layer._sa_block = lambda x, mask, padding: layer.dropout1(mixer(x, padding))

    # Embeddings times sqrt(d-model), positions, dropout.
    def embed(self, ids, table, learned):
        x = table(ids) * math.sqrt(self.o["d-model"])
        if self.o["positions"] == "sinusoidal":
            x = x + sinusoids(ids.shape[1], self.o["d-model"], x.dtype)
        elif self.o["positions"] == "learned":
            x = x + learned.weight[:ids.shape[1]]
        return self.embed_dropout(x)

    def masks(self, length, causal):
        """True: hidden. None where everything is seen."""
        distance = torch.arange(length)[:, None] - torch.arange(length)
        hidden = distance < 0 if causal else torch.zeros(length, length, dtype=torch.bool)
        if self.o["window"] not in ("all", 0):
            hidden = hidden | (distance.abs() > self.o["window"])
        return hidden if hidden.any() else None

    def target_embed(self):
        return self.src_embed if self.o["tied"] == "all" else self.tgt_embed

    def forward(self, src, trg_in):
        """(encoder output, decoder output) of ids [B,S], [B,T], PAD behind each sentence."""
        src_padding, trg_padding = src == PAD, trg_in == PAD
        memory = self.encoder(self.embed(src, self.src_embed, getattr(self, "src_positions", None)),
                              mask=self.masks(src.shape[1], False), src_key_padding_mask=src_padding)
        return memory, self.decoder(self.embed(trg_in, self.target_embed(), getattr(self, "tgt_positions", None)), memory,
                                    tgt_mask=self.masks(trg_in.shape[1], True), tgt_key_padding_mask=trg_padding,
                                    memory_key_padding_mask=src_padding)

    def logits(self, out):
        weight = self.generator.weight if self.o["tied"] == "none" else self.target_embed().weight
        return F.linear(out, weight, self.generator.bias if self.o["output-bias"] == "yes" else None)

    def loss(self, logits, trg_out):
        """Label-smoothed cross entropy, the mean over targets that are not -1."""
        return F.cross_entropy(logits.flatten(0, 1), trg_out.flatten(), ignore_index=-1, label_smoothing=self.o["smoothing"])


def pad(rows, value):
    """[B, longest] of lists of ids."""
    longest = max(map(len, rows))
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def batch(pairs):
    """(src, trg_in, trg_out) of pairs of lists of word ids."""
    return (pad([s + [END] for s, _ in pairs], PAD), pad([[BEGIN] + t for _, t in pairs], PAD), pad([t + [END] for _, t in pairs], -1))


def paper_rate(step, width, warmup):
    """Section 5.3."""
    return width ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)
