import { z } from 'zod';

/** As much of an AsyncAPI document as its examples need. */
export const AsyncApi = z.looseObject({
  channels: z.record(z.string(), z.looseObject({ messages: z.record(z.string(), z.unknown()) })),
  components: z.looseObject({
    schemas: z.record(z.string(), z.unknown()),
    messages: z.record(
      z.string(),
      z.looseObject({
        payload: z.record(z.string(), z.unknown()),
        examples: z.array(z.strictObject({ payload: z.record(z.string(), z.unknown()) })),
      }),
    ),
  }),
});
export type AsyncApi = z.infer<typeof AsyncApi>;

export interface DocumentedMessage {
  /** Such as `server.chunk`. */
  readonly id: string;
  /** With the schemas that it refers to. */
  readonly payload: Record<string, unknown>;
  readonly examples: readonly Record<string, unknown>[];
}

/** @param group `client`, `server` or `resumable`. */
export function messagesOf({ components }: AsyncApi, group: string): DocumentedMessage[] {
  return Object.entries(components.messages)
    .filter(([id]) => id.startsWith(`${group}.`))
    .map(([id, { payload, examples }]) => ({
      id,
      payload: { ...payload, components: { schemas: components.schemas } },
      examples: examples.map((example) => example.payload),
    }));
}
