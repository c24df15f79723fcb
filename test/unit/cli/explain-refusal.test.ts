import { createServer } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { explainRefusal, requestService } from '../../../src/cli/service/request-service.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

const refusal = (details: Record<string, unknown>, code = 'INVALID_REQUEST') =>
  explainRefusal({ code, message: 'It was refused.', details });

describe('the message of a refusal', () => {
  it.each([
    [{ field: 'tenant', issue: 'it is not yours' }, 'It was refused. (tenant) (it is not yours)'],
    [
      { field: 'body', issue: 'it is empty', suggestion: 'Send it.' },
      'It was refused. (body) (it is empty) (Send it.)',
    ],
    [
      { reason: 'the service is stopping', retryAfter: 5 },
      'It was refused. (the service is stopping) (try again in 5 s)',
    ],
    [{ limit: 1, resetTime: 1_000, suggestion: 'Send less.' }, 'It was refused. (Send less.)'],
    [{ field: '', issue: '' }, 'It was refused.'],
  ])('says the field, the reason, and what to do: %j', (details, text) => {
    expect(refusal(details)).toBe(text);
  });

  it('says how long a limit lasts', () => {
    vi.useFakeTimers({ now: 970_000 });
    try {
      expect(refusal({ limit: 100, resetTime: 1_000 })).toBe('It was refused. (try again in 30 s)');
      expect(refusal({ limit: 100, resetTime: 900 })).toBe('It was refused. (try again in 1 s)');
    } finally {
      vi.useRealTimers();
    }
  });

  it('says that an address needs no /api, where the service does not know the path', async () => {
    const details = { issue: 'the path is unknown' };
    const error = { code: 'INVALID_REQUEST', message: 'There is nothing here.', details };
    const server = createServer((_, response) => response.writeHead(400).end(JSON.stringify({ error })));
    await listenLocally(server);
    try {
      const ask = (path: string) => requestService({ url: `${originOf(server)}${path}` }, 'api/sessions');
      const said = 'There is nothing here. (the path is unknown)';
      await expect(ask('/api')).rejects.toThrow(`${said} (write --url without /api)`);
      await expect(ask('/api/')).rejects.toThrow('without /api');
      await expect(ask('/apis')).rejects.toMatchObject({ message: said });
    } finally {
      await closeAtOnce(server);
    }
  });
});

describe('a request that no service answers', () => {
  it.each([
    [
      Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
      'self-signed certificate',
    ],
    [Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  ])('fails with the reason: %s', async (cause, reason) => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed', { cause })));
    try {
      await expect(requestService({ url: 'https://host' }, 'api/sessions')).rejects.toThrow(
        `no service answers at https://host (${reason}); start one`,
      );
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
