import { describe, expect } from 'vitest';
import { connect, RefusedError } from '../../../src/client/session-client.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

describe('a client that the service refuses', () => {
  verifies('stream.client-refused', async () => {
    await using service = await RunningService.start();
    await using api = await RunningService.start({ mode: 'mcp' });
    const cases = [
      [service.url, 'bad/id', 'INVALID_REQUEST'],
      [`${service.url}/no/such/path`, 's', 'INVALID_REQUEST'],
      [api.url, 's', 'INVALID_REQUEST'],
    ] as const;
    for (const [url, name, code] of cases) {
      using session = connect({ url, session: name, timeoutMs: 10_000 });
      const refusals = await Promise.all(
        [session.ready(), session.send('hi'), session[Symbol.asyncIterator]().next()].map((waiting) =>
          Promise.resolve(waiting).catch((error: unknown) => error),
        ),
      );
      for (const refusal of refusals) {
        expect(refusal).toBeInstanceOf(RefusedError);
        expect(refusal).toMatchObject({ code, details: expect.any(Object) });
      }
      expect(session.status).toBe('closed');
    }
  });

  verifies(
    'stream.client-refused',
    'for now only, when there are too many connections: it is told, and comes back',
    async () => {
      await using service = await RunningService.start({
        yaml: `${SCRIPTED}limits: { connectionsPerAddress: 1 }\n`,
      });
      const told = Promise.withResolvers<unknown>();
      const first = connect({ url: service.url });
      await first.ready();
      using second = connect({ url: service.url, onRetry: (error) => told.resolve(error) });
      expect(await told.promise).toMatchObject({ name: 'RefusedError', code: 'RATE_LIMIT_EXCEEDED' });
      first.close();
      expect(await second.ask('thanks')).toBe('You are welcome!');
    },
  );

  verifies('stream.command', async () => {
    const model = new DirectedModel();
    await using service = await RunningService.start({ adapters: { model } });
    using session = connect({ url: service.url });
    await session.cancel();
    await expect(session.approve('none')).rejects.toMatchObject({ code: 'APPROVAL_NOT_FOUND' });
    await expect(session.deny('none', 'x'.repeat(501))).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    const cancelled = expect(session.ask('hello')).rejects.toMatchObject({
      code: 'TURN_CANCELLED',
      cause: { kind: 'cancelled' },
    });
    await model.call(0);
    await session.cancel();
    await cancelled;
    await session.reset();
    const events: unknown[] = [];
    for await (const { event, commandId } of session) {
      events.push(commandId === undefined ? event : `${event} of a command`);
      if (event === 'reset') break;
    }
    expect(events.filter((event) => event !== 'message' && event !== 'thinking')).toEqual([
      'error of a command',
      'error of a command',
      'error',
      'reset',
    ]);
  });

  verifies('stream.foresee', async () => {
    await using service = await RunningService.start({
      yaml: `${SCRIPTED}limits: { connectionsPerAddress: 1 }\n`,
    });
    const ask = async (query: string, headers: Record<string, string> = {}) => {
      const accept = { Accept: 'application/json' };
      const response = await service.fetch(`/${query}`, { headers: { ...accept, ...headers } });
      return { status: response.status, body: await response.json(), headers: response.headers };
    };
    for (let times = 0; times < 3; times += 1)
      expect(await ask('?session=s&after=0')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(await ask('?session=bad/id')).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', details: { field: 'session' } } },
    });
    expect(await ask('?session=a&session=b')).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_REQUEST', details: { field: 'session' } } },
    });
    expect(await ask('', { Origin: 'http://evil.example' })).toMatchObject({ status: 403 });
    using client = await service.connect();
    const full = await ask('?session=s');
    expect(full).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMIT_EXCEEDED' } } });
    expect(Number(full.headers.get('Retry-After'))).toBeGreaterThan(0);
    client.close();
    const text = await (await service.fetch('/')).text();
    expect(text).toMatch(/^agent-service /);
  });
});
