import { z } from 'zod';

/** Image types that language models accept. */
const imageMimeTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/**
 * An image that came with a message. The pattern repeats no group, because a regular expression that backtracks would
 * run out of stack on megabytes of text.
 */
export const Image = z.object({
  base64: z
    .string()
    .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'must be base64, without line breaks and without a data: prefix')
    .refine((text) => text.length % 4 === 0, 'must be base64 with padding: its length is no multiple of 4'),
  mimeType: z.enum(imageMimeTypes),
});
export type Image = z.infer<typeof Image>;

/** A description in place of the image itself. */
export const ImageDescription = z.object({
  mimeType: z.string(),
  bytes: z.int().describe('Size of the decoded image, in bytes.'),
});
export type ImageDescription = z.infer<typeof ImageDescription>;

export function describeImage(image: Image): ImageDescription {
  return { mimeType: image.mimeType, bytes: imageBytes(image) };
}

/** Size of the decoded image, in bytes. */
export function imageBytes({ base64 }: Pick<Image, 'base64'>): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}
