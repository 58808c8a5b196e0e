"""Reading and writing of safetensors files (github.com/huggingface/safetensors), F32 alone, with numpy and nothing else."""
import json
import struct

import numpy


def write(path, tensors, metadata=None):
    """tensors: {name: array}; metadata: {key: text}."""
    header, parts, end = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    for name, array in tensors.items():
        part = numpy.ascontiguousarray(array, dtype="<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [end, end + len(part)]}
        parts.append(part)
        end += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read(path):
    """({name: float32 array}, metadata). Other types are refused."""
    with open(path, "rb") as f:
        data = f.read()
    begin = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:begin])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, t in header.items():
        if t["dtype"] != "F32":
            raise ValueError(f"{path}: {name} is {t['dtype']}, not F32")
        first, last = (begin + x for x in t["data_offsets"])
        tensors[name] = numpy.frombuffer(data[first:last], dtype="<f4").reshape(t["shape"])
    return tensors, metadata
