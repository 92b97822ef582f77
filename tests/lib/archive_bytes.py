"""Bytes of tar and zip archives, made by hand: Python's libraries refuse to lie."""
import io
import struct
import tarfile
import zipfile
import zlib


# ---- tar ----


def tar_header(
    name,
    size=0,
    kind=b"0",
    link="",
    mode=0o644,
    prefix=b"",
    major=0,
    minor=0,
    uid=0,
    size_field=None,
):
    name = name if isinstance(name, bytes) else name.encode()
    link = link if isinstance(link, bytes) else link.encode()
    h = bytearray(512)
    h[0 : min(len(name), 100)] = name[:100]
    h[100:108] = b"%07o\0" % mode
    h[108:116] = b"%07o\0" % uid
    h[116:124] = b"%07o\0" % uid
    h[124:136] = size_field if size_field is not None else b"%011o\0" % size
    h[136:148] = b"%011o\0" % 1700000000
    h[156:157] = kind
    h[157 : 157 + min(len(link), 100)] = link[:100]
    h[257:265] = b"ustar\x0000"
    h[265:269] = b"root"
    h[329:337] = b"%07o\0" % major
    h[337:345] = b"%07o\0" % minor
    h[345 : 345 + len(prefix)] = prefix
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)


def tar_entry(name, data=b"", **more):
    pad = -len(data) % 512
    return tar_header(name, len(data), **more) + data + bytes(pad)


def pax(records, name="pax", kind=b"x"):
    body = b""
    for key, value in records:
        value = value if isinstance(value, bytes) else value.encode()
        line = b" " + key.encode() + b"=" + value + b"\n"
        n = len(line)
        while len(str(n + len(str(n)))) != len(str(n)):
            n += 1
        total = len(line) + len(str(len(line)))
        if len(str(total)) != len(str(len(line))):
            total = len(line) + len(str(total))
        body += str(total).encode() + line
    return tar_entry(name, body, kind=kind)


def gnu_long(name, kind=b"L"):
    return tar_entry("././@LongLink", name + b"\0", kind=kind)


def tar(*entries, end=True):
    return b"".join(entries) + (bytes(1024) if end else b"")


def directory(name, **more):
    return tar_header(name, kind=b"5", **{"mode": 0o755, **more})


def symlink(name, target):
    return tar_header(name, kind=b"2", link=target, mode=0o777)


def hardlink(name, target):
    return tar_header(name, kind=b"1", link=target)


# ---- zip ----


def zip_file(
    name,
    data=b"x",
    method=0,
    flags=0,
    local_name=None,
    local_size=None,
    crc=None,
    mode=0o100644,
    made_by=3,
    packed=None,
    size=None,
    extra=b"",
):
    """One (local part, central part without its offset)."""
    name = name if isinstance(name, bytes) else name.encode()
    local_name = name if local_name is None else local_name
    crc = zlib.crc32(data) if crc is None else crc
    if packed is None:
        packed = data if method == 0 else zlib.compress(data)[2:-4]
    size = len(data) if size is None else size
    lsize = size if local_size is None else local_size
    local = (
        struct.pack(
            "<4sHHHHHIIIHH",
            b"PK\3\4",
            20,
            flags,
            method,
            0,
            0x5000,
            crc,
            len(packed),
            lsize,
            len(local_name),
            len(extra),
        )
        + local_name
        + extra
        + packed
    )
    central = (
        struct.pack(
            "<4sHHHHHHIIIHHHHHI",
            b"PK\1\2",
            made_by << 8 | 20,
            20,
            flags,
            method,
            0,
            0x5000,
            crc,
            len(packed),
            size,
            len(name),
            len(extra),
            0,
            0,
            0,
            (mode << 16) & 0xFFFFFFFF,
        ),
        name + extra,
    )
    return local, central


def zip_join(files, prefix=b"", comment=b"", count=None, offset_of=None):
    out, central = bytearray(prefix), bytearray()
    for i, (local, (head, tail)) in enumerate(files):
        at = len(out) if offset_of is None else offset_of(i, len(out))
        out += local
        central += head + struct.pack("<I", at) + tail
    start = len(out)
    n = len(files) if count is None else count
    return bytes(
        out
        + central
        + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, n, n, len(central), start, len(comment))
        + comment
    )


def good_zip(files, compression=zipfile.ZIP_DEFLATED):
    buf = io.BytesIO()
    with zipfile.ZipFile(buf, "w", compression) as z:
        for name, data in files.items():
            z.writestr(name, data)
    return buf.getvalue()


def good_tar(files, mode="w"):
    buf = io.BytesIO()
    with tarfile.open(fileobj=buf, mode=mode, format=tarfile.PAX_FORMAT) as t:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            if data == "dir":
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                t.addfile(info)
            elif isinstance(data, str):
                info.type, info.linkname = tarfile.SYMTYPE, data[3:]
                t.addfile(info)
            else:
                info.size = len(data)
                t.addfile(info, io.BytesIO(data))
    return buf.getvalue()
