import { z } from 'zod';
import { optional } from '../../../wire/requests.ts';
import { InputItem } from '../responses/response-request.ts';

const MAX_PAIRS = 16;

const Metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= MAX_PAIRS, `must have at most ${MAX_PAIRS} pairs`);

const Items = z
  .array(InputItem)
  .max(20, 'must have at most 20 items')
  .describe('Messages, calls of functions and their results. Instructions belong to a response.');

export const NewConversation = z.object({
  metadata: optional(Metadata),
  items: optional(Items).describe('How the conversation begins.'),
});

export const ConversationUpdate = z.object({
  metadata: Metadata.nullable().describe('In place of the present one.'),
});

export const NewItems = z.object({ items: Items.min(1, 'must not be empty') });

export const Conversation = z.object({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int().describe('Unix seconds.'),
  metadata: z.record(z.string(), z.string()),
});
export type Conversation = z.infer<typeof Conversation>;

export const DeletedConversation = z.object({
  id: z.string(),
  object: z.literal('conversation.deleted'),
  deleted: z.literal(true),
});
export type DeletedConversation = z.infer<typeof DeletedConversation>;
