import { describe, expect, it } from 'vitest';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { firstEvents } from '../../support/sockets/event-stream-reader.ts';

/** What an error says of the field, and where the field belongs. */
async function refusal(response: Response): Promise<{ field: unknown; suggestion: unknown }> {
  const { code, details } = await errorOf(response, 400);
  expect(code).toBe('INVALID_REQUEST');
  return { field: details.field, suggestion: details.suggestion };
}

describe('a session that is named in the wrong place', () => {
  it.each([
    ['POST', '/api/reset?session=x', 'session', 'Write sessionId in the body.'],
    ['POST', '/api/reset?session_id=x', 'session_id', 'Write sessionId in the body.'],
    ['POST', '/api/message-sync?sessionId=x', 'sessionId', 'Write sessionId in the body.'],
    [
      ...(['POST', '/api/sessions/a/cancel?session=b', 'session'] as const),
      'Write the id of the session in the path: /api/sessions/ID.',
    ],
    [
      ...(['DELETE', '/api/sessions/a?sessionId=b', 'sessionId'] as const),
      'Write the id of the session in the path: /api/sessions/ID.',
    ],
    [
      ...(['GET', '/api/approvals?session=b', 'session'] as const),
      'Leave it out: the request is not about one session.',
    ],
    [...(['POST', '/mcp?session=b', 'session'] as const), 'Write sessionId in the arguments of the tool.'],
    ['POST', '/v1/chat/completions?session=b', undefined, undefined],
  ])('is refused in the query of %s %s', async (method, path, field, suggestion) => {
    await using service = await RunningService.start();
    await service.post('/api/message-sync', { message: 'kept' });
    const response = await service.fetch(path, { method });
    if (field === undefined) {
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('names a session in the wrong place');
    } else expect(await refusal(response)).toEqual({ field, suggestion });
    const { session } = (await (await service.fetch('/api/sessions/default')).json()) as {
      session: { head: number; history: unknown[] };
    };
    expect(session.history).toHaveLength(2);
  });

  it('is refused in a body of a request whose path names it', async () => {
    await using service = await RunningService.start();
    expect(await refusal(await service.post('/api/sessions/a/cancel', { sessionId: 'b' }))).toEqual({
      field: 'sessionId',
      suggestion: 'Write the id of the session in the path: /api/sessions/ID.',
    });
    expect((await service.post('/api/sessions/a/cancel', { sessionId: null })).status).toBe(200);
  });

  it('is refused in a frame of a WebSocket', async () => {
    await using service = await RunningService.start();
    using client = await service.connect();
    client.say('hello', { sessionId: 'x' });
    const [error] = await client.settled();
    expect(error).toMatchObject({
      event: 'error',
      data: {
        code: 'INVALID_REQUEST',
        details: {
          field: 'sessionId',
          suggestion: 'Write session in the address of the WebSocket: /?session=ID.',
        },
      },
    });
  });

  it('is fine if it is the one that is meant', async () => {
    await using service = await RunningService.start();
    await using client = await service.connect('?session=a:b');
    client.say('hello', { sessionId: 'a:b' });
    expect((await client.settled()).map(({ event }) => event)).toContain('response');
    expect((await service.post('/api/sessions/a%3Ab/cancel?session=a:b', { sessionId: 'a:b' })).status).toBe(
      200,
    );
  });

  it('is fine in the query of the requests that take it there', async () => {
    await using service = await RunningService.start();
    expect((await service.fetch('/api/statecharts?session=x')).status).toBe(200);
  });
});

describe('a field of the body', () => {
  it.each([
    ['/api/sessions/default/fork?at=2', 'at', 'at'],
    ['/api/sessions/default/fork?At=2', 'At', 'at'],
    ['/api/message-sync?whenBusy=reject', 'whenBusy', 'whenBusy'],
    ['/api/message-sync?when_busy=reject', 'when_busy', 'whenBusy'],
  ])('is refused in the query: %s', async (path, field, meant) => {
    await using service = await RunningService.start();
    await service.post('/api/message-sync', { message: 'hello' });
    expect(await refusal(await service.post(path, { message: 'hello' }))).toEqual({
      field,
      suggestion: `Write ${meant} in the body.`,
    });
  });

  it('does not forbid other parameters', async () => {
    await using service = await RunningService.start();
    expect((await service.post('/api/message-sync?t=1&trace=x', { message: 'hello' })).status).toBe(200);
  });
});

describe('a parameter of an event stream', () => {
  const headers = { Accept: 'text/event-stream' };

  it('is refused if it is for pages only', async () => {
    await using service = await RunningService.start();
    const refused = await refusal(await service.fetch('/api/sessions/s/events?limit=1', { headers }));
    expect(refused).toMatchObject({ field: 'limit' });
  });

  it('adds the time, as over WebSocket', async () => {
    await using service = await RunningService.start();
    await service.post('/api/message-sync', { message: 'hello', sessionId: 's' });
    const events = async (query: string) =>
      firstEvents(await service.fetch(`/api/sessions/s/events${query}`, { headers }), 2);
    const time = expect.stringMatching(/^\d{4}-/);
    expect(await events('?time=1')).toMatchObject([{}, { id: '1', data: { event: 'message', time } }]);
    const [, plain] = await events('');
    expect(plain).not.toHaveProperty('data.time');
  });
});
