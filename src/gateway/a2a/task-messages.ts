import { z } from 'zod';
import type { SessionEventOf } from '../../core/log/events.ts';
import { Message, Part } from './a2a-objects.ts';

/** A tool call that waits for somebody, and since when, in milliseconds since the epoch. */
export interface AskedFor {
  readonly call: SessionEventOf<'approval.requested' | 'tool-call.delegated'>;
  readonly since: number;
}

/** What a message says that is no text and no option of a turn. It is kept as the note of the turn. */
export const MessageNote = z.object({
  a2a: z.object({
    messageId: Message.shape.messageId,
    metadata: Message.shape.metadata,
    /** Present if the message is more than one text. Images are not in it. */
    parts: z.array(Part).optional(),
  }),
});
export type MessageNote = z.infer<typeof MessageNote>;

/** The message that began a task. */
export function requestMessage(
  { turnId, text, image, options }: SessionEventOf<'turn.requested'>,
  ids: { readonly taskId: string; readonly contextId: string },
): Message {
  // The message may have come by another interface.
  const note = MessageNote.safeParse(options?.note).data?.a2a;
  return {
    messageId: note?.messageId ?? turnId,
    ...ids,
    role: 'ROLE_USER',
    parts: [
      ...(note?.parts ?? (text === '' ? [] : [{ text, mediaType: 'text/plain' }])),
      ...(image ? [{ raw: image.base64, mediaType: image.mimeType }] : []),
    ],
    ...(note?.metadata && { metadata: note.metadata }),
  };
}

/** Asks for what a task waits for: in words, and as one data part for each tool call. */
export function question(asked: readonly AskedFor[]): Part[] {
  return [
    { text: asked.map(sentence).join(' '), mediaType: 'text/plain' },
    ...asked.map((one) => ({ data: described(one), mediaType: 'application/json' })),
  ];
}

function sentence({ call }: AskedFor): string {
  const { toolName, callId, type } = call;
  return type === 'approval.requested'
    ? `The tool ${toolName} (call ${callId}) needs approval. Answer approve or deny.`
    : `The tool ${toolName} (call ${callId}) waits for the client that lent it.`;
}

function described({ call, since }: AskedFor): Record<string, unknown> {
  const { callId, toolName, serverId, arguments: args, expiresAfterMs, type } = call;
  return {
    kind: type === 'approval.requested' ? 'approval' : 'client-tool',
    ...{ callId, toolName, serverId, arguments: args },
    ...(call.type === 'approval.requested' && { argumentsHash: call.argumentsHash }),
    ...(expiresAfterMs !== undefined && { expiresAt: new Date(since + expiresAfterMs).toISOString() }),
  };
}
