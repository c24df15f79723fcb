import { z } from 'zod';
import { Grant, NewGrant } from '../core/access/grant.ts';
import { SessionId } from '../core/ids.ts';
import { Timestamp } from '../core/timestamp.ts';

const timestamp = Timestamp;

/** Body of `POST /api/sessions/{sessionId}/grants`. */
export const CreateGrantRequest = NewGrant.refine(
  ({ principal, role }) => (principal === undefined) !== (role === undefined),
  { path: ['principal'], error: 'must be given, or else role: exactly one of the two' },
);

/** Path of `/api/sessions/{sessionId}/grants/{grantId}`. */
export const GrantPath = z.object({ sessionId: SessionId, grantId: z.string().min(1) });
export const GrantsPath = z.object({ sessionId: SessionId });

export const GrantResponse = z.object({ grant: Grant, timestamp });
export type GrantResponse = z.infer<typeof GrantResponse>;

export const GrantsResponse = z.object({
  grants: z.array(Grant).readonly().describe('In the order of their creation.'),
  timestamp,
});
export type GrantsResponse = z.infer<typeof GrantsResponse>;

export const RevokeGrantResponse = z.object({ status: z.literal('revoked'), grant: Grant, timestamp });
export type RevokeGrantResponse = z.infer<typeof RevokeGrantResponse>;
