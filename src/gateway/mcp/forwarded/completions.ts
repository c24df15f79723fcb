import { z } from 'zod';
import { JsonRpcError, RPC } from '../../../core/json-rpc.ts';
import type { RequestContext } from '../../../core/request/request-context.ts';
import type { McpObject } from '../mcp-object.ts';
import type { Offers } from './offers.ts';
import type { RequestTo } from './request-forwarder.ts';

const Reference = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('ref/prompt'), name: z.string() }),
  z.looseObject({ type: z.literal('ref/resource'), uri: z.string() }),
]);

/** Completes an argument of a prompt, or of a template of resources, at the server that has it. */
export async function completionFor(
  offers: Offers,
  params: McpObject,
  context: RequestContext,
): Promise<RequestTo> {
  const { data: ref, error } = Reference.safeParse(params.ref);
  if (error)
    throw new JsonRpcError(RPC.invalidParams, `Invalid ref: ${z.prettifyError(error)}`, { field: 'ref' });
  if (ref.type === 'ref/resource') return completion(await offers.templateServer(ref.uri, context), params);
  const { serverId, name } = await offers.promptNamed(ref.name, context);
  return completion(serverId, { ...params, ref: { ...ref, name } });
}

function completion(serverId: string, params: McpObject): RequestTo {
  return { serverId, method: 'completion/complete', params };
}
