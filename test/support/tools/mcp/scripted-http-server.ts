import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { serve, type TestHttpServer } from './http-servers.ts';

export interface Script {
  /** Answers a `tools/call`, also wrongly. */
  readonly call?: (res: ServerResponse, id: number) => void;
  /** Answers the GET with this number, from 1 on. Without it, the server has no stream of its own. */
  readonly listen?: (res: ServerResponse, nth: number) => void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
}

/** A server over Streamable HTTP of the revisions with sessions, whose answers are not checked by an SDK. */
export async function scriptedServer({ call, listen }: Script): Promise<TestHttpServer> {
  let streams = 0;
  return await serve('/mcp', async (req, res) => {
    if (req.method === 'GET') {
      streams += 1;
      return listen === undefined ? void res.writeHead(405).end() : listen(res, streams);
    }
    const { id, method } = req.method === 'POST' ? ((await json(req)) as Message) : {};
    if (id === undefined) return void res.writeHead(202).end();
    if (method === 'tools/call') return call?.(res, id);
    const result = results[method ?? ''];
    answerJson(res, result ? { id, result } : { id, error: { code: -32601, message: 'Method not found' } });
  });
}

const results: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'scripted', version: '1' },
  },
  'tools/list': { tools: [{ name: 'tool', inputSchema: { type: 'object' } }] },
  ping: {},
};

/** What a tool says that has nothing to say. */
export const done = { content: [{ type: 'text', text: 'done' }] };

/** Answers with a body of JSON. */
export function answerJson(res: ServerResponse, message: object): void {
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

/** Answers with an event of a stream that stays open. */
export function answerInStream(res: ServerResponse, message: object): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}
