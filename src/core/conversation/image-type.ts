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
const WHOLE_BYTES = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const SAME_TYPES: ReadonlyMap<string, string> = new Map([['image/jpg', 'image/jpeg']]);

/** The type of an image by its first bytes; undefined if they are those of none, or no base64. */
export function imageTypeOf({ base64 }: Pick<Image, 'base64'>): Image['mimeType'] | undefined {
  const beginning = base64.slice(0, BEGINNING_LENGTH);
  if (!WHOLE_BYTES.test(beginning)) return undefined;
  const first = atob(beginning);
  return BEGINNINGS.find(({ bytes, at = 0 }) => first.startsWith(bytes, at))?.mimeType;
}

/** The type that a client means: in small letters, and by its usual name. */
export function imageTypeNamed(said: string): string {
  const mimeType = said.toLowerCase();
  return SAME_TYPES.get(mimeType) ?? mimeType;
}

/** What is wrong with the type that a client says, if the first bytes are those of another type that is known. */
export function wrongTypeOf(image: {
  readonly base64: string;
  readonly mimeType: string;
}): string | undefined {
  const found = imageTypeOf(image);
  const mimeType = imageTypeNamed(image.mimeType);
  const isKnown = BEGINNINGS.some((beginning) => beginning.mimeType === mimeType);
  return !isKnown || found === undefined || found === mimeType
    ? undefined
    : `must be ${found}, as the first bytes of the image say`;
}
