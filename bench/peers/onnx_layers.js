// ONNX Runtime's layers and products on the shapes of ours: a peer of `n2d-bench layers --peers` and `kernels --peers`, which start it and ask as
// they ask torch_layers.py; a product is `open ID product forward M N K`: A[M,K] and the constant W[N,K] are in the file, C = A W^T is its result.
//
//     node onnx_layers.js FILE THREADS [DIRECTORY]
//
// DIRECTORY is where `npm install onnxruntime-node` was run. The model of a layer is made here (onnx.js), its weights are constants of it, so that
// ONNX Runtime packs them when the session is made, with all of its graph optimisations. Forward only. Input and output are [B,n,D] as ours: a convolution
// transposes both, recurrent layers where B > 1; input and output tensors are made once. A call takes 25 us
// however small the layer is.
//
// Self-attention is com.microsoft's Attention and a product, GRU has linear_before_reset, the feed-forward network two Gemm and Relu.
"use strict";

const fs = require("fs");
const path = require("path");
const readline = require("readline");
const { model } = require("./onnx.js");

function load(directory) {
	try {
		const file = require.resolve("onnxruntime-node", { paths: [directory || process.cwd()] });
		const version = JSON.parse(fs.readFileSync(path.join(file.slice(0, file.lastIndexOf("onnxruntime-node")), "onnxruntime-node/package.json"))).version;
		return { ort: require(file), version };
	} catch (error) {
		console.log(`${error.message.split("\n")[0]}; npm install onnxruntime-node, and --peer-path onnxruntime=DIRECTORY says where`);
		process.exit(1);
	}
}

// ---- parameters: taken one after the other, and rearranged

function taker(params) {
	let at = 0;
	return (n) => params.subarray(at, (at += n));
}

// Blocks of n floats in another order.
function blocks(from, n, order) {
	const to = new Float32Array(order.length * n);
	order.forEach((block, i) => to.set(from.subarray(block * n, (block + 1) * n), i * n));
	return to;
}

function transposed(from, rows, columns) {
	const to = new Float32Array(from.length);
	for (let i = 0; i < rows; i++)
		for (let j = 0; j < columns; j++)
			to[j * rows + i] = from[i * columns + j];
	return to;
}

function joined(a, b) {
	const to = new Float32Array(a.length + b.length);
	to.set(a);
	to.set(b, a.length);
	return to;
}

// ---- layers: nodes and constants between x and y, both [B,n,D]

const ints = (...values) => [[values.length], BigInt64Array.from(values.map(BigInt))];
const transpose = (from, to, perm) => ({ op: "Transpose", inputs: [from], outputs: [to], attributes: { perm } });
const reshape = (from, to, shape) => ({ op: "Reshape", inputs: [from, shape], outputs: [to] });
const gemm = (from, to, weight, bias) => ({ op: "Gemm", inputs: [from, weight, bias], outputs: [to], attributes: { transB: 1 } });

function attention({ B, n, D, H, causal }, take) {
	const w = transposed(take(3 * D * D), 3 * D, D), b = take(3 * D), out = take(D * D), bias = take(D);
	const nodes = [
		{ op: "Attention", domain: "com.microsoft", inputs: ["x", "w", "b"], outputs: ["heads"], attributes: { num_heads: H, unidirectional: causal } },
		reshape("heads", "rows", "flat"), gemm("rows", "mixed", "out", "bias"), reshape("mixed", "y", "whole"),
	];
	return { nodes, constants: { w: [[D, 3 * D], w], b: [[3 * D], b], out: [[D, D], out], bias: [[D], bias], flat: ints(B * n, D), whole: ints(B, n, D) } };
}

// ONNX has the gates in another order than PyTorch and we: i o f c, and z r h.
const cells = { rnn: ["RNN", [0], {}], lstm: ["LSTM", [0, 3, 1, 2], {}], gru: ["GRU", [1, 0, 2], { linear_before_reset: 1 }] };

function recurrent({ B, n, D }, take, kind) {
	const [op, order, more] = cells[kind], G = order.length;
	const [w, u, b, c] = [D * D, D * D, D, D].map((size) => blocks(take(G * size), size, order));
	const x = B > 1 ? "steps" : "x0", nodes = [
		B > 1 ? transpose("x", x, [1, 0, 2]) : reshape("x", x, "in"),
		{ op, inputs: [x, "w", "u", "b"], outputs: ["h"], attributes: { hidden_size: D, ...more } },
	];
	if (B > 1)
		nodes.push(reshape("h", "h3", "out"), transpose("h3", "y", [1, 0, 2]));
	else
		nodes.push(reshape("h", "y", "out"));
	const constants = { w: [[1, G * D, D], w], u: [[1, G * D, D], u], b: [[1, 2 * G * D], joined(b, c)], out: B > 1 ? ints(n, B, D) : ints(B, n, D) };
	return { nodes, constants: B > 1 ? constants : { ...constants, in: ints(n, B, D) } };
}

function padding({ W, dilation, causal }) {
	const whole = (W - 1) * dilation;
	return causal ? [whole, 0] : [whole / 2, whole / 2];
}

function convolution(s, take) {
	const { D, W, dilation } = s, weight = take(D * D * W), bias = take(D);
	const nodes = [
		transpose("x", "rows", [0, 2, 1]),
		{ op: "Conv", inputs: ["rows", "weight", "bias"], outputs: ["mixed"], attributes: { pads: padding(s), dilations: [dilation], kernel_shape: [W] } },
		transpose("mixed", "y", [0, 2, 1]),
	];
	return { nodes, constants: { weight: [[D, D, W], weight], bias: [[D], bias] } };
}

function separable(s, take) {
	const { B, n, D, W, dilation } = s, depth = transposed(take(W * D), W, D), point = take(D * D), bias = take(D);
	const nodes = [
		transpose("x", "rows", [0, 2, 1]),
		{ op: "Conv", inputs: ["rows", "depth"], outputs: ["mixed"], attributes: { pads: padding(s), dilations: [dilation], kernel_shape: [W], group: D } },
		transpose("mixed", "back", [0, 2, 1]), reshape("back", "flat_rows", "flat"), gemm("flat_rows", "done", "point", "bias"), reshape("done", "y", "whole"),
	];
	return { nodes, constants: { depth: [[D, 1, W], depth], point: [[D, D], point], bias: [[D], bias], flat: ints(B * n, D), whole: ints(B, n, D) } };
}

function ffn({ B, n, D, F }, take) {
	const w1 = take(F * D), b1 = take(F), w2 = take(D * F), b2 = take(D);
	const nodes = [
		reshape("x", "rows", "flat"), gemm("rows", "inner", "w1", "b1"), { op: "Relu", inputs: ["inner"], outputs: ["active"] },
		gemm("active", "outer", "w2", "b2"), reshape("outer", "y", "whole"),
	];
	return { nodes, constants: { w1: [[F, D], w1], b1: [[F], b1], w2: [[D, F], w2], b2: [[D], b2], flat: ints(B * n, D), whole: ints(B, n, D) } };
}

const layers = { "self-attention": attention, rnn: recurrent, lstm: recurrent, gru: recurrent, convolution, "separable-convolution": separable, ffn };

// ---- requests

function floatsOf(fd) {
	const data = new Float32Array(fs.fstatSync(fd).size / 4), bytes = Buffer.from(data.buffer);
	for (let at = 0; at < bytes.length;)
		at += fs.readSync(fd, bytes, at, bytes.length - at, at);
	return data;
}

// Its graph, and the shapes of x and y; x comes first in data.
function product(numbers, data) {
	const [M, N, K] = numbers, weight = data.subarray(M * K, M * K + N * K);
	const nodes = [{ op: "Gemm", inputs: ["x", "weight"], outputs: ["y"], attributes: { transB: 1 } }];
	return { nodes, constants: { weight: [[N, K], weight] }, from: [M, K], to: [M, N] };
}

function layer(kind, numbers, data) {
	const s = {};
	["B", "n", "D", "H", "W", "dilation", "F", "causal"].forEach((name, i) => (s[name] = numbers[i]));
	const dims = [s.B, s.n, s.D];
	return { ...layers[kind](s, taker(data.subarray(2 * s.B * s.n * s.D)), kind), from: dims, to: dims };
}

async function open(ort, fd, threads, words) {
	const [kind, pass, ...rest] = words, numbers = rest.map(Number), data = floatsOf(fd);
	if (pass !== "forward")
		throw new Error("forward only");
	const { nodes, constants, from, to } = kind === "product" ? product(numbers, data) : layer(kind, numbers, data);
	const session = await ort.InferenceSession.create(model(nodes, constants, { x: from }, { y: to }), {
		intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: "sequential", graphOptimizationLevel: "all", logSeverityLevel: 3,
		extra: { session: { set_denormal_as_zero: "1" } },
	});
	const count = (dims) => dims.reduce((a, b) => a * b), tensor = (array, dims) => new ort.Tensor("float32", array, dims);
	return { session, x: { x: tensor(data.slice(0, count(from)), from) }, y: { y: tensor(new Float32Array(count(to)), to) } };
}

async function run({ session, x, y }, calls) {
	const start = process.hrtime.bigint();
	for (let i = 0; i < calls; i++)
		await session.run(x, y);
	return Number(process.hrtime.bigint() - start) / 1e9;
}

async function main() {
	const [file, threads, directory] = process.argv.slice(2);
	const fd = fs.openSync(file, "r+"), { ort, version } = load(directory), cases = new Map(); // before the greeting: then it loses its name
	console.log(`ready\tONNX Runtime ${version}\tmlas`);
	for await (const line of readline.createInterface({ input: process.stdin })) {
		const [what, id, ...words] = line.split(" ");
		let answer = "ok";
		try {
			if (what === "open")
				cases.set(id, await open(ort, fd, Number(threads), words));
			else if (what === "run")
				answer = (await run(cases.get(id), Number(words[0]))).toFixed(9);
			else if (what === "results")
				fs.writeSync(fd, Buffer.from(cases.get(id).y.y.data.buffer), 0, undefined, 0);
			else
				await cases.get(id).session.release(), cases.delete(id);
		} catch (error) {
			answer = "no " + String(error.message).replace(/\s+/g, " ");
		}
		console.log(answer);
	}
}

main();
