import { crc32, deflateSync } from 'node:zlib';
import type { Image } from '../../core/conversation/image.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Some providers refuse images that are smaller than their patches. */
const SIDE = 64;
/** A colour with one common name, which a model that sees nothing would hardly guess. */
const YELLOW = [255, 255, 0];
const BITS = 8;
const TRUECOLOUR = 2;

/** A square PNG that is yellow all over. */
export function yellowImage(): Image {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(SIDE, 0);
  header.writeUInt32BE(SIDE, 4);
  header.set([BITS, TRUECOLOUR], 8);
  // Each line begins with its filter type, 0 for none.
  const line = Buffer.from([0, ...Array.from({ length: SIDE }, () => YELLOW).flat()]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: SIDE }, () => line)));
  const chunks = [chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))];
  return { mimeType: 'image/png', base64: Buffer.concat([SIGNATURE, ...chunks]).toString('base64') };
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}
