import { z } from 'zod';

/** Image types that language models accept. */
export const imageMimeTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** An image that came with a message, checked: canonical base64 of an image type a model accepts. */
export const Image = z.object({ base64: z.base64().min(1), mimeType: z.enum(imageMimeTypes) });
export type Image = z.infer<typeof Image>;
