import { z } from 'zod';
import { PendingApproval } from '../core/session/session-view.ts';

/** Tells who sent a message that it waits behind a turn that waits for approval. */
export const Queued = z.object({
  message: z.string().describe('Says for people which calls need approval, and how to decide about them.'),
  approvals: z.array(PendingApproval).readonly().describe('The calls that wait for approval, oldest first.'),
});
export type Queued = z.infer<typeof Queued>;
