"""What may befall the bytes of a file: damage of every size, and edits that only text knows.

A mutator takes bytes and a ``random.Random`` and gives other bytes.
"""

import re
import struct

INTERESTING = (0, 1, -1, 2, 7, 8, 64, 127, 128, 255, 256, 32767, 65535, 65536, 2**24, 2**31 - 1)
INTERESTING += (2**31, 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**63))
NUMBERS = ("0", "-1", "1e308", "1e999", "-1e-999", "9" * 25, "9" * 400, "9" * 5000, "nan", "inf")
NUMBERS += ("-0", "0x1F", "1_000", "1.2.3", "1,5", "+", "1e", "٣", "18446744073709551616", "True")
TOKENS = (
    '"',
    '""',
    "'",
    ",",
    ";",
    "\t",
    "|",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\0",
    "\x1b[2J",
    "\x1a",
    "\\",
)
TOKENS += ("\ufeff", "\u2028", "\U0001f600", "e\u0301", "NA", "?", "#", "=1+1", "{", "[", "//", "ü")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "utf-7")
#: Rarely a mutant is large, since every byte costs time.
LONG = 200_000


def damaged(data, random):
    """One to four kinds of damage, one after the other."""
    for _ in range(random.choice((1, 1, 1, 2, 3, 4))):
        data = random.choice(BYTES)(data, random)
    return data


def rewritten(data, random):
    """The same for text, with some damage to its bytes now and then."""
    for _ in range(random.choice((1, 1, 2, 3, 4))):
        data = random.choice(TEXT)(data, random)
    return damaged(data, random) if random.random() < 0.2 else data


def spliced(data, other, random):
    """The beginning of one file and the end of another."""
    return data[: random.randint(0, len(data))] + other[random.randint(0, len(other)) :]


def _place(data, random):
    """Somewhere in the file, more often where something is written or near an end."""
    for _ in range(20):
        place = random.randrange(len(data))
        if data[place]:
            return place
    return random.choice((0, len(data) - 1))


def _piece(data, random):
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.choice((1, 2, 4, 8, 16, 64, 256, 4096)))


def _flip(data, random):
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 8)) if data else 0):
        changed[_place(data, random)] ^= 1 << random.randrange(8)
    return bytes(changed)


def _set(data, random):
    changed = bytearray(data)
    for _ in range(random.choice((1, 2, 4)) if data else 0):
        changed[_place(data, random)] = random.choice((0, 1, 127, 128, 255, random.randrange(256)))
    return bytes(changed)


def _cut(data, random):
    return data[: random.choice((random.randint(0, len(data)), max(0, len(data) - 1)))]


def _remove(data, random):
    start, stop = _piece(data, random)
    return data[:start] + data[stop:]


def _repeat(data, random):
    start, stop = _piece(data, random)
    return data[:stop] + data[start:stop] * random.choice((1, 2, 50)) + data[stop:]


def _insert(data, random):
    start, _ = _piece(data, random)
    size = random.choice((1, 2, 4, 8, 64, 1000))
    new = random.choice((bytes(size), b"\xff" * size, random.randbytes(size)))
    return data[:start] + new + data[start:]


def _exchange(data, random):
    (a, b), (c, d) = sorted((_piece(data, random), _piece(data, random)))
    return data if b > c else data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _number(data, random):
    """Take some bytes for a number, such as a length, and write another one there."""
    size = random.choice((1, 2, 4, 4, 8, 8))
    if len(data) < size:
        return data
    place = min(_place(data, random), len(data) - size)
    place -= random.choice((0, 0, place % 4, place % 8))
    kind = random.choice("<>") + {1: "B", 2: "H", 4: "I", 8: "Q"}[size]
    old = struct.unpack_from(kind, data, place)[0]
    near = (old + 1, old - 1, old * 2, old // 2, -old, len(data))
    new = random.choice((random.choice(INTERESTING), random.choice(near)))
    changed = bytearray(data)
    struct.pack_into(kind, changed, place, new % 2 ** (8 * size))
    return bytes(changed)


def _digits(data, random):
    """Replace a number that is written in digits, also in headers of binary files."""
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return data
    number = random.choice(found)
    new = random.choice((random.choice(NUMBERS), str(random.choice(INTERESTING)))).encode()
    return data[: number.start()] + new + data[number.end() :]


BYTES = (_flip, _set, _cut, _remove, _repeat, _insert, _exchange, _number, _number, _digits)


def _token(data, random):
    """Signs that mean something to a parser, at any place or after another such sign."""
    token = random.choice(TOKENS).encode() * random.choice((1, 1, 1, 2, 30))
    places = [found.start() for found in re.finditer(rb"[,;\t|\"\n:]", data)]
    place = random.choice(places) if places and random.random() < 0.5 else None
    place = random.randint(0, len(data)) if place is None else place
    return data[:place] + token + data[place + random.choice((0, 0, 1)) :]


def _separator(data, random):
    old, new = random.sample([b",", b";", b"\t", b"|", b" ", b"\n", b"\r\n", b"\r"], 2)
    return data.replace(old, new, random.choice((-1, 1, 3)))


def _lines(data, random):
    lines = data.split(b"\n")
    edit = random.randrange(6)
    place = random.randrange(len(lines))
    if edit == 0:
        del lines[place]
    elif edit == 1:
        lines.insert(place, random.choice(lines))
    elif edit == 2:
        lines[place] += b"," + random.choice(lines)
    elif edit == 3:
        lines[place] = lines[place][: random.randint(0, len(lines[place]))]
    elif edit == 4:
        random.shuffle(lines)
    else:
        lines *= random.choice((2, 20, 200))
    return b"\n".join(lines)


def _encode(data, random):
    text = data.decode("utf-8", errors="replace")
    return text.encode(random.choice(ENCODINGS), errors="replace")


def _long(data, random):
    """A line, a cell or a row of cells that has no end."""
    if random.random() > 0.05:
        return data
    place = random.randint(0, len(data))
    size = random.choice((4_000, LONG))
    unit = random.choice(
        (b"a", b'"', b",", b"1", b"1,", b"\n", b" ", b"\xc3\xbc", b"1;", b"[", b'"a')
    )
    return data[:place] + unit * (size // len(unit)) + data[place:]


TEXT = (_token, _token, _digits, _digits, _separator, _lines, _encode, _long, _flip, _remove)
