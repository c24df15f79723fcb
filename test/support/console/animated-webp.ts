/** One picture of an animation. */
export interface Frame {
  /** A WebP file. */
  readonly webp: Buffer;
  /** How long it is shown. */
  readonly durationMs: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const ANIMATION_FLAG = 0x02;
/** Each frame covers the whole picture, so it is not blended with the one before. */
const NO_BLENDING = 0x02;
/** The largest duration that 24 bits hold. */
const MAX_DURATION_MS = 0xffffff;

/**
 * Joins WebP pictures of one size to an animated WebP that repeats for ever. The pictures are not encoded again: the
 * file is a container. Format: https://developers.google.com/speed/webp/docs/riff_container
 */
export function animatedWebp(frames: readonly Frame[], { width, height }: Size): Buffer {
  const canvas = Buffer.concat([u32(ANIMATION_FLAG), u24(width - 1), u24(height - 1)]);
  const animation = Buffer.alloc(6); // a transparent background, and a loop without end
  const parts = [chunk('VP8X', canvas), chunk('ANIM', animation)];
  for (const { webp, durationMs } of frames) {
    const place = Buffer.concat([u24(0), u24(0), u24(width - 1), u24(height - 1)]);
    const timing = Buffer.concat([u24(Math.min(durationMs, MAX_DURATION_MS)), Buffer.of(NO_BLENDING)]);
    parts.push(chunk('ANMF', Buffer.concat([place, timing, ...pictureOf(webp)])));
  }
  return riff(parts);
}

/** The chunks of a still picture that an animation may hold: its pixels and its transparency. */
function pictureOf(webp: Buffer): Buffer[] {
  if (webp.toString('latin1', 0, 4) !== 'RIFF' || webp.toString('latin1', 8, 12) !== 'WEBP')
    throw new Error('a frame is not a WebP file');
  const parts: Buffer[] = [];
  for (let start = 12; start + 8 <= webp.length; ) {
    const name = webp.toString('latin1', start, start + 4);
    const size = webp.readUInt32LE(start + 4);
    const end = start + 8 + size + (size % 2);
    if (['VP8 ', 'VP8L', 'ALPH'].includes(name)) parts.push(webp.subarray(start, end));
    start = end;
  }
  return parts;
}

function riff(parts: readonly Buffer[]): Buffer {
  return chunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...parts]));
}

function chunk(name: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(name), u32(data.length), data, Buffer.alloc(data.length % 2)]);
}

function u24(value: number): Buffer {
  const bytes = Buffer.alloc(3);
  bytes.writeUIntLE(value, 0, 3);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
