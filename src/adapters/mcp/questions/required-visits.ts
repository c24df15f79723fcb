import { z } from 'zod';
import type { JsonObject } from '../../../core/json-object.ts';
import { JsonRpcError, MCP_CODES } from '../../../core/json-rpc.ts';

/** How often one request may need something of a person. */
const MAX_ROUNDS = 10;

const Visit = z.looseObject({ message: z.string(), url: z.url({ protocol: /^https?$/ }) });
type Visit = z.infer<typeof Visit>;

const UrlElicitations = z.object({ elicitations: z.array(Visit) });

/** The addresses that people must open before the request can be answered. Empty for any other error. */
export function requiredVisits({ code, data }: JsonRpcError): readonly Visit[] {
  if (code !== MCP_CODES.urlElicitationRequired) return [];
  return UrlElicitations.safeParse(data).data?.elicitations ?? [];
}

/**
 * Makes a request, and makes it again when people have opened the addresses that it needs. The server has not begun to
 * work on a request that it answers so.
 *
 * @param ask puts the question to a person, with the parameters of `elicitation/create`.
 */
export async function afterVisits(
  send: () => Promise<JsonObject>,
  ask: (params: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  for (let round = 1; ; round += 1) {
    try {
      return await send();
    } catch (error) {
      const visits = error instanceof JsonRpcError ? requiredVisits(error) : [];
      if (visits.length === 0 || round > MAX_ROUNDS || !(await areAccepted(visits, ask))) throw error;
    }
  }
}

/** One after the other. False if somebody says no, or if nobody can be asked. */
async function areAccepted(
  visits: readonly Visit[],
  ask: (params: JsonObject) => Promise<JsonObject>,
): Promise<boolean> {
  try {
    for (const visit of visits) {
      const { action } = await ask({ ...visit, mode: 'url' });
      if (action !== 'accept') return false;
    }
    return true;
  } catch (error) {
    if (error instanceof JsonRpcError) return false;
    throw error;
  }
}
