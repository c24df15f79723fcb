import { text } from 'node:stream/consumers';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { textOf } from '../../support/models/steps.ts';
import { errorOf, parseEnvelope } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { rawRequest } from '../../support/sockets/raw-http.ts';
import { mcpClient } from '../../support/tools/mcp-client.ts';
import { INITIALIZE, initializeMcp, openMcp, postMcp } from '../../support/tools/mcp-http.ts';
import { verifies } from '../requirements.ts';

const call = (id: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'chat_with_agent', arguments: { message } },
});
const cancellation = (requestId: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});
/** The last revision of MCP that has batches. */
const WITH_BATCHES = '2025-03-26';
const ping = { jsonrpc: '2.0', id: 9, method: 'ping' };

async function startDirected() {
  const model = new DirectedModel();
  const yaml = `${SCRIPTED}server: { drainTimeoutMs: 0 }\n`;
  const service = await RunningService.start({ yaml, adapters: { model } });
  return { model, service };
}

/** The message of a response that is one server-sent event. */
function eventOf(body: string): unknown {
  const data = /^data: (.+)$/m.exec(body)?.[1];
  if (data === undefined) throw new Error(`no event in ${body}`);
  return JSON.parse(data);
}

describe('an MCP session over HTTP', () => {
  verifies(
    'mcp.sessions',
    'an unknown id is 404, so that the client initializes anew; without an id only initialize is taken',
    async () => {
      await using service = await RunningService.start();
      for (const method of ['GET', 'DELETE']) {
        const headers = { Accept: 'text/event-stream', 'Mcp-Session-Id': 'never-heard-of' };
        const { status, text: body } = await rawRequest(service.port, { method, path: '/mcp', headers });
        expect([method, status]).toEqual([method, 404]);
        expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0', error: { code: -32001 }, id: null });
      }
      const unknown = { 'Mcp-Session-Id': 'never-heard-of' };
      expect((await postMcp(service.port, ping, unknown)).status).toBe(404);
      expect((await postMcp(service.port, INITIALIZE, unknown)).status).toBe(404);
      const unnamed = await postMcp(service.port, ping);
      expect([unnamed.status, unnamed.headers['content-type']]).toEqual([400, 'application/json']);
    },
  );

  verifies('mcp.sessions', 'DELETE ends it, and no other', async () => {
    await using service = await RunningService.start();
    await using client = await mcpClient(service);
    await using other = await mcpClient(service);
    const id = client.transport.sessionId ?? '';
    await client.transport.terminateSession();
    expect((await postMcp(service.port, ping, { 'Mcp-Session-Id': id })).status).toBe(404);
    await other.sdk.ping();
    await using anew = await mcpClient(service);
    expect(anew.transport.sessionId).not.toBe(id);
    await anew.sdk.ping();
  });

  verifies('mcp.sessions', 'it has one stream for what nobody asked for, which ends with it', async () => {
    await using service = await RunningService.start();
    const session = await initializeMcp(service.port);
    const first = await openMcp(service.port, 'GET', session);
    expect(first.statusCode).toBe(200);
    expect((await openMcp(service.port, 'GET', session)).statusCode).toBe(409);
    const ended = text(first);
    const { status } = await rawRequest(service.port, { method: 'DELETE', path: '/mcp', headers: session });
    expect(status).toBe(200);
    // The stream says nothing but comments, and ends properly.
    expect(await ended).toMatch(/^(:.*\n\n)+$/);
  });

  verifies('mcp.sessions', 'a client that lost its stream opens it again', async () => {
    await using service = await RunningService.start();
    const session = await initializeMcp(service.port);
    const first = await openMcp(service.port, 'GET', session);
    first.destroy();
    const again = async (): Promise<number | undefined> => {
      const { statusCode } = await openMcp(service.port, 'GET', session);
      return statusCode === 409 ? await again() : statusCode;
    };
    expect(await again()).toBe(200);
    expect(eventOf((await postMcp(service.port, ping, session)).text)).toEqual({
      jsonrpc: '2.0',
      id: 9,
      result: {},
    });
  });
});

describe('requests to /mcp that are not MCP', () => {
  verifies('mcp.tools', 'are refused as the protocol says, and none breaks the endpoint', async () => {
    await using service = await RunningService.start();
    for (const method of ['PUT', 'PATCH', 'TRACE', 'HEAD']) {
      const { status, headers } = await rawRequest(service.port, { method, path: '/mcp' });
      expect([method, status, headers.allow]).toEqual([method, 405, 'GET, POST, DELETE']);
    }
    const session = await initializeMcp(service.port);
    const broken = await postMcp(service.port, '{"jsonrpc":', session);
    expect(broken.status).toBe(400);
    expect(JSON.parse(broken.text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32700 } });
    expect((await postMcp(service.port, { hello: 'world' }, session)).status).toBe(400);
    expect((await postMcp(service.port, ping, { ...session, 'Content-Type': 'text/plain' })).status).toBe(
      415,
    );
    expect((await postMcp(service.port, ping, { ...session, Accept: 'text/html' })).status).toBe(406);
    const version = { ...session, 'MCP-Protocol-Version': '1999-12-31' };
    expect((await postMcp(service.port, ping, version)).status).toBe(400);
    const odd = { ...session, 'X-Name': 'J\u00fcrgen \u00e2\u0098\u0083' };
    expect((await postMcp(service.port, ping, odd)).status).toBe(200);
  });

  verifies(
    'mcp.tools',
    'a body that cannot be read as JSON-RPC is refused with an error of JSON-RPC',
    async () => {
      await using service = await RunningService.start();
      const session = await initializeMcp(service.port);
      const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
      const nested = await postMcp(service.port, deep, session);
      const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' };
      const body = new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
      const notText = await service.fetch('/mcp', {
        method: 'POST',
        headers: { ...headers, ...session },
        body,
      });
      expect([nested.status, notText.status]).toEqual([400, 400]);
      expect([JSON.parse(nested.text), await notText.json()]).toMatchObject([
        {
          jsonrpc: '2.0',
          id: null,
          error: { code: -32700, data: { issue: 'it has more than 200 levels' } },
        },
        { jsonrpc: '2.0', id: null, error: { code: -32700, data: { issue: 'invalid UTF-8' } } },
      ]);
    },
  );

  verifies(
    'mcp.tools',
    'batches are refused where the revision has none, and initialize is never in one',
    async () => {
      await using service = await RunningService.start();
      const { port } = service;
      const pings = [ping, { ...ping, id: 10 }];
      const older = await initializeMcp(port, WITH_BATCHES);
      const both = await postMcp(port, pings, older);
      expect([both.status, both.text.match(/"result":\{\}/g)?.length]).toEqual([200, 2]);
      for (const version of ['2025-06-18', '2025-11-25']) {
        const session = await initializeMcp(port, version);
        expect((await postMcp(port, ping, session)).status).toBe(200);
        for (const named of [{}, { 'Mcp-Protocol-Version': version }]) {
          const { status, text: told } = await postMcp(port, pings, { ...session, ...named });
          expect([status, JSON.parse(told)]).toMatchObject([400, { id: null, error: { code: -32600 } }]);
        }
      }
      for (const batch of [[INITIALIZE], [ping, INITIALIZE]]) {
        const { status, text: told } = await postMcp(port, batch);
        expect([status, JSON.parse(told)]).toMatchObject([400, { id: null, error: { code: -32600 } }]);
      }
    },
  );

  verifies(
    'mcp.tools',
    'a request that is too large is refused; the limit on REST requests does not count these',
    async () => {
      const yaml = `${SCRIPTED}limits: { requestBytes: 2000, requestsPerMinute: 5 }\n`;
      await using service = await RunningService.start({ yaml });
      const session = await initializeMcp(service.port);
      const tooLong = await postMcp(service.port, call(2, 'x'.repeat(3000)), session);
      expect(tooLong.status).toBe(429);
      expect(tooLong.headers['retry-after']).toBe('1');
      expect(JSON.parse(tooLong.text)).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32000, message: expect.stringContaining('2000 bytes'), data: { limit: 2000 } },
      });
      for (let count = 0; count < 20; count += 1) {
        const { status, headers } = await postMcp(service.port, ping, session);
        expect([status, headers['x-ratelimit-limit']]).toEqual([200, undefined]);
      }
    },
  );
});

describe('a cancellation over HTTP', () => {
  verifies(
    'mcp.cancel',
    'the stream of the call ends without an answer, instead of staying open for ever',
    async () => {
      const { model, service } = await startDirected();
      await using _ = service;
      const session = await initializeMcp(service.port);
      const response = await openMcp(service.port, 'POST', session, call(2, 'think'));
      const body = text(response);
      const running = await model.call(0);
      expect((await postMcp(service.port, cancellation(2), session)).status).toBe(202);
      await running.aborted;
      expect(await body).not.toContain('data:');
    },
  );

  verifies('mcp.cancel', 'one that comes together with its call is heard', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const session = await initializeMcp(service.port, WITH_BATCHES);
    const both = [call(2, 'never mind'), cancellation(2)];
    expect((await postMcp(service.port, both, session)).status).toBe(200);
    const next = postMcp(service.port, call(3, 'but this'), session);
    const asked = await model.call(0);
    expect(asked.request.messages.map(textOf)).toEqual(['but this']);
    asked.answer('yes');
    expect(eventOf((await next).text)).toMatchObject({ id: 3, result: { content: [{ text: 'yes' }] } });
  });

  verifies('mcp.cancel', 'a client cannot cancel what another asked', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const session = await initializeMcp(service.port);
    const others = await initializeMcp(service.port);
    const answer = postMcp(service.port, call(2, 'mine'), session);
    const running = await model.call(0);
    expect((await postMcp(service.port, cancellation(2), others)).status).toBe(202);
    expect((await postMcp(service.port, cancellation(77), session)).status).toBe(202);
    expect((await postMcp(service.port, ping, session)).status).toBe(200);
    expect(running.signal.aborted).toBe(false);
    running.answer('mine still');
    expect((await answer).text).toContain('mine still');
  });
});

describe('who may use /mcp', () => {
  verifies('mcp.access', async () => {
    const { model, service } = await startDirected();
    await using _ = service;
    const { port } = service;
    const session = await initializeMcp(port);
    const foreign = [
      { Host: 'evil.example.com' },
      { Host: `evil.example.com:${port}` },
      { Host: `127.0.0.1.evil.example.com:${port}` },
      { Origin: 'http://evil.example.com' },
      { Origin: 'null' },
      { Origin: `http://127.0.0.1:${port + 1}` },
      { Host: 'evil.example.com', Origin: 'http://evil.example.com' },
    ];
    for (const headers of foreign) {
      const refused = await postMcp(port, call(2, 'let me in'), { ...session, ...headers });
      expect([headers, refused.status]).toEqual([headers, 403]);
      expect(parseEnvelope(refused.text).code).toBe('FORBIDDEN');
      expect((await postMcp(port, INITIALIZE, headers)).status).toBe(403);
      for (const method of ['GET', 'DELETE']) {
        const own = { ...session, Accept: 'text/event-stream', ...headers };
        expect((await rawRequest(port, { method, path: '/mcp', headers: own })).status).toBe(403);
      }
    }
    expect(model.calls).toEqual([]);
    expect((await postMcp(port, ping, session)).status).toBe(200);
  });

  verifies('mcp.access', 'its own pages, and configured hosts and origins, are let in', async () => {
    const yaml = `${SCRIPTED}cors: { origins: ["https://app.example.com"] }\nserver: { allowedHosts: [agent.example.com] }\n`;
    await using service = await RunningService.start({ yaml });
    const { port } = service;
    const welcome = [
      { Host: `localhost:${port}`, Origin: `http://localhost:${port}` },
      { Host: `127.0.0.1:${port}`, Origin: `http://127.0.0.1:${port}` },
      { Host: 'agent.example.com', Origin: 'https://app.example.com' },
      { Host: `LOCALHOST:${port}` },
    ];
    for (const headers of welcome) {
      const { status, headers: answered } = await postMcp(port, INITIALIZE, headers);
      expect([headers, status]).toEqual([headers, 200]);
      expect(answered['access-control-allow-origin']).toBe(
        headers.Origin === 'https://app.example.com' ? headers.Origin : undefined,
      );
    }
    const response = await service.fetch('/mcp', {
      method: 'POST',
      headers: { Origin: 'https://b.example' },
    });
    expect((await errorOf(response, 403)).code).toBe('FORBIDDEN');
  });
});
