import { z } from 'zod';

/** Whatever else a frame has is looked at when its response begins, by code that is loaded then. */
const Part = z.object({ image_url: z.string() }).catch({ image_url: '' });
const Item = z.object({ content: z.array(Part) }).catch({ content: [] });
const Frame = z.object({ input: z.array(Item) });

/** Length of the data URLs of all images of a frame. */
export function frameImagesLength(frame: unknown): number {
  const items = Frame.safeParse(frame).data?.input ?? [];
  return items.flatMap(({ content }) => content).reduce((sum, { image_url }) => sum + image_url.length, 0);
}
