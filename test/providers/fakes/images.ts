import type { Image } from '../../../src/core/conversation/image.ts';

/** One pixel each. */
export const images = {
  png: {
    mimeType: 'image/png',
    base64:
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  },
  gif: {
    mimeType: 'image/gif',
    base64: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  },
} as const satisfies Readonly<Record<string, Image>>;
