import type { ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { JsonRpcAnswer } from '../../core/json-rpc.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import { MAX_TIMEOUT_MS } from '../../core/timeout-ms.ts';
import { askerOf } from './mcp-asker.ts';
import type { McpObject } from './mcp-object.ts';
import type { Answerers } from './sessions/answerers.ts';

/** What a client of the older era has answered. */
export interface ClientReply {
  readonly answer: JsonRpcAnswer;
  /** Who has answered: the answer has the rights of the request that brought it. */
  readonly context: RequestContext;
}

export interface ClientQuestion {
  readonly method: string;
  readonly params: McpObject;
  /** Aborted when nobody waits for the answer any more. */
  readonly over: AbortSignal | undefined;
}

export interface AskedClient {
  /** The request that is answered meanwhile. */
  readonly mcpReq: ServerContext['mcpReq'];
  /** Who made that request. */
  readonly context: RequestContext;
  /** Who opened the MCP session. */
  readonly opener: RequestContext;
  /** Absent where answers come over the connection of the request, and have its rights. */
  readonly answerers: Answerers | undefined;
}

const Result = z.looseObject({});
const Failure = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });

/** Rejects if the client does not answer. */
export async function askClient(
  { mcpReq, context, opener, answerers }: AskedClient,
  { method, params, over }: ClientQuestion,
): Promise<ClientReply> {
  const signal = over ? AbortSignal.any([mcpReq.signal, over]) : mcpReq.signal;
  // People decide when they decide.
  const timeout = MAX_TIMEOUT_MS;
  const send = () => mcpReq.send({ method, params: { ...params } }, Result, { signal, timeout });
  if (!answerers) return { answer: await answerOf(send()), context };
  const { said, answerer } = answerers.ask(send);
  const answer = await answerOf(said);
  const authInfo = answerer();
  if (authInfo) return { answer, context: askerOf(authInfo, opener).context };
  if (context.rights) throw new Error('an answer came from nobody');
  return { answer, context };
}

async function answerOf(said: Promise<McpObject>): Promise<JsonRpcAnswer> {
  try {
    return { result: await said };
  } catch (error) {
    const { data } = Failure.safeParse(error);
    if (!data) throw error;
    return { error: data };
  }
}
