import { z } from 'zod';
import { AgentId } from '../agent-description.ts';
import { ErrorCode } from '../errors.ts';
import { SessionId } from '../ids.ts';

/**
 * Something that somebody did, or tried to do. It holds no content of a conversation, and nothing of a credential. Without
 * authentication there is none, so the schema is made when it is needed.
 */
export const AuditEntry = z.lazy(entrySchema);
export type AuditEntry = z.infer<ReturnType<typeof entrySchema>>;

function entrySchema() {
  return z.object({
    time: z.string().describe('When it was asked for; of several, the first. ISO 8601.'),
    principal: z
      .string()
      .optional()
      .describe('Who it was. Absent if the credential was refused, and for the token of the inspector.'),
    tenant: z.string().optional(),
    credential: z.string().optional().describe('Names the credential, such as `key:c1Q3mJr7`.'),
    address: z.string().optional().describe('The address of the client.'),
    what: z
      .string()
      .describe(
        'The request, such as `turn.start`; `authenticate`; `audit.dropped` for what there was no room for.',
      ),
    agentId: AgentId.optional().describe('The agent, if the service has several.'),
    sessionId: SessionId.optional().describe('The session, by its id in the log.'),
    subject: z.string().optional().describe('What else it was about: a tool server, a key, a grant, a tool.'),
    approved: z
      .boolean()
      .optional()
      .describe('Of an answer to an approval: whether it approved the tool call.'),
    outcome: z.union([z.literal('ok'), ErrorCode]),
    reason: z
      .string()
      .optional()
      .describe('Why it was refused: the missing scope, or what is wrong with the credential.'),
    count: z
      .int()
      .min(2)
      .optional()
      .describe('How often it happened within about a second, if more than once.'),
  });
}

/** Outcomes that refuse a request because of who asks. With other errors, something may have been done. */
const REFUSALS: readonly AuditEntry['outcome'][] = [
  'UNAUTHORIZED',
  'FORBIDDEN',
  'SESSION_NOT_FOUND',
  'RATE_LIMIT_EXCEEDED',
];

export function isAccessRefusal(outcome: AuditEntry['outcome']): boolean {
  return REFUSALS.includes(outcome);
}

/** The same client did the same in this session, so many milliseconds later, so many times. */
const InOtherSession = z.tuple([z.int().min(0), SessionId, z.int().min(1)]).readonly();
export type InOtherSession = z.infer<typeof InOtherSession>;

/** Entries as they are stored. Those that differ only in their session are one: most of a busy second are messages. */
const StoredAuditEntry = z.lazy(() =>
  entrySchema().extend({ others: z.array(InOtherSession).readonly().optional() }),
);
export type StoredAuditEntry = z.infer<typeof StoredAuditEntry>;

/** What happened within about a second. `dropped` is how much more there was than is kept of one second. */
export const AuditRecorded = z.object({
  type: z.literal('audit.recorded'),
  entries: z.array(StoredAuditEntry).readonly(),
  dropped: z.int().min(1).optional(),
});
export type AuditRecorded = z.infer<typeof AuditRecorded>;
