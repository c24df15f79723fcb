import type { HttpResponse } from 'uWebSockets.js';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BodyBudget } from '../../../src/adapters/uws/body-budget.ts';
import { IncomingBody } from '../../../src/adapters/uws/incoming-body.ts';
import { UwsBroadcast } from '../../../src/adapters/uws/uws-broadcast.ts';
import { UwsServer } from '../../../src/adapters/uws/uws-server.ts';
import { asServiceError, serviceStopping } from '../../../src/core/errors.ts';
import { errorResponse } from '../../../src/gateway/http/error-response.ts';
import type { HttpRequest } from '../../../src/ports/web-server.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const MEGABYTE = 1024 * 1024;
const half = Buffer.alloc(MEGABYTE / 2, 'x');

/**
 * A server with room for bodies of 1.5 MB, or of so many bytes. It answers a body with its length when `answer` is called. The
 * header `x-principal` says whose the body is.
 */
async function listen(maxBytes = 1.5 * MEGABYTE) {
  const answered = Promise.withResolvers<void>();
  const arrived: number[] = [];
  const failed: unknown[] = [];
  const begun: string[] = [];
  const handle = async (incoming: HttpRequest) => {
    begun.push(incoming.path);
    try {
      const principal = incoming.headers.get('x-principal');
      incoming.hold?.(Number(incoming.headers.get('x-hold') ?? 0));
      const { length } = await incoming.body(principal ? { principal, tenant: 'acme' } : undefined);
      arrived.push(length);
      await answered.promise;
      return { status: 200, headers: {}, body: String(length) };
    } catch (error) {
      failed.push(error);
      return errorResponse(asServiceError(error));
    }
  };
  const server = new UwsServer({
    broadcast: new UwsBroadcast(),
    http: { handle, refuse: errorResponse, interrupted: async () => errorResponse(serviceStopping()) },
    webSockets: {},
    bodyLimit: () => false,
    maxPayloadBytes: MEGABYTE,
    bodies: new BodyBudget(maxBytes),
    log: recordingLog(),
  });
  const port = await server.listen('127.0.0.1', 0);
  onTestFinished(() => server.close());
  return { server, port, begun, arrived, failed, answer: () => answered.resolve() };
}

function post(port: number, bytes: number, principal?: string): ClientRequest {
  const headers = { 'Content-Length': bytes, ...(principal && { 'x-principal': principal }) };
  return request({ port, host: '127.0.0.1', method: 'POST', headers, agent: false });
}

async function answerTo(sent: ClientRequest) {
  const [response]: IncomingMessage[] = await once(sent, 'response');
  let text = '';
  for await (const piece of response ?? []) text += piece;
  return { status: response?.statusCode, retryAfter: response?.headers['retry-after'], text };
}

/** Resolves when the server has told one that it has no room, or not: by then it has read what was sent before. */
async function isFull(port: number): Promise<boolean> {
  const probe = post(port, MEGABYTE);
  probe.end(Buffer.alloc(MEGABYTE));
  const { status } = await answerTo(probe);
  return status === 503;
}

/** A body, of which `receive` brings half a megabyte. */
function receiving(budget: BodyBudget) {
  type Receive = (chunk: ArrayBuffer, isLast: boolean) => void;
  let onData: Receive = () => undefined;
  // All that a body needs of a response.
  const response = { onData: (listener: Receive) => (onData = listener) } as unknown as HttpResponse;
  const body = new IncomingBody(response, MEGABYTE, { limit: false, budget });
  return { body, receive: (isLast: boolean) => onData(new Uint8Array(half).buffer, isLast) };
}

describe('the bodies of all requests', () => {
  it('have room together: who finds none is told, and small ones need none', async () => {
    const { port, arrived, answer } = await listen();
    const first = post(port, MEGABYTE);
    const firstAnswer = answerTo(first);
    first.end(Buffer.alloc(MEGABYTE));
    await expect.poll(() => arrived).toEqual([MEGABYTE]);
    const second = post(port, MEGABYTE);
    second.end(Buffer.alloc(MEGABYTE));
    const refused = await answerTo(second);
    expect(refused).toMatchObject({ status: 503, retryAfter: '5' });
    expect(JSON.parse(refused.text).error.details.limit).toBe(1.5 * MEGABYTE);
    const small = post(port, 10_000);
    const smallAnswer = answerTo(small);
    small.end(Buffer.alloc(10_000));
    answer();
    expect((await smallAnswer).text).toBe('10000');
    expect((await firstAnswer).text).toBe(String(MEGABYTE));
    // The bytes of an answered request are free again.
    expect(await isFull(port)).toBe(false);
  });

  it('share it with what answers hold until they are over', async () => {
    const { port, begun, answer } = await listen();
    const holding = request({ port, host: '127.0.0.1', headers: { 'x-hold': MEGABYTE }, agent: false }).end();
    const held = answerTo(holding);
    await expect.poll(() => begun).toHaveLength(1);
    expect(await isFull(port)).toBe(true);
    answer();
    expect((await held).status).toBe(200);
    expect(await isFull(port)).toBe(false);
  });

  it('are not waited for any more when their clients leave', async () => {
    const { server, port, begun, failed } = await listen();
    const leaving = post(port, 20);
    leaving.on('error', () => undefined);
    leaving.write('{"me');
    await expect.poll(() => begun).toHaveLength(1);
    leaving.destroy();
    await expect.poll(() => failed).toMatchObject([{ code: 'INVALID_REQUEST' }]);
    await server.answered();
  });

  it('are forgotten when their clients leave', async () => {
    const { port, answer } = await listen();
    answer();
    const leaving = Array.from({ length: 2 }, () => post(port, MEGABYTE));
    for (const sent of leaving) {
      sent.on('error', () => undefined);
      sent.write(half);
      sent.write(half.subarray(1));
    }
    await expect.poll(() => isFull(port)).toBe(true);
    for (const sent of leaving) sent.destroy();
    await expect.poll(() => isFull(port)).toBe(false);
  });

  it('are forgotten when their requests are answered before their end', async () => {
    const budget = new BodyBudget(MEGABYTE);
    const { body, receive } = receiving(budget);
    receive(false);
    const nobodys = { client: null, taken: 0 };
    expect(budget.reserve(MEGABYTE, nobodys)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const discarded = body.discardRest();
    expect(budget.reserve(MEGABYTE, nobodys)).toBe(null);
    // The rest takes no budget.
    receive(true);
    await discarded;
    await expect(body.whole).rejects.toThrow('answered before its end');
  });

  it('of one principal, and of one tenant, leave room for those of others', async () => {
    const { port, answer, arrived } = await listen(8 * MEGABYTE);
    const send = (principal: string) => {
      const sent = post(port, 1.5 * MEGABYTE, principal);
      sent.end(Buffer.alloc(1.5 * MEGABYTE));
      return answerTo(sent);
    };
    const first = send('ada');
    await expect.poll(() => arrived).toHaveLength(1);
    const refused = await send('ada');
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.text).error.details).toMatchObject({
      name: 'requestBodies',
      of: 'principal',
      limit: 2 * MEGABYTE,
    });
    const others = ['bob', 'cec', 'dan'].map(send);
    await expect.poll(() => arrived).toHaveLength(4);
    const ofTenant = await send('eve');
    expect(JSON.parse(ofTenant.text).error.details).toMatchObject({ of: 'tenant', limit: 6 * MEGABYTE });
    answer();
    for (const answered of [first, ...others]) expect((await answered).status).toBe(200);
    expect((await send('ada')).status).toBe(200);
  });

  it('count for a client that is known after they have come', async () => {
    const budget = new BodyBudget(4 * MEGABYTE);
    const ada = { principal: 'ada', tenant: 'acme' };
    const [one, other] = [receiving(budget), receiving(budget)];
    one.receive(false);
    one.receive(true);
    other.receive(true);
    await expect(one.body.of(ada)).resolves.toHaveLength(MEGABYTE);
    await expect(other.body.of(ada)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });
    one.body.release();
    expect(budget.reserve(MEGABYTE, { client: ada, taken: 0 })).toBe(null);
  });
});
