import { describe, expect } from 'vitest';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

const OFF = {
  requestsPerMinute: false,
  messagesPerMinute: false,
  connections: false,
  sessions: false,
  runningTurns: false,
};

/** `ada`, `bob` and `eve` are of one tenant, `cleo` of another. */
async function start(limits: { principal?: object; tenant?: object }, options: object = {}) {
  const service = await RunningService.start({
    verifiers: [
      new KnownTokens({
        ada: identity('ada'),
        bob: identity('bob'),
        eve: identity('eve'),
        cleo: identity('cleo', { tenant: 'orbit' }),
      }),
    ],
    auth: {
      limits: { principal: { ...OFF, ...limits.principal }, tenant: { ...OFF, ...limits.tenant } },
    },
    ...options,
  });
  const ask = (who: string, method: string, path: string, body?: object): Promise<Response> =>
    service.fetch(path, {
      method,
      headers: { ...bearer(who), 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const statusOf = async (...request: Parameters<typeof ask>): Promise<number> => {
    const response = await ask(...request);
    await response.body?.cancel();
    return response.status;
  };
  const say = (who: string, sessionId: string, path = '/api/message-sync') =>
    statusOf(who, 'POST', path, { message: 'hi', sessionId });
  return { service, ask, statusOf, say, [Symbol.asyncDispose]: () => service.close() };
}

const statuses = async (times: number, one: () => Promise<number>): Promise<number[]> => {
  const all: number[] = [];
  for (let time = 0; time < times; time += 1) all.push(await one());
  return all;
};

describe('the limits of clients', () => {
  verifies('client-limits.requests', async () => {
    // The limit of the address is smaller: users behind one proxy do not share it.
    const yaml = 'llm: { provider: scripted, model: offline }\nlimits: { requestsPerMinute: 2 }\n';
    await using setup = await start(
      { principal: { requestsPerMinute: 3 }, tenant: { requestsPerMinute: 5 } },
      { yaml },
    );
    const { ask, statusOf } = setup;
    const list = (who: string) => statusOf(who, 'GET', '/api/sessions');
    expect(await statuses(4, () => list('ada'))).toEqual([200, 200, 200, 429]);
    const refused = await ask('ada', 'GET', '/api/sessions');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(refused.headers.get('X-RateLimit-Limit')).toBe('3');
    expect(await errorOf(refused, 429)).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 3, remaining: 0, name: 'requestsPerMinute', of: 'principal' },
    });
    // What was refused to Ada is not taken from the tenant.
    expect(await statuses(2, () => list('bob'))).toEqual([200, 200]);
    expect(await errorOf(await ask('bob', 'GET', '/api/sessions'), 429)).toMatchObject({
      details: { limit: 5, name: 'requestsPerMinute', of: 'tenant' },
    });
    expect(await list('cleo')).toBe(200);
  });

  verifies('client-limits.address', async () => {
    const yaml = 'llm: { provider: scripted, model: offline }\nlimits: { requestsPerMinute: 3 }\n';
    await using setup = await start({}, { yaml });
    const { service, statusOf } = setup;
    const guess = async () => (await service.fetch('/api/sessions', { headers: bearer('nobody') })).status;
    expect(await statuses(4, guess)).toEqual([401, 401, 401, 429]);
    expect(await statusOf('ada', 'GET', '/api/nothing')).toBe(429);
    expect(await statusOf('ada', 'GET', '/api/sessions')).toBe(200);
  });

  verifies('client-limits.messages', async () => {
    await using setup = await start({ principal: { messagesPerMinute: 2 } });
    const { service, statusOf, say } = setup;
    expect(await say('ada', 's')).toBe(200);
    using client = await connect(setup, 'ada');
    client.say('hi');
    await client.settled(1);
    client.say('hi');
    expect((await client.settled(2)).at(-1)).toMatchObject({
      event: 'error',
      data: {
        code: 'RATE_LIMIT_EXCEEDED',
        details: { limit: 2, name: 'messagesPerMinute', of: 'principal' },
      },
    });
    expect(await say('ada', 's')).toBe(429);
    expect(await say('bob', 's')).toBe(200);
    expect(service.access?.limits.refusals).toMatchObject({ messages: 2 });
    expect(await statusOf('ada', 'GET', '/api/sessions')).toBe(200);
  });

  verifies('client-limits.frames', async () => {
    await using setup = await start({ principal: { requestsPerMinute: 3 } });
    using client = await connect(setup, 'ada');
    for (const _ of [1, 2, 3]) client.send({ type: 'cancel' });
    const frames = await client.until((seen) => seen.some(({ event }) => event === 'error'));
    expect(frames).toMatchObject([
      { event: 'error', data: { details: { limit: 3, name: 'requestsPerMinute', of: 'principal' } } },
    ]);
  });

  verifies('client-limits.connections', async () => {
    const yaml = 'llm: { provider: scripted, model: offline }\nlimits: { connectionsPerAddress: 1 }\n';
    await using setup = await start({ principal: { connections: 2 }, tenant: { connections: 3 } }, { yaml });
    const stop = new AbortController();
    const stream = (who: string) =>
      setup.service.fetch('/api/sessions/s/events', {
        headers: { ...bearer(who), Accept: 'text/event-stream' },
        signal: stop.signal,
      });
    const first = await connect(setup, 'ada');
    expect((await stream('ada')).status).toBe(200);
    expect(await errorOf(await stream('ada'), 429)).toMatchObject({
      details: { limit: 2, name: 'connections', of: 'principal' },
    });
    await expect(connect(setup, 'ada')).rejects.toThrow('no connection');
    expect((await stream('bob')).status).toBe(200);
    expect(await errorOf(await stream('bob'), 429)).toMatchObject({ details: { limit: 3, of: 'tenant' } });
    expect((await stream('cleo')).status).toBe(200);
    first.close();
    await first.closed;
    using again = await connect(setup, 'ada');
    expect(again.frames).toEqual([]);
    stop.abort();
  });

  verifies('client-limits.sessions', async () => {
    await using directory = await tempDirectory();
    const limits = { principal: { sessions: 2 }, tenant: { sessions: 3 } };
    {
      await using before = await start(limits, { dataDir: directory.path });
      expect(await before.say('ada', 'one')).toBe(200);
    }
    await using setup = await start(limits, { dataDir: directory.path });
    const { ask, statusOf, say } = setup;
    const fork = (who: string, more = {}) => ask(who, 'POST', '/api/sessions/one/fork', more);
    expect(await say('ada', 'two')).toBe(200);
    expect(await say('ada', 'three')).toBe(429);
    expect(await say('ada', 'one')).toBe(200);
    expect(await errorOf(await fork('ada'), 429)).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 2, name: 'sessions', of: 'principal' },
    });
    expect(await say('bob', 'one')).toBe(200);
    expect(await errorOf(await fork('bob'), 429)).toMatchObject({ details: { limit: 3, of: 'tenant' } });
    expect(await say('cleo', 'one')).toBe(200);
    expect(await statusOf('ada', 'DELETE', '/api/sessions/two')).toBe(200);
    expect((await fork('ada')).ok).toBe(true);
    expect(await say('ada', 'three')).toBe(429);
  });

  verifies('client-limits.turns', async () => {
    const model = new DirectedModel();
    await using setup = await start(
      { principal: { runningTurns: 1 }, tenant: { runningTurns: 2 } },
      { adapters: { model } },
    );
    const { ask, say } = setup;
    const refusal = async (who: string, sessionId: string) => {
      const response = await ask(who, 'POST', '/api/message-sync', { message: 'hi', sessionId });
      return (await errorOf(response, 429)).details;
    };
    const first = say('ada', 'a');
    const running = await model.call(0);
    // A message that waits behind the running turn is one too many, too.
    for (const session of ['a', 'b'])
      expect(await refusal('ada', session)).toMatchObject({
        limit: 1,
        name: 'runningTurns',
        of: 'principal',
      });
    const second = say('bob', 'a');
    const other = await model.call(1);
    expect(await refusal('eve', 'a')).toMatchObject({ limit: 2, name: 'runningTurns', of: 'tenant' });
    const elsewhere = say('cleo', 'a');
    (await model.call(2)).answer('c');
    expect(await elsewhere).toBe(200);
    running.answer('a');
    other.answer('b');
    expect(await Promise.all([first, second])).toEqual([200, 200]);
    const next = say('ada', 'b');
    (await model.call(3)).answer('d');
    expect(await next).toBe(200);
  });

  verifies('client-limits.tickets', async () => {
    await using setup = await start({});
    const ticket = (who: string) => setup.statusOf(who, 'POST', '/api/tickets');
    expect(new Set(await Promise.all(Array.from({ length: 100 }, () => ticket('ada'))))).toEqual(
      new Set([200]),
    );
    expect(await errorOf(await setup.ask('ada', 'POST', '/api/tickets'), 429)).toMatchObject({
      details: { limit: 100, name: 'tickets', of: 'principal' },
    });
    expect(await ticket('bob')).toBe(200);
  });
});

async function connect({ ask, service }: Awaited<ReturnType<typeof start>>, who: string) {
  const { ticket } = (await (await ask(who, 'POST', '/api/tickets')).json()) as { ticket: string };
  return service.connect(`?session=s&ticket=${ticket}`);
}
