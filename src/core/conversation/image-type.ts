import type { Image } from './image.ts';

interface Beginning {
  readonly mimeType: Image['mimeType'];
  readonly bytes: string;
  /** Where the bytes are. In a file of RIFF, its size comes before its format. */
  readonly at?: number;
}

const BEGINNINGS: readonly Beginning[] = [
  { mimeType: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { mimeType: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { mimeType: 'image/gif', bytes: 'GIF87a' },
  { mimeType: 'image/gif', bytes: 'GIF89a' },
  { mimeType: 'image/webp', bytes: 'WEBP', at: 8 },
];
/** Characters of base64 that hold all of these bytes. */
const BEGINNING_LENGTH = 16;

/** The type of an image by its first bytes; undefined if they are those of none. */
export function imageTypeOf({ base64 }: Pick<Image, 'base64'>): Image['mimeType'] | undefined {
  const first = atob(base64.slice(0, BEGINNING_LENGTH));
  return BEGINNINGS.find(({ bytes, at = 0 }) => first.startsWith(bytes, at))?.mimeType;
}

/** What is wrong with the type that a client says, if the first bytes are those of another one. Other bytes may be anything. */
export function wrongTypeOf(image: {
  readonly base64: string;
  readonly mimeType: string;
}): string | undefined {
  const found = imageTypeOf(image);
  return found === undefined || found === image.mimeType
    ? undefined
    : `must be ${found}, as the first bytes of the image say`;
}
