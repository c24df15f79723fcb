import { describe, expect, it } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import { type ConsoleFile, consoleRoutes } from '../../../src/gateway/console/console-routes.ts';
import { indexRoute } from '../../../src/gateway/console/index-route.ts';
import { acceptsEventStream } from '../../../src/gateway/http/content-negotiation.ts';
import type { ServedRequest } from '../../../src/gateway/http/http-message.ts';

function requestWith(headers: Record<string, string>): ServedRequest {
  return {
    method: 'GET',
    path: '/',
    query: '',
    headers: new Map(Object.entries(headers)),
    peerAddress: '127.0.0.1',
    body: async () => new Uint8Array(),
    context: ANYONE,
  };
}

describe('a request for an event stream', () => {
  it.each([
    'text/event-stream',
    'Text/Event-Stream',
    'application/json, text/event-stream',
    'text/event-stream;q=0.1, */*',
  ])('names it: %s', async (accept) => {
    expect(await acceptsEventStream(requestWith({ accept }))).toBe(true);
  });

  it.each([
    'text/event-stream;q=0',
    'application/json, text/event-stream; q=0.0',
    '*/*',
    'text/*',
    'text/event-streams',
    'nonsense',
    '',
  ])('is not one that accepts: %s', async (accept) => {
    expect(await acceptsEventStream(requestWith({ accept }))).toBe(false);
  });

  it('is not one without the header', async () => {
    expect(await acceptsEventStream(requestWith({}))).toBe(false);
  });
});

describe('the page of the console', () => {
  const encodings = { br: 'brotli', gzip: 'gzip', identity: 'plain' };

  async function encodingFor(acceptEncoding: string, available: (keyof typeof encodings)[]) {
    const page: ConsoleFile = {
      path: '/index.html',
      read: async (encoding) => (available.includes(encoding) ? Buffer.from(encodings[encoding]) : null),
    };
    const [route] = consoleRoutes({
      files: [page],
      index: indexRoute('0.0.0', () => ({ name: 'agent-service' })),
    });
    const request = requestWith({ accept: 'text/html', 'accept-encoding': acceptEncoding });
    const { headers, body } = (await route?.handler(request, {})) ?? {};
    return [headers?.['Content-Encoding'], String(body)];
  }

  it.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['*', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['BR', 'br'],
    ['br;q=0, gzip;q=0', undefined],
    ['gzip, *;q=0', 'gzip'],
    ['identity', undefined],
    ['', undefined],
  ] as const)('for Accept-Encoding "%s" is encoded as %s', async (accepted, encoding) => {
    const found = await encodingFor(accepted, ['br', 'gzip', 'identity']);
    expect(found).toEqual([encoding, encodings[encoding ?? 'identity']]);
  });

  it('is sent plain when no compressed file exists', async () => {
    expect(await encodingFor('br, gzip', ['identity'])).toEqual([undefined, 'plain']);
  });

  it('is sent plain to a client that accepts nothing it has', async () => {
    expect(await encodingFor('identity;q=0', ['identity'])).toEqual([undefined, 'plain']);
  });
});
