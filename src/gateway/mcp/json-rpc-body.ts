import { z } from 'zod';

const Request = z.object({ method: z.string(), id: z.union([z.string(), z.number()]) });

/** The messages of a body. None if it cannot be read: the transport answers what is wrong with it. */
export function messagesOf(body: string): unknown[] {
  try {
    return [JSON.parse(body)].flat();
  } catch {
    return [];
  }
}

/** The ids of the requests that wait for an answer. */
export function requestIdsOf(body: string): (string | number)[] {
  return messagesOf(body).flatMap((message) => {
    const { data } = Request.safeParse(message);
    return data ? [data.id] : [];
  });
}
