import { z } from 'zod';

/* Of a request that was not looked at yet, too: over WebSocket, the code that does so is loaded later. */
const Part = z.object({ image_url: z.string() }).catch({ image_url: '' });
const Item = z.object({ content: z.array(Part) }).catch({ content: [] });
const Request = z.object({ input: z.array(Item) });

/** Length of the data URLs of all images in the `input` of a request. */
export function imagesLength(request: unknown): number {
  const items = Request.safeParse(request).data?.input ?? [];
  return items.flatMap(({ content }) => content).reduce((sum, { image_url }) => sum + image_url.length, 0);
}
