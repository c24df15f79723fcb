import { z } from 'zod';
import { SessionId } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';

/** What somebody may do with a session of somebody else. Talking and approving include reading. */
export const GrantAccess = z.enum(['read', 'talk', 'approve']);
export type GrantAccess = z.infer<typeof GrantAccess>;

const Grantee = {
  principal: z
    .string()
    .min(1, 'must not be empty')
    .max(600, 'must have at most 600 characters')
    .optional()
    .describe('Who gets it, such as `key:bob`: a principal of the same tenant.'),
  role: z
    .string()
    .min(1, 'must not be empty')
    .max(40, 'must have at most 40 characters')
    .optional()
    .describe('Everybody of the same tenant with this role gets it.'),
};

/** Whom a session is shared with, and for what. It has a principal or a role. */
export const NewGrant = z.object({ ...Grantee, access: GrantAccess });
export type NewGrant = z.infer<typeof NewGrant>;

/** A session is shared. */
export const Grant = z.object({
  grantId: z.string().describe('Names the grant, to revoke it.'),
  sessionId: SessionId,
  ...Grantee,
  access: GrantAccess,
  createdAt: Timestamp,
  createdBy: z.string().describe('The principal who shared the session.'),
});
export type Grant = z.infer<typeof Grant>;

/* The events of grants. Each agent has one stream of them, which is never erased. */

export const SessionShared = z.object({
  type: z.literal('session.shared'),
  grantId: z.string(),
  sessionId: SessionId,
  principal: z.string().optional(),
  role: z.string().optional(),
  access: GrantAccess,
  /** When the session began, as the index of the log says: another one of its name began later. Absent in older events. */
  began: z.int().optional(),
});
export type SessionShared = z.infer<typeof SessionShared>;

/** The session is not shared in this way any more. */
export const GrantRevoked = z.object({ type: z.literal('grant.revoked'), grantId: z.string() });
