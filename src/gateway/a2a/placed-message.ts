import { z } from 'zod';
import type { Message } from './a2a-objects.ts';

/** A message in a context or a task that its client knows. It counts once, by its id, however often it is sent. */
export function isPlaced({ contextId, taskId }: Pick<Message, 'contextId' | 'taskId'>): boolean {
  return contextId !== undefined || taskId !== undefined;
}

const id = z.string().optional().catch(undefined);
const Sent = z.object({ message: z.object({ contextId: id, taskId: id }) });
const Body = z.union([Sent, z.object({ params: Sent }).transform(({ params }) => params)]);

/** Whether a request of either binding brings such a message. */
export function bringsPlaced(body: unknown): boolean {
  const { data } = Body.safeParse(body);
  return data !== undefined && isPlaced(data.message);
}
