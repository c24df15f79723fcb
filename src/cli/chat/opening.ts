import { z } from 'zod';
import { PendingInput } from '../../core/session/session-view.ts';
import type { RemoteService } from '../service/remote-service.ts';
import { readAnswer, ServiceRefusal } from '../service/request-service.ts';

const Approval = z.object({
  turnId: z.string(),
  callId: z.string(),
  toolName: z.string(),
  serverId: z.string().nullable(),
  arguments: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
});
export type Approval = z.infer<typeof Approval>;

const Said = z
  .object({ role: z.string(), content: z.string(), correction: z.literal(true).optional() })
  .transform(({ role, content, correction }) => ({ role: correction ? 'service' : role, content }));
/** One message of the conversation. `service` tells the model why its reply does not have the wanted form. */
export type Said = z.infer<typeof Said>;

const Opening = z.object({
  /** Seq of the last event. Events up to it are not shown again. */
  head: z.int(),
  openTurnId: z.string().nullable(),
  approvals: z.array(Approval),
  /** What tool servers ask; absent if there is nothing. */
  inputs: z.array(PendingInput).optional(),
  history: z.array(Said),
});
/** The conversation as it is when the chat begins. */
export type Opening = z.infer<typeof Opening>;

const nothing: Opening = { head: 0, openTurnId: null, approvals: [], history: [] };
const Answer = z.object({ session: Opening });
/** Reads the session from the service. Rejects with advice if no service answers. */
export async function readOpening(service: RemoteService, session: string): Promise<Opening> {
  try {
    const answer = await readAnswer(service, `api/sessions/${encodeURIComponent(session)}`, Answer);
    return answer.session;
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error;
    if (error.code === 'SESSION_NOT_FOUND') return nothing;
    // In mcp mode the service knows no such path.
    if (error.code !== 'INVALID_REQUEST') throw error;
    throw new Error(`the service at ${service.url} has no chat: ${error.message} Is it in web mode?`, {
      cause: error,
    });
  }
}
