import { z } from 'zod';
import { SessionId } from '../core/ids.ts';

const time = z.union(
  [z.iso.date(), z.iso.datetime({ offset: true })],
  'must be a day, which begins at midnight UTC, or a time such as 2026-11-23T12:00:00Z',
);

/** Query of `GET /api/audit`. */
export const AuditQuery = z.object({
  since: time.optional().describe('Only what happened then or later.'),
  until: time.optional().describe('Only what happened before.'),
  principal: z.string().optional().describe('Only what this principal did.'),
  session: SessionId.optional().describe('Only what happened in this session, by its whole id.'),
});
