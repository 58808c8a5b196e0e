// Writes ONNX models: the few messages of its protocol buffers that a graph of layers needs (github.com/onnx/onnx, onnx.proto).
"use strict";

const FLOAT = 1, INT64 = 7; // TensorProto.DataType
const IR_VERSION = 8, OPSET = 17;

function varint(value) {
	const bytes = [];
	let v = BigInt.asUintN(64, BigInt(value));
	for (; v > 127n; v >>= 7n)
		bytes.push(Number(v & 127n) | 128);
	bytes.push(Number(v));
	return Buffer.from(bytes);
}

// Fields by number: an integer, or bytes (a string, another message).
const integer = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
function bytes(field, value) {
	const data = typeof value === "string" ? Buffer.from(value) : value;
	return Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);
}
const all = (field, values, write) => Buffer.concat(values.map((v) => write(field, v)));

function attribute(name, value) {
	if (Array.isArray(value))
		return Buffer.concat([bytes(1, name), all(8, value, integer), integer(20, 7)]); // INTS
	return Buffer.concat([bytes(1, name), integer(3, value), integer(20, 2)]); // INT
}

function node({ op, inputs, outputs, attributes = {}, domain = "" }) {
	const attributes_ = Object.entries(attributes).map(([name, value]) => attribute(name, value));
	return Buffer.concat([all(1, inputs, bytes), all(2, outputs, bytes), bytes(4, op), all(5, attributes_, bytes), bytes(7, domain)]);
}

function tensor(name, dims, data) {
	const type = data instanceof Float32Array ? FLOAT : INT64;
	const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
	return Buffer.concat([all(1, dims, integer), integer(2, type), bytes(8, name), bytes(9, raw)]);
}

function value(name, dims) {
	const shape = all(1, dims.map((d) => integer(1, d)), bytes);
	return Buffer.concat([bytes(1, name), bytes(2, bytes(1, Buffer.concat([integer(1, FLOAT), bytes(2, shape)])))]);
}

// nodes: {op, inputs, outputs, attributes, domain}; constants: {name: [dims, Float32Array or BigInt64Array]}; input and output: {name: dims}
function model(nodes, constants, input, output) {
	const each = (object, write) => Object.entries(object).map(write);
	const graph = Buffer.concat([
		all(1, nodes.map(node), bytes),
		bytes(2, "layer"),
		all(5, each(constants, ([name, [dims, data]]) => tensor(name, dims, data)), bytes),
		all(11, each(input, ([name, dims]) => value(name, dims)), bytes),
		all(12, each(output, ([name, dims]) => value(name, dims)), bytes),
	]);
	const set = (domain, version) => Buffer.concat([bytes(1, domain), integer(2, version)]);
	return Buffer.concat([integer(1, IR_VERSION), bytes(7, graph), bytes(8, set("", OPSET)), bytes(8, set("com.microsoft", 1))]);
}

module.exports = { model };
