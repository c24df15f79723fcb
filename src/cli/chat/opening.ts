import { z } from 'zod';

const Approval = z.object({
  turnId: z.string(),
  callId: z.string(),
  toolName: z.string(),
  serverId: z.string().nullable(),
  arguments: z.record(z.string(), z.unknown()),
  argumentsHash: z.string(),
});
export type Approval = z.infer<typeof Approval>;

const Opening = z.object({
  /** Seq of the last event. Events up to it are not shown again. */
  head: z.int(),
  openTurnId: z.string().nullable(),
  approvals: z.array(Approval),
  history: z.array(z.object({ role: z.string(), content: z.string() })),
});
/** The conversation as it is when the chat begins. */
export type Opening = z.infer<typeof Opening>;

const nothing: Opening = { head: 0, openTurnId: null, approvals: [], history: [] };
const Answer = z.object({ session: Opening });
const Refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Reads the session from the service. Rejects with advice if no service answers. */
export async function readOpening(url: string, session: string): Promise<Opening> {
  const address = new URL(`api/sessions/${encodeURIComponent(session)}`, url.endsWith('/') ? url : `${url}/`);
  const body = await ask(address, url);
  const answer = Answer.safeParse(body);
  if (answer.success) return answer.data.session;
  const refusal = Refusal.safeParse(body);
  if (!refusal.success)
    throw new Error(`the server at ${url} is not an agent-service; name another address with --url`);
  const { code, message } = refusal.data.error;
  if (code === 'SESSION_NOT_FOUND') return nothing;
  // In mcp mode the service has no session interface.
  throw new Error(`the service at ${url} has no chat: ${message} Is it in web mode?`);
}

async function ask(address: URL, url: string): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(address, { signal: AbortSignal.timeout(10_000) });
  } catch (cause) {
    const advice =
      'start one with `agent-service` (in a checkout `npm start`), or say where it is with --url';
    throw new Error(`no service answers at ${url}; ${advice}`, { cause });
  }
  return response.json().catch(() => undefined);
}
