import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { FETCH_TIMEOUT_MS, fetchJson, MAX_ANSWER_BYTES } from '../../../src/adapters/jwt/provider-json.ts';
import { closeAtOnce, listenLocally, originOf } from '../../support/sockets/local-server.ts';

let server: Server;
let clock: SimulatedClock;

beforeEach(async () => {
  server = createServer();
  clock = new SimulatedClock();
  await listenLocally(server);
});

afterEach(() => closeAtOnce(server));

const get = (path = '/jwks'): Promise<unknown> => fetchJson(`${originOf(server)}${path}`, { fetch, clock });
const serve = (listener: RequestListener): Server => server.on('request', listener);

describe('a document of a real server', () => {
  it('is given up when the server stalls before its headers', async () => {
    const asked = once(server, 'request');
    const answer = expect(get()).rejects.toThrow('did not answer within 5000 ms');
    await asked;
    clock.increment(FETCH_TIMEOUT_MS);
    await answer;
  });

  it('is given up when the server stalls within its body', async () => {
    serve((_, response) => response.writeHead(200).write('{"keys":'));
    const began = Promise.withResolvers<void>();
    const watched: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      began.resolve();
      return response;
    };
    const answer = expect(fetchJson(originOf(server), { fetch: watched, clock })).rejects.toThrow(
      'did not answer within 5000 ms',
    );
    await began.promise;
    clock.increment(FETCH_TIMEOUT_MS);
    await answer;
  });

  it('is cut off when it is too large, also if it was compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * MAX_ANSWER_BYTES, ' '));
    expect(bomb.byteLength).toBeLessThan(MAX_ANSWER_BYTES);
    serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
    await expect(get()).rejects.toThrow(`more than ${MAX_ANSWER_BYTES} bytes`);
  });

  it('is not fetched from another port, which is another origin', async () => {
    const other = createServer((_, response) => response.end('{}'));
    await listenLocally(other);
    const location = `${originOf(other)}/jwks`;
    serve(({ url }, response) => {
      response.writeHead(307, { location: url === '/jwks' ? '/moved' : location }).end();
    });
    await expect(get()).rejects.toThrow(`redirects to ${originOf(other)}`);
    await closeAtOnce(other);
  });
});
