"""The hash BLAKE3 (github.com/BLAKE3-team/BLAKE3-specs), 32 bytes without key: the checksum of checkpoints."""

IV = [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19]
ORDER = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8]
LANES = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8
MASK = 0xFFFFFFFF


def compress(chaining, block, counter, length, flags):
    words = [int.from_bytes(block[at:at + 4], "little") for at in range(0, 64, 4)]
    v = chaining + IV[:4] + [counter & MASK, counter >> 32, length, flags]
    for _ in range(7):
        for lane, (a, b, c, d) in enumerate(LANES):
            for word, left, right in ((words[2 * lane], 16, 12), (words[2 * lane + 1], 8, 7)):
                v[a] = (v[a] + v[b] + word) & MASK
                v[d] = turn(v[d] ^ v[a], left)
                v[c] = (v[c] + v[d]) & MASK
                v[b] = turn(v[b] ^ v[c], right)
        words = [words[at] for at in ORDER]
    return [v[at] ^ v[at + 8] for at in range(8)]


def turn(word, by):
    return (word >> by) | (word << (32 - by)) & MASK


def node(data, counter, root):
    """The chaining value of a part that begins at chunk `counter`."""
    if len(data) > 1024:
        # The left half is the largest power of two of chunks that leaves something to the right.
        left = 1024 << (((len(data) - 1) // 1024).bit_length() - 1)
        halves = node(data[:left], counter, 0) + node(data[left:], counter + left // 1024, 0)
        block = b"".join(word.to_bytes(4, "little") for word in halves)
        return compress(IV, block, 0, 64, PARENT | root)
    chaining = IV
    blocks = [data[at:at + 64] for at in range(0, len(data), 64)] or [b""]
    for number, block in enumerate(blocks):
        flags = CHUNK_START * (number == 0) | (CHUNK_END | root) * (number == len(blocks) - 1)
        chaining = compress(chaining, block.ljust(64, b"\0"), counter, len(block), flags)
    return chaining


def blake3(data):
    return b"".join(word.to_bytes(4, "little") for word in node(data, 0, ROOT))
