import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';
import { closeAtOnce, listenLocally, originOf } from '../sockets/local-server.ts';

const Body = z.object({
  include: z.unknown().optional(),
  reasoning: z.object({ summary: z.unknown().optional() }).optional(),
});

const HELLO = {
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] }],
};

/** A server of the Responses API that refuses `include` and `reasoning.summary`, and counts its requests. */
export async function modestProvider() {
  let requests = 0;
  const server = createServer(async (request, response) => {
    requests += 1;
    const { include, reasoning } = Body.parse(await json(request));
    const param = include ? 'include' : reasoning?.summary ? 'reasoning.summary' : undefined;
    const error = { message: 'Unsupported', code: 'unsupported_parameter', param };
    response.writeHead(param ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(param ? { error } : HELLO));
  });
  await listenLocally(server);
  return {
    baseURL: `${originOf(server)}/v1`,
    requests: () => requests,
    [Symbol.asyncDispose]: () => closeAtOnce(server),
  };
}
