#!/bin/bash
# Planted faults: each must be caught by the test that is there to catch it. In the build directory:
#	mutants.sh [NAME...]		(N2D_MUTANTS=DIR keeps the scratch build there and uses it again: of the sources as they were)
# A scratch copy of what `make dist` would ship is built with one instruction set, and its tests must pass. A mutant is one sed
# expression on one file (one that changes nothing is an error). The objects made from that file are compiled again, for that
# instruction set alone, and linked before the library, which keeps the others; the test must then fail.
set -u
make=${MAKE:-make}
scratch=${N2D_MUTANTS:-$(mktemp -d)} || exit 99
[ -n "${N2D_MUTANTS:-}" ] || trap 'rm -rf "$scratch"' EXIT
unset N2D_ISA MAKEFLAGS MFLAGS MAKELEVEL

names=() files=() edits=() tests=()
mutant() { # NAME FILE SED TEST...
	names+=("$1") files+=("$2") edits+=("$3")
	shift 3
	tests+=("$*")
}
kernel() { echo "tests/test-kernels --kernel $1"; }

mutant dropped-tail simd/body/reduce.c 's/^\ts\[1\] = v_mac(v_loadn.*//' "$(kernel dot)"
mutant tail-reads-beyond simd/body/reduce.c 's/v_loadn(x + i, n - i)/v_load(x + i)/' "$(kernel sum)"
mutant nan-lost-in-max simd/body/reduce.c 's/m_any(nan) ? NAN : //' "$(kernel max)"
mutant exp-clamp-too-low simd/vmath.h 's/v_set1(-105.0f), x/v_set1(-87.0f), x/' "$(kernel exp)"
mutant exp-swallows-nan simd/vmath.h 's/v_max(v_set1(-105.0f), x)/v_max(x, v_set1(-105.0f))/' "$(kernel exp)"
mutant tanh-loses-sign simd/vmath.h 's/return i_bits(i_or(i_and(v_bits(x), i_set1(INT32_MIN)), v_bits(t)));/return t;/' "$(kernel tanh)"
mutant softmax-without-maximum simd/body/softmax.c 's/top = v_set1(lead)/top = v_set1(0 * lead)/' "$(kernel softmax_fwd)"
mutant softmax-of-least simd/body/softmax.c 's/leader(x, n, 1)/leader(x, n, 0)/' "$(kernel softmax_fwd)"
mutant softmax-tail-has-weight simd/body/softmax.c 's/e\[0\], v_set1(-INFINITY)/e[0], v_zero()/' "$(kernel softmax_fwd)"
mutant softmax-mask-off-by-one simd/body/softmax.c 's/i = end; i < n/i = end + 1; i < n/' "$(kernel softmax_fwd)"
mutant softmax-bwd-without-mean simd/body/softmax.c 's/v_sub(load(dy, i, end), mean)/load(dy, i, end)/' "$(kernel softmax_bwd)"
mutant softmax-bwd-without-scale simd/body/softmax.c 's/v_mul(v_mul(s, load(y, i, end))/v_mul(load(y, i, end)/;s/load(y, i, end), v_sub/load(y, i, end), v_sub/' "$(kernel softmax_bwd)"
mutant beta-ignored simd/body/gemm_tile.c 's/c\[i\]\[j\] = v_mul(beta, c\[i\]\[j\]);/;/' "$(kernel gemm_tile)"
mutant beta-0-reads-c simd/body/gemm_tile.c 's/if (t->beta == 0)/if (t->n == 0)/' "$(kernel gemm_tile)"
mutant bias-twice simd/body/gemm_tile.c 's/= v_add(c\[i\]\[j\], bias)/= v_add(v_add(c[i][j], bias), bias)/' "$(kernel gemm_tile)"
mutant steps-overwrite-sums src/op/gemm_blocked.c 's/k ? 1 : g->beta/g->beta/' tests/op-gemm
mutant epilogue-every-step src/op/gemm_blocked.c 's/if (k < g->K || /if (/' tests/op-gemm
mutant stale-padding simd/body/attn_fwd.c 's/^\t\t\tattn_hide(s + .*//' "$(kernel attn_fwd)"
mutant output-not-rescaled simd/body/attn_fwd.c 's/c\[r\] != 1)/c[r] < 0)/' "$(kernel attn_fwd)"
mutant streaming-without-maximum simd/body/attn_fwd.c 's/m\[r\] = attn_row_max(.*/m[r] = 0;/' "$(kernel attn_fwd)"
mutant causal-aligned-to-start src/op/attention.c 's/w.end = shift + 1/w.end = 1/' tests/op-attention
mutant count-forgets-the-rest src/text/vocab.c 's/\[N2D_ID_UNKNOWN\]->count += last->count;/[N2D_ID_UNKNOWN]->count++;/' tests/test-vocab
mutant long-targets-kept src/text/corpus.c 's/ || length\[1\] > c->max_length + 1//' tests/test-corpus
mutant order-from-the-last-epoch src/text/batches.c 's/^\tmemcpy(b->order, b->sorted,/\tif (epoch < 2)\n\t&/' tests/test-batches
mutant target-padding-is-a-word src/text/batches.c 's/target, t, T, -1)/target, t, T, N2D_ID_PAD)/' tests/test-batches
mutant causal-off-by-one src/op/attention.c 's/w.end = shift + 1/w.end = shift + 2/' tests/op-attention
mutant window-off-by-one src/op/attention.c 's/w.end = shift + R + 1/w.end = shift + R/' tests/op-attention
mutant key-lengths-ignored src/op/attention.c 's/w.keys = n2d_clamp(a->klen\[b\], a->Tk)/w.keys = a->Tk/' tests/op-attention
mutant scale-missing src/op/attention_fwd.c 's/a->q.st, a->scale, t/a->q.st, 1, t/' tests/op-attention
mutant corner-off-by-one simd/body/attn_tile.c 's/step(r, m, NV/step(r - 1, m, NV/' "$(kernel attn_fwd)"
mutant corner-mirrored simd/body/attn_tile.c 's/step(0, r, NV/step(0, m - r, NV/' "$(kernel attn_bwd)"
mutant row-reads-hidden-keys simd/body/attn_row.c 's/lo, hi, n, a->k_st/0, V_LANES, n, a->k_st/' "$(kernel attn_row)"
mutant row-values-not-by-list simd/body/attn_row.c 's/at = at ? at + j : NULL;/at = NULL;/' "$(kernel attn_row)"
mutant first-tile-reads-output simd/body/attn_fwd.c 's/a->ldo, !a->start, s/a->ldo, 1, s/' "$(kernel attn_fwd)"
mutant query-alone-without-scale src/op/attention_row.c 's/x.scale = a->scale/x.scale = 1/' tests/op-attention
mutant weights-without-window src/layer/attention.c '/^static void weights/,/^}/s/window(l->kind, &l->c)/0/' tests/test-maps
mutant weights-of-values src/layer/cross_attention.c 's/n2d_attention_weights(ctx, &a, P, s.q, s.kv)/n2d_attention_weights(ctx, \&a, P, s.q, s.kv + n2d_heads_width(\&l->c))/' tests/test-maps
mutant svg-not-escaped src/decode/maps_draw.c "s/case '<': .*/case '<': n2d_out_printf(out, \"<\"); break;/" tests/test-maps
mutant wrong-root-of-k src/layer/heads.c 's/sqrt((double)n2d_heads_d_k(c))/(double)n2d_heads_d_k(c)/' tests/test-layers
mutant bwd-without-delta simd/body/attn_bwd.c 's/v_sub(v_load(dp + i \* V_LANES), delta)/v_load(dp + i * V_LANES)/' "$(kernel attn_bwd)"
mutant eps-outside-root simd/body/norm.c 's/(var > 0 || var != var ? var : 0) + eps)/var > 0 || var != var ? var : 0) + eps/;s/1 \/ sqrtf(var\(.*\) + eps;/1 \/ (sqrtf(var\1 + eps);/' "$(kernel layernorm_fwd)"
mutant unbiased-variance simd/body/norm.c 's/v_sum(v_add(ss\[0\], ss\[1\])) \/ (float)n/v_sum(v_add(ss[0], ss[1])) \/ (float)(n - 1)/' "$(kernel layernorm_fwd)"
mutant gradient-overwritten simd/body/norm.c 's/v_st(dbeta + i, v_add(e, v_ld(dbeta + i, m)), m)/v_st(dbeta + i, e, m)/' "$(kernel layernorm_bwd)"
mutant gates-swapped simd/body/recurrent.c 's/load_upto(a + s, n)), z = v_sigmoid(load_upto(a + 2 \* s, n))/load_upto(a + 2 * s, n)), z = v_sigmoid(load_upto(a + s, n))/' "$(kernel gru_fwd)"
mutant lstm-forgets-nothing simd/body/recurrent.c 's/store_upto(dc, v_mul(cell, f), n)/store_upto(dc, cell, n)/' "$(kernel lstm_bwd)"
mutant dropout-scale-missing simd/body/dropout.c 's/float scale = .*/float scale = 1;/' "$(kernel dropout)"
mutant denominator-without-maximum simd/body/loss.c 's/v_t vtop = v_set1(top), sum/v_t vtop = v_set1(top + 1), sum/' "$(kernel sum_exp)"
mutant smoothing-over-all-but-target simd/body/loss.c 's/-weight \* eps \/ (float)n/-weight * eps \/ (float)(n - 1)/' "$(kernel xent)"
mutant adam-eps-inside-root simd/body/adam.c 's/v_fma(v_sqrt(v1), v_set1(s->root), v_set1(s->eps))/v_mul(v_sqrt(v_add(v1, v_set1(s->eps))), v_set1(s->root))/' "$(kernel adam)"
mutant relu-lt-for-le simd/body/activation.c 's/v_le(v_ld(y + i, m), v_zero())/v_lt(v_ld(y + i, m), v_zero())/' "$(kernel relu_bwd)"

# The other rows of kernels.def: one fault each.
mutant log-of-negative simd/vmath.h 's/^\tc = v_sel(v_lt(x, v_zero()), v_set1(NAN), c);//' "$(kernel log)"
mutant sigmoid-one-sided simd/vmath.h 's/return v_sel(v_lt(x, v_zero()), v_ldexp(v_fma(c, v_fnma(t, c, p), c), n), c);/return c;/' "$(kernel sigmoid)"
mutant last-row-not-summed simd/body/elementwise.c 's/for (; r < rows; r++, x += ldx)/for (; r + 1 < rows; r++, x += ldx)/' "$(kernel colsum_acc)"
mutant add-to-itself simd/body/elementwise.c 's/v_add(v_ld(x + i, m), v_ld(y + i, m))/v_add(v_ld(x + i, m), v_ld(x + i, m))/' "$(kernel add)"
mutant scale-ignored simd/body/elementwise.c 's/v_mul(va, v_ld(x + i, m))/v_ld(x + i, m)/' "$(kernel scale)"
mutant axpy-scales-y simd/body/elementwise.c 's/v_fma(va, v_ld(x + i, m), v_ld(y + i, m))/v_fma(va, v_ld(y + i, m), v_ld(x + i, m))/' "$(kernel axpy)"
mutant bias-add-strides-swapped simd/body/elementwise.c 's/y += ldy, x += ldx)/y += ldx, x += ldy)/' "$(kernel bias_add)"
mutant relu-swallows-nan simd/body/activation.c 's/v_max(v_zero(), v_ld(x + i, m))/v_max(v_ld(x + i, m), v_zero())/' "$(kernel relu_fwd)"
mutant gelu-square-rounded simd/body/activation.c 's/v_fma(v_mul(half, low), u, u)/u/' "$(kernel gelu_fwd)"
mutant gelu-slope-without-density simd/body/activation.c 's/return v_fma(v_mul(c, v_set1(0x1.988454p-2f)), e, phi);.*/return phi;/' "$(kernel gelu_bwd)"
mutant swiglu-gate-for-value simd/body/activation.c 's/v_mul(v_silu(g, v_sigmoid(g)), v_ld(u + i, m))/v_mul(v_silu(g, v_sigmoid(g)), g)/' "$(kernel swiglu_fwd)"
mutant swiglu-slope-of-value simd/body/activation.c 's/v_mul(up, v_silu_slope(g, s))/v_silu_slope(g, s)/' "$(kernel swiglu_bwd)"
mutant rmsnorm-without-eps simd/body/norm.c 's/\((x, x, n) \/ (float)n\) + eps/\1/' "$(kernel rmsnorm_fwd)"
mutant rmsnorm-bwd-without-mean simd/body/norm.c 's/v_sub(g, v_mul(h, c))/g/' "$(kernel rmsnorm_bwd)"
mutant alpha-lost-in-tail simd/body/gemm_pack.c 's/v_mul(alpha, v_loadn(x + l \* ldx + p, n))/v_loadn(x + l * ldx + p, n)/' "$(kernel gemm_pack_rows)"
mutant packing-reads-beyond simd/body/gemm_pack.c 's/n == V_LANES ? v_load(from) : v_loadn(from, n)/v_load(from)/' "$(kernel gemm_pack_columns)"
mutant row-without-relu simd/body/gemv.c 's/^\t\tc = v_max(v_zero(), c);.*/\t\t;/' "$(kernel gemv)"
mutant delta-of-half simd/body/attn_bwd.c 's/v_sum(v_add(s\[0\], s\[1\]))/v_sum(s[0])/' "$(kernel attn_delta)"
mutant rows-beyond-packed simd/attn_tile.h 's/if (i >= lo \&\& i < hi)/if (1)/' "$(kernel attn_pack)"
mutant panel-tail-not-scaled simd/body/attn_pack.c 's/v_mul(a, v_loadn(s, left))/v_loadn(s, left)/' "$(kernel attn_panel)"
mutant lse-without-maximum simd/body/attn_fwd.c 's/v_add(v_loadn(mx + r, n), v_log(lv))/v_log(lv)/' "$(kernel attn_end)"
mutant rnn-slope-missing simd/body/recurrent.c 's/v_mul(d, slope_tanh(load_upto(h, n)))/d/' "$(kernel rnn_bwd)"
mutant lstm-input-and-forget-swapped simd/body/recurrent.c 's/v_fma(f, load_upto(cp, n), v_mul(i, g))/v_fma(i, load_upto(cp, n), v_mul(f, g))/' "$(kernel lstm_fwd)"
mutant gru-passes-all-back simd/body/recurrent.c 's/store_upto(dh, v_mul(d, z), n)/store_upto(dh, d, n)/' "$(kernel gru_bwd)"
mutant last-tap-missing simd/body/depthwise.c 's/t < taps; t++/t + 1 < taps; t++/' "$(kernel depthwise_fwd)"
mutant taps-gradient-overwritten simd/body/depthwise.c 's/s\[v\] = v_loadn(g + .*/s[v] = v_zero();/' "$(kernel depthwise_weights_acc)"
mutant peak-of-less simd/body/roof.c 's/^\t\t\t\tx\[j\] = v_mac(va, x\[j\], vb);/\t\t\t\tx[j] = v_mac(va, x[j], va);/' "$(kernel fma_peak)"
mutant stream-read-drops-tail simd/body/stream.c 's/v_add(sum, v_loadn(x + i, n - i))/sum/' "$(kernel stream_read)"
mutant stream-copy-drops-tail simd/body/stream.c 's/v_storen(y + i, v_loadn(x + i, n - i), n - i);/;/' "$(kernel stream_copy)"
mutant stream-triad-swapped simd/body/stream.c 's/v_mac(va, v_loadn(y + i, n - i), v_loadn(x + i, n - i))/v_mac(va, v_loadn(x + i, n - i), v_loadn(y + i, n - i))/' "$(kernel stream_triad)"
mutant stream-update-drops-tail simd/body/stream.c 's/v_storen(y + i, v_mul(va, v_loadn(y + i, n - i)), n - i);/;/' "$(kernel stream_update)"

# Recurrent and convolutional layers.
mutant gru-bias-forgotten src/op/recurrent.c 's/q ? j->b_q : NULL, q ? 0 : 1/NULL, q ? 0 : 1/' tests/test-layers
mutant state-before-the-first-step src/op/recurrent.c 's/T \* D, t ? D : 0);/T * D, D);/' tests/test-layers
mutant cell-not-carried src/op/recurrent.c 's/t ? j->c + c - j->c_step : j->zero + u/j->zero + u/' tests/test-layers
mutant state-gradient-not-carried src/op/recurrent.c 's/if (t + 1 < j->r->T)$/if (0)/' tests/test-layers
mutant gates-of-dh-overwritten src/op/recurrent.c 's/NULL, g || cell == N2D_GRU}/NULL, cell == N2D_GRU}/' tests/test-layers
mutant positions-begin-small src/model/parameters.c 's/t->count, 0, sqrt(0.5)/t->count, 0, 1 \/ sqrt((double)t->shape[1])/' tests/test-config
mutant units-left-out src/op/recurrent.c 's/n2d_cut(panels, n, t + 1) \* nr/n2d_cut(panels, n, t + 1) * nr - (t > 0)/' tests/layer-bits
mutant convolution-sees-padding src/op/convolution.c 's/r >= s->zeros \&\& t < n/r >= s->zeros \&\& t < c->T/' tests/test-layers
mutant convolution-not-centred src/op/convolution.c 's/backward ? c->W - 1 - centre : centre/centre/' tests/test-layers
mutant taps-not-flipped src/op/convolution.c 's/((r->W - 1 - w) \* r->D + o)/(w * r->D + o)/' tests/test-layers
mutant depthwise-taps-mirrored src/op/depthwise.c 's/((ptrdiff_t)w - centre(c)) \* j->step/(centre(c) - (ptrdiff_t)w) * j->step/' tests/test-layers
mutant taps-not-reordered src/op/convolution.c 's/to\[w \* r->D + i\] = from\[i \* r->W + w\]/to[w * r->D + i] = from[w * r->D + i]/' tests/test-layers
mutant first-steps-not-cleared src/layer/recurrent.c 's/^\tclear_first(d);/\tif (0)\n\t&/' tests/test-layers
mutant bias-of-q-shared src/layer/recurrent_parts.c 's/cell == N2D_GRU ? 2 \* D : //' tests/test-layers

# Attention and feed-forward layers, decoding.
mutant heads-not-spread src/layer/heads.c 's/memset(to + width \* row, 0, (K - width)/memset(to + width * row, 63, (K - width)/' tests/test-layers
mutant memory-gradient-overwritten src/layer/cross_attention.c 's/dmemory, 1, d.kv/dmemory, 0, d.kv/' tests/test-cross-attention
mutant memory-length-ignored src/layer/heads.c 's/.klen = keys->len/.klen = NULL/' tests/test-cross-attention
mutant rotary-turns-on src/op/rotary.c 's/r->back ? -1 : 1/1/' tests/test-layers
mutant rotary-rate-of-half src/op/rotary.c 's/-(double)i \/ (double)d/-(double)i \/ 2 \/ (double)d/' tests/op-pointwise
mutant padding-trusted src/layer/rows.h 's/c->finite || s->at ? NULL : s->len/c \&\& s ? NULL : s->len/' tests/layer-bits
mutant sentences-where-padding-would-be src/op/attention_band.h 's/at ? (size_t)at\[b\]/at \&\& !b ? (size_t)at[b]/' tests/layer-bits
mutant rows-of-the-next-sentence src/op/attention_band.h 's/at\[b + 1\] - at\[b\]) : T/at[b + 1] - at[b] + 1) : T/' tests/layer-bits
mutant positions-in-the-batch src/layer/heads.c 's/s->at ? s->position : NULL, back/NULL, back/' tests/layer-bits
mutant convolution-dx-trusted src/layer/convolution.c 's/^\tn2d_rows_clear(ctx, dx, at->len/\tn2d_rows_clear(ctx, dx, n2d_rows_dirty(\&l->c, at)/' tests/layer-bits
mutant silu-without-slope simd/body/activation.c 's/v_mul(s, v_fma(c, v_sub(one, s), one))/s/' "$(kernel swiglu_bwd)"
mutant silu-of-minus-infinity simd/body/activation.c 's/v_max(v_set1(-1e30f), x), s)/x, s)/' "$(kernel swiglu_fwd)"
mutant gate-behind src/op/activation.c 's/swiglu_fwd(j->y + r \* n, x, x + n, n)/swiglu_fwd(j->y + r * n, x + n, x, n)/' tests/test-layers
mutant cache-of-own-slot src/op/attention_step.c 's/return a->slots ? .*/return r;/' tests/test-layer-step
mutant step-without-offset src/layer/attention.c 's/w.qkv, 3, s->at, &/w.qkv, 3, 0, \&/' tests/test-layer-step
mutant state-of-own-slot src/layer/recurrent_parts.c 's/(size_t)s->slots\[r \* s->room + s->at - 1\]/r/' tests/test-layer-step
mutant window-of-own-slot src/layer/convolution.c 's/(size_t)s->slots\[r \* s->room + j\]/r/' tests/test-layer-step
mutant step-beyond-window src/layer/attention.c 's/s->at > R ? s->at - R : 0/0/' tests/test-layer-step

# Byte-pair encoding and its words.
mutant bpe-tie-to-the-smaller src/text/bpe_learn.c 's/order ? order > 0 : xn > yn/order ? order < 0 : xn < yn/' tests/test-bpe-learn
mutant bpe-end-of-word-forgotten src/text/bpe_learn.c 's/c + n < end ? n : n + 4/n/' tests/test-bpe-learn
mutant bpe-pair-behind-not-lost src/text/bpe_learn.c 's/lose(l, pair\[1\], l->p\[after\].symbol, count);/(void)0;/' tests/test-bpe-learn
mutant bpe-merges-from-the-right src/text/bpe_apply.c 's/(uint64_t)node->rank << 32 | i)/(uint64_t)node->rank << 32 | (UINT32_MAX - i))/' tests/test-bpe-apply
mutant bpe-last-character-unmarked src/text/bpe_apply.c 's/symbol_of(w->bpe, text + at, length, at_end)/symbol_of(w->bpe, text + at, length, 0)/' tests/test-bpe-apply
mutant bpe-dropout-remembered src/text/bpe_apply.c 's/int keep = w->dropout <= 0 \&\& /int keep = /' tests/test-bpe-apply
mutant bpe-cache-of-the-last-word src/text/bpe_apply.c 's/size_t start = i ? w->known_end\[i - 1\] : 0/size_t start = 0/' tests/test-bpe-apply
mutant bpe-above-the-threshold src/text/bpe_load.c 's/count >= threshold/count > threshold/' tests/test-bpe-apply
mutant dictionary-counts-overwritten src/text/words.c 's/__builtin_add_overflow(counts\[i\], count, /__builtin_add_overflow(0, count, /' tests/test-bpe-learn

# BLEU.
mutant bleu-not-clipped src/text/ngram.c 's/g->gram\[i\].hyp < g->gram\[i\].best ? /g->gram[i].best ? /' tests/test-bleu
mutant bleu-references-added-up src/text/ngram.c 's/x->ref == ref ? x->now + 1 : 1/x->now + 1/' tests/test-bleu
mutant bleu-closest-of-two-the-longer src/text/bleu.c 's/ref.length < counts->ref_length))/ref.length > counts->ref_length))/' tests/test-bleu
mutant bleu-brevity-upside-down src/text/bleu.c 's/exp(1 - ref \/ hyp)/exp(1 - hyp \/ ref)/' tests/test-bleu
mutant bleu-first-order-smoothed src/text/bleu.c 's/N2D_SMOOTH_ADD_K \&\& k ?/N2D_SMOOTH_ADD_K ?/' tests/test-bleu
mutant bleu-systems-drawn-apart src/text/resample.c 's/n2d_rng_init(\&rng, j->seed, r)/n2d_rng_init(\&rng, j->seed + s, r)/' tests/test-bleu

# Search.
mutant beam-length-without-end src/decode/beam.c 's/n2d_beam_score(s->o, logp, at + 1)};/n2d_beam_score(s->o, logp, at ? at : 1)};/' tests/test-beam
mutant beam-ended-takes-a-place src/decode/beam.c 's/i < n \&\& next - from < s->o->beam/i < n \&\& i < (ptrdiff_t)s->o->beam/' tests/test-beam
mutant beam-hopes-for-the-worst src/decode/beam.c 's/late > soon ? late : soon/late > soon ? soon : late/' tests/test-beam
mutant beam-stops-at-the-best src/decode/beam.c 's/> t->best\[t->count - 1\].score;/> t->best[0].score;/' tests/test-beam
mutant beam-history-of-the-row src/decode/beam.c 's/s->slots + s->next\[r\].parent \* s->room/s->slots + r * s->room/' tests/test-beam
mutant beam-penalty-of-six src/decode/beam.c 's/(5 + n) \/ 6/(6 + n) \/ 6/' tests/test-beam
mutant translations-by-row src/decode/translate.c 's/translations\[t->batches.row\[i\]\]/translations[i]/' tests/test-translate
mutant longest-of-the-batch src/decode/translate.c 's/longest(t, (size_t)b->src_len\[i\])/longest(t, b->S)/' tests/test-translate

# Batches, checkpoints, averages.
mutant batch-of-sources-alone src/text/batches.c 's/B \* most(S, T) > batch_tokens)/B * S > batch_tokens)/' tests/test-batches
mutant batch-order-of-every-epoch src/text/batches.c 's/SHUFFLE_STREAM + epoch/SHUFFLE_STREAM/' tests/test-batches
mutant batch-of-any-number src/text/batches.c 's/if (B > most_pairs || B \* most(S, T)/if (B * most(S, T)/' tests/test-batches
mutant parts-begin-with-anything src/op/gemm.c '/^static void part(/,/^}/s/g.beta = 0;/g.beta = 1;/' tests/op-gemm
mutant part-left-out src/op/gemm.c 's/i + 1 < p->g->parts/i + 2 < p->g->parts/' tests/op-gemm
mutant parts-overlap src/op/gemm.c 's/all->parts, i + 1) - k/all->parts, i + 1) - k + (k > 0)/' tests/op-gemm
mutant gemm-tiles-out-of-order src/op/gemm_blocked.c 's/tile_first ? i % panels : i/tile_first ? i % tiles : i/' tests/op-gemm
mutant sum-forgets-chunks src/op/square_sum.c 's/sum += r.sum\[k\];/sum = r.sum[k];/' tests/op-pointwise
mutant adam-squares-weights src/op/adam.c 's/dot(x->g + i, x->g + i, n)/dot(x->w + i, x->w + i, n)/' tests/op-pointwise
mutant relu-of-dense-rows src/layer/ffn.c 's/m.h, n, F, stride(c))/m.h, n, F, F)/' tests/test-layers
mutant ranges-overlap src/op/gemm_blocked.c 's/n2d_cut(p->g->M, p->ranges, i + 1)}/p->g->M}/' tests/op-gemm
mutant more-ranges-than-blocks src/op/gemm_blocked.c 's/p->row_blocks % n ? 1 : n/n/' tests/op-gemm
mutant average-loses-minus-0 src/model/average.c 's/= -0\.0;/= 0.0;/' tests/test-average
mutant average-of-other-words src/model/average.c 's/strcmp(text, w->text\[i\]) != 0/0/' tests/test-average
mutant source-embedding-half-cleared src/model/forward.c 's/n2d_config_src_vocab(\&m->c), m->src_embed/m->c.vocab \/ 2, m->src_embed/' tests/test-transformer
mutant checkpoint-swaps-moments src/train/checkpoint.c 's/like(\&p->list\[i\], names\[2 \* i + 1\], o->v)/like(\&p->list[i], names[2 * i + 1], o->m)/' tests/test-train
mutant checkpoint-forgets-patience src/train/checkpoint.c 's/p->best_step, p->stale,$/p->best_step, 0,/' tests/test-train
mutant broken-models-pass src/train/step.c '/^int n2d_step_try/,/^}/s/!isfinite(r.sum.loss)/0/;/^int n2d_step_try/,/^}/s/!isfinite(norm)/0/' tests/test-train
mutant update-before-its-gradients src/train/optimiser.c 's/(u->o->chunks - 1) \* N2D_CHUNK >= u->pass/u->o->chunks * N2D_CHUNK >= u->pass/' tests/test-step
mutant packed-before-updated src/train/optimiser.c 's/->at >= o->chunks \* N2D_CHUNK/->at >= (o->chunks - (o->chunks > 1)) * N2D_CHUNK/' tests/test-step
mutant layer-complete-too-soon src/model/stack.c 's/\*r->final = s->sublayers\[i\].at;/*r->final = s->sublayers[i ? i - 1 : i].at;/' tests/test-step
mutant first-batch-updates src/train/step.c 's/(last \&\& update.squares/(last + 1 \&\& update.squares/' tests/test-step
mutant pieces-at-the-same-time src/base/threads.c 's/beside \&\& omp_get_thread_num() == omp_get_num_threads() - 1/beside/' tests/test-base
mutant pieces-beside-all src/base/threads.c 's/run(ctx, NULL, tasks/run(ctx, ctx->beside, tasks/' tests/test-base
mutant trying-is-a-pass src/train/step.c 's/^\to->passes = passes;//' tests/test-train
mutant output-room-by-even-chunks src/layer/output.c 's/size_t m = most_rows(n, V)/size_t m = chunk_rows(n, V)/' tests/test-transformer
mutant every-step-observed src/op/recurrent.c 's/j->steps = ctx->trace \&\& ctx->trace->steps/j->steps = ctx->trace != NULL/' tests/test-layers
mutant kept-weights-counted-again src/layer/attention.c 's/back ? 4 : 2/back ? 5 : 2/' tests/test-layers
mutant checkpoint-best-by-place src/train/checkpoint.c 's/steps\[i\] == also/i == also/' tests/test-train
mutant average-of-one-less src/model/average.c 's/w->sum\[i\] \/ (double)count/w->sum[i] \/ (double)(count > 1 ? count - 1 : 1)/' tests/test-average
mutant average-summed-in-float src/model/average.c 's/w->sum\[i\] += (double)w->values\[i\]/w->sum[i] = (double)((float)w->sum[i] + w->values[i])/' tests/test-average

# Threads, memory, positions.
mutant workers-keep-denormals src/base/threads.c '/^static void parallel/,/^}/s/uint64_t fp = n2d_fpenv_flush();/& if (omp_get_thread_num()) n2d_fpenv_restore(fp);/' tests/test-base
mutant threads-do-not-help src/base/threads.c '/^static void take/,/^}/s/i < shares/i < 1/' tests/test-base
mutant threads-begin-anywhere src/base/threads.c '/^static void take/,/^}/s/thread + i/i/' tests/test-base
mutant team-keeps-denormals src/base/threads.c '/^void n2d_team/,/omp_get_num_threads/s/uint64_t fp = n2d_fpenv_flush();/& if (omp_get_thread_num()) n2d_fpenv_restore(fp);/' tests/test-base
mutant caller-left-flushing src/base/threads.c '/^static void run(/,/^}/s/^\tn2d_fpenv_restore(fp);//' tests/test-base
mutant cos-with-its-own-exponent src/op/position.c 's/(float)cos(x)/(float)cos(x * pow(10000, -1 \/ (double)D))/' tests/op-pointwise
mutant workspace-not-aligned src/base/arena.c 's/n2d_round_up(bytes, N2D_ALIGN)/n2d_round_up(bytes, 4)/' tests/test-base
mutant nine-rounds src/base/rng.c 's/round < 10/round < 9/' tests/test-base
mutant memory-not-asked-for src/base/arena.c 's/size > SURE \&\& size > n2d_memory_available()/0/' tests/test-base

# Golden values of operators.
mutant adam-starts-biased src/op/adam.c 's/1 - pow(a->beta1, t)/1/' tests/op-pointwise
mutant padding-is-counted src/op/loss.c 's/if (target\[i\] >= 0) {/if (target[i] >= -1) {/' tests/op-pointwise
mutant padding-keeps-its-logits src/op/loss.c 's/^\tmemset(j->dz .*//' tests/op-pointwise
mutant loss-of-the-first-row src/op/loss.c 's/sum->loss += row_loss\[i\]/sum->loss += row_loss[0]/' tests/op-pointwise
mutant repeated-word-overwritten src/op/embed.c 's/axpy(d, j->in + i \* D + c, d, j->scale, n)/scale(d, j->in + i * D + c, j->scale, n)/' tests/op-pointwise
mutant rows-share-statistics src/op/norm.c 's/j->kept_mean\[i\], j->kept_rstd\[i\]/j->kept_mean[0], j->kept_rstd[0]/' tests/op-norm
mutant norm-of-other-eps src/op/norm.c 's/j->gamma, j->beta, D, j->n->eps/j->gamma, j->beta, D, j->n->eps * 2/' tests/op-norm
mutant hidden-key-multiplied simd/body/attn_fwd.c 's/{a->keys, a->first + (ptrdiff_t)r0, a->end + (ptrdiff_t)r0}/{a->keys, -(ptrdiff_t)a->rows, (ptrdiff_t)(a->keys + a->rows)}/' tests/op-attention-bits
mutant unseen-rows-have-weight src/op/attention.c 's/w.keys = n2d_clamp(a->klen\[b\], a->Tk)/w.keys = a->klen[b] ? n2d_clamp(a->klen[b], a->Tk) : a->Tk/' tests/op-attention-bits

# SLEEF's functions, where they are: the right one of each, its tail, its other half.
mutant sleef-exp2-for-exp simd/vsleef.h 's/_expf/_exp2f/' "$(kernel exp_sleef)"
mutant sleef-log2-for-log simd/vsleef.h 's/_logf/_log2f/' "$(kernel log_sleef)"
mutant sleef-sin-for-tanh simd/vsleef.h 's/_tanhf/_sinf/' "$(kernel tanh_sleef)"
mutant sleef-drops-tail simd/body/sleef.c 's/v_storen(y + i, .* n - i); /; /' "$(kernel tanh_sleef)"
mutant sleef-sigmoid-one-sided simd/vsleef.h 's/v_sel(v_lt(x, v_zero()), e, one), v_add/one, v_add/' "$(kernel sigmoid_sleef)"

# Every row of kernels.def has one.
missing=0
for k in $(sed -n 's/^N2D_KERNEL([a-z]*, [a-z]*, \([a-z0-9_]*\), .*/\1/p' "$(dirname "$0")/../simd/kernels.def"); do
	printf '%s\n' "${tests[@]}" | grep -q -- "--kernel $k\$" && continue
	echo "FAIL kernel $k has no planted fault"
	missing=$((missing + 1))
done
[ $missing = 0 ] || { echo "0 passed, $missing failed"; exit 1; }

# ---- the scratch build: out of tree and relative, so that it can be copied for two workers
isa=emu8
for i in avx2 neon; do ./n2d info | grep -qE "^  $i +compiled +supported" && isa=$i; done
without="--disable-emu16 --disable-avx512 --without-benchmark --without-hwloc"
[ $isa = emu8 ] && without="$without --disable-avx2 --disable-neon" || without="$without --disable-emu8"
config=$(./config.status --config 2>/dev/null | grep -oE -e "--(host|build)=[^' ]*" | tr '\n' ' ')
[ -f "$scratch/0/build/libn2d.a" ] || { mkdir -p "$scratch/0/build" &&
	$make -s distdir distdir="$scratch/0/src" >"$scratch/log" 2>&1 &&
	(cd "$scratch/0/build" && ../src/configure $config $without CFLAGS=-O1 >"$scratch/log" 2>&1 &&
		$make -s -j2 libn2d.a >"$scratch/log" 2>&1); } ||
	{ echo "the scratch build failed"; tail -n 20 "$scratch/log"; exit 99; }

link=$scratch/link
mkdir -p "$link"
# run WORKER PROGRAM ARGUMENT...: the first failure ends a test.
run() {
	(cd "$scratch/$1/build" && shift && export N2D_ISA=$isa OMP_WAIT_POLICY=passive CMOCKA_TEST_ABORT=1 srcdir=../src
		case $1 in */test-kernels | tests/mutant) [ $# = 1 ] || set -- "$@" --isa $isa ;; esac
		exec timeout 120 "$@") >"$scratch/$1/log" 2>&1
}
# program NAME: builds it, and keeps the command that links it.
program() {
	[ ! -s "$link/${1##*/}" ] || return 0
	(cd "$scratch/0/build" && rm -f "$1" && $make V=1 "$1") >"$scratch/0/log" 2>&1 || return
	grep -F -e "-o $1 " "$scratch/0/log" | tail -n 1 >"$link/${1##*/}"
}
# objects FILE: what is made from it; from a file of simd/ for the instruction set alone.
objects() {
	local only=/
	case $1 in simd/*) only=/libsimd_${isa}_a- ;; esac
	find simd src -name '*.Po' -exec grep -lF "/$1" {} + | grep -F -e "$only" | sed 's|/\.deps/|/|; s|\.Po$|.o|'
}
try() { # WORKER FILE PROGRAM ARGUMENT...: with the objects of FILE made again; 125 when they or the program cannot be made
	local w=$1 file=$2 command
	shift 2
	(cd "$scratch/$w/build" && o=$(objects "$file") && [ -n "$o" ] && $make -s $o &&
		command=$(sed "s|-o $1 |-o tests/mutant $(echo $o) |" "$link/${1##*/}") && eval "$command") \
		>"$scratch/$w/log" 2>&1 || return 125
	shift
	run "$w" tests/mutant "$@"
}

wanted=" $* "
list=()
for n in "${!names[@]}"; do
	[ $# = 0 ] || case $wanted in *" ${names[n]} "*) ;; *) continue ;; esac
	case ${names[n]} in sleef-*) grep -q 'define HAVE_SLEEF 1' "$scratch/0/build/config.h" || continue ;; esac
	list+=("$n")
done
[ ${#list[@]} -gt 0 ] || { echo "no such mutant: $*"; exit 2; }

failed=0
while read -r t; do
	program ${t%% *} && run 0 $t || { echo "FAIL $t fails on the sources as they are"; tail -n 5 "$scratch/0/log"; failed=$((failed + 1)); }
done < <(for n in "${list[@]}"; do echo "${tests[n]}"; done | sort -u)
[ $failed = 0 ] || exit 1
for w in 1 2; do # 0 stays as it is
	rm -rf "${scratch:?}/$w"
	cp -a "$scratch/0" "$scratch/$w"
done

worker() { # W: every second mutant
	local passed=0 failed=0 k=0 n file
	for n in "${list[@]}"; do
		[ $((k++ % 2 + 1)) = "$1" ] || continue
		file=$scratch/$1/src/${files[n]}
		cp -p "$file" "$scratch/$1/kept"
		sed -i "${edits[n]}" "$file"
		if cmp -s "$file" "$scratch/$1/kept"; then
			echo "FAIL ${names[n]}: its expression changes nothing in ${files[n]}"
			failed=$((failed + 1))
			continue
		fi
		touch "$file"
		try "$1" "${files[n]}" ${tests[n]}
		code=$?
		case $code in
		0) echo "FAIL ${names[n]}: not caught by ${tests[n]}"; failed=$((failed + 1)) ;;
		[1-9] | [1-8][0-9] | 13[0-9]) passed=$((passed + 1)) ;; # failed, or died of a signal
		*) echo "FAIL ${names[n]}: exit code $code"; tail -n 5 "$scratch/$1/log"; failed=$((failed + 1)) ;;
		esac
		cp "$scratch/$1/kept" "$file"
	done
	echo "$passed $failed" >"$scratch/$1/verdict"
}
# The shell tells of every test that aborts: that is what they are to do.
worker 1 2>/dev/null &
worker 2 2>/dev/null
wait
read -r p1 f1 <"$scratch/1/verdict"
read -r p2 f2 <"$scratch/2/verdict"
echo "$isa: ${#list[@]} planted faults"
echo "$((p1 + p2)) passed, $((f1 + f2)) failed"
[ $((f1 + f2)) = 0 ]
