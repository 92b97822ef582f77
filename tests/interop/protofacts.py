"""Reads a protobuf FileDescriptorSet (standard library only) into plain facts.

A set comes from `protoc --descriptor_set_out` (ours) or from ProtoFacts.java (a Hadoop version's
jars). Names are fully qualified without a leading dot.
"""

TYPES = {
    1: "double",
    2: "float",
    3: "int64",
    4: "uint64",
    5: "int32",
    6: "fixed64",
    7: "fixed32",
    8: "bool",
    9: "string",
    10: "group",
    11: "message",
    12: "bytes",
    13: "uint32",
    14: "enum",
    15: "sfixed32",
    16: "sfixed64",
    17: "sint32",
    18: "sint64",
}
LABELS = {1: "optional", 2: "required", 3: "repeated"}


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """One message as {field number: [values]}."""
    out, at = {}, 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            raise ValueError("wire type %d in a descriptor" % kind)
        out.setdefault(key >> 3, []).append(value)
    return out


def _text(message, number, default=""):
    return message[number][-1].decode() if number in message else default


class Facts:
    """messages: {name: {number: field}}, enums: {name: {value name: number}}, methods:
    {service.method: (request, response)}. A field is a dict of name, label, type, default,
    packed."""

    def __init__(self, path):
        self.messages, self.enums, self.methods = {}, {}, {}
        with open(path, "rb") as f:
            data = f.read()
        for entry in _fields(data).get(1, []):
            self._file(_fields(entry))

    def _file(self, f):
        package = _text(f, 2)
        for m in f.get(4, []):
            self._message(package, _fields(m))
        for e in f.get(5, []):
            self._enum(package, _fields(e))
        for s in f.get(6, []):
            service = _fields(s)
            for raw in service.get(2, []):
                method = _fields(raw)
                self.methods[_text(service, 1) + "." + _text(method, 1)] = (
                    _text(method, 2).lstrip("."),
                    _text(method, 3).lstrip("."),
                )

    def _message(self, scope, m):
        full = scope + "." + _text(m, 1)
        fields = self.messages[full] = {}
        for raw in m.get(2, []):
            d = _fields(raw)
            options = _fields(d[8][-1]) if 8 in d else {}
            kind = TYPES[d[5][0]]
            fields[d[3][0]] = {
                "name": _text(d, 1),
                "label": LABELS[d[4][0]],
                "kind": kind,
                "type": _text(d, 6).lstrip(".") or kind,
                "default": _text(d, 7, None),
                "packed": bool(options.get(2, [0])[-1]),
            }
        for nested in m.get(3, []):
            self._message(full, _fields(nested))
        for e in m.get(4, []):
            self._enum(full, _fields(e))

    def _enum(self, scope, e):
        full = scope + "." + _text(e, 1)
        values = self.enums[full] = {}
        for raw in e.get(2, []):
            v = _fields(raw)
            number = v.get(2, [0])[-1]
            values[_text(v, 1)] = number - (1 << 64) if number >= 1 << 63 else number
