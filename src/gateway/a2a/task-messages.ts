import { z } from 'zod';
import type { SessionEventOf } from '../../core/log/events.ts';
import { isoTime } from '../../core/session/view-session.ts';
import { visible } from '../../core/visible.ts';
import { Message, Part } from './a2a-objects.ts';

/** What a tool call waits for, and since when, in milliseconds since the epoch. */
export interface AskedFor {
  readonly request: SessionEventOf<'approval.requested' | 'tool-call.delegated' | 'input.requested'>;
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

/** Asks for what a task waits for: in words, and as one data part for each approval, call or question. */
export function question(asked: readonly AskedFor[]): Part[] {
  return [
    { text: asked.map(sentence).join(' '), mediaType: 'text/plain' },
    ...asked.map((one) => ({ data: described(one), mediaType: 'application/json' })),
  ];
}

function sentence({ request }: AskedFor): string {
  const call = `The tool ${request.toolName} (call ${request.callId})`;
  switch (request.type) {
    case 'approval.requested':
      return `${call} needs approval. Answer approve or deny.`;
    case 'tool-call.delegated':
      return `${call} waits for the client that lent it.`;
    case 'input.requested':
      return `${call} asks: ${inWords(request)}`;
    default:
      return request satisfies never;
  }
}

function inWords({ message, question }: SessionEventOf<'input.requested'>): string {
  switch (question.mode) {
    case 'form':
      return `${message} Answer accept with the content of its form, decline or cancel.`;
    case 'url':
      return `${message} Visit ${visible(question.url)} and answer accept, or answer decline or cancel.`;
    case 'sampling':
      // Nobody should agree to what they have not seen.
      return `${message}\n\n${visible(question.prompt)}\n\nAnswer accept, decline or cancel.`;
    default:
      return question satisfies never;
  }
}

function described({ request, since }: AskedFor): Record<string, unknown> {
  const { callId, toolName, serverId, expiresAfterMs } = request;
  return {
    kind: KINDS[request.type],
    callId,
    toolName,
    serverId,
    ...subject(request),
    ...(expiresAfterMs !== undefined && { expiresAt: isoTime(since + expiresAfterMs) }),
  };
}

const KINDS = {
  'approval.requested': 'approval',
  'tool-call.delegated': 'client-tool',
  'input.requested': 'input',
} as const;

function subject(request: AskedFor['request']): Record<string, unknown> {
  switch (request.type) {
    case 'approval.requested':
      return { arguments: request.arguments, argumentsHash: request.argumentsHash };
    case 'tool-call.delegated':
      return { arguments: request.arguments };
    case 'input.requested':
      return { inputId: request.inputId, message: request.message, question: request.question };
    default:
      return request satisfies never;
  }
}
