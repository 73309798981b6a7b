// A ZIP archive from files in memory; the same files give the same bytes.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";

const table = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

export function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = table[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

/** The files below `name`, relative to `root`, in the order of the alphabet. */
export function files(root, name) {
  if (!statSync(join(root, name)).isDirectory()) return [name];
  return readdirSync(join(root, name)).sort().flatMap((inner) => files(root, `${name}/${inner}`));
}

/** The archive of `[name, bytes]` pairs. */
export function zip(entries) {
  const local = [], central = [];
  let offset = 0;
  for (const [name, bytes] of entries) {
    const path = Buffer.from(name), packed = deflateRawSync(bytes, { level: 9 });
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0); // version needed
    fields.writeUInt16LE(0x0800, 2); // names are UTF-8
    fields.writeUInt16LE(8, 4); // deflate
    fields.writeUInt16LE(0x21, 8); // 1 January 1980
    fields.writeUInt32LE(crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(bytes.length, 18);
    fields.writeUInt16LE(path.length, 22);
    local.push(Buffer.from("PK\x03\x04"), fields, path, packed);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(0o100644 * 0x10000, 6);
    rest.writeUInt32LE(offset, 10);
    central.push(Buffer.from("PK\x01\x02\x14\x03"), fields, rest, path);
    offset += 30 + path.length + packed.length;
  }
  const size = central.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...local, ...central, Buffer.from("PK\x05\x06"), end]);
}
