import { describe, expect } from 'vitest';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { firstEvents } from '../../support/sockets/event-stream-reader.ts';
import { verifies } from '../requirements.ts';

/** What an error says of the field, and where the field belongs. */
async function refusal(response: Response): Promise<{ field: unknown; suggestion: unknown }> {
  const { code, details } = await errorOf(response, 400);
  expect(code).toBe('INVALID_REQUEST');
  return { field: details.field, suggestion: details.suggestion };
}

describe('a session that is named in the wrong place', () => {
  const inQuery: readonly (readonly [method: string, path: string, field?: string, suggestion?: string])[] = [
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
    ['POST', '/v1/chat/completions?session=b'],
  ];
  for (const [method, path, field, suggestion] of inQuery)
    verifies('errors.misplaced', `a session in the query of ${method} ${path}`, async () => {
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

  verifies('errors.misplaced', 'a session in the body, where the path names it', async () => {
    await using service = await RunningService.start();
    expect(await refusal(await service.post('/api/sessions/a/cancel', { sessionId: 'b' }))).toEqual({
      field: 'sessionId',
      suggestion: 'Write the id of the session in the path: /api/sessions/ID.',
    });
    expect((await service.post('/api/sessions/a/cancel', { sessionId: null })).status).toBe(200);
  });

  verifies('errors.misplaced', 'a session in a frame of a WebSocket', async () => {
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

  verifies('errors.misplaced', 'but not the session that is meant anyway', async () => {
    await using service = await RunningService.start();
    using client = await service.connect('?session=a:b');
    client.say('hello', { sessionId: 'a:b' });
    expect((await client.settled()).map(({ event }) => event)).toContain('response');
    const path = '/api/sessions/a%3Ab/cancel?session=a:b';
    expect((await service.post(path, { sessionId: 'a:b' })).status).toBe(200);
  });

  verifies(
    'errors.misplaced',
    'but not a session in the query of a request that takes it there',
    async () => {
      await using service = await RunningService.start();
      expect((await service.fetch('/api/statecharts?session=x')).status).toBe(200);
    },
  );
});

describe('a field of the body', () => {
  const ofBody = [
    ['/api/sessions/default/fork?at=2', 'at', 'at'],
    ['/api/sessions/default/fork?At=2', 'At', 'at'],
    ['/api/message-sync?whenBusy=reject', 'whenBusy', 'whenBusy'],
    ['/api/message-sync?when_busy=reject', 'when_busy', 'whenBusy'],
  ] as const;
  for (const [path, field, meant] of ofBody)
    verifies('errors.misplaced', `a field of the body in the query: ${path}`, async () => {
      await using service = await RunningService.start();
      await service.post('/api/message-sync', { message: 'hello' });
      expect(await refusal(await service.post(path, { message: 'hello' }))).toEqual({
        field,
        suggestion: `Write ${meant} in the body.`,
      });
    });

  verifies('errors.misplaced', 'but no other parameter', async () => {
    await using service = await RunningService.start();
    expect((await service.post('/api/message-sync?t=1&trace=x', { message: 'hello' })).status).toBe(200);
  });
});

describe('a parameter of an event stream', () => {
  const headers = { Accept: 'text/event-stream' };

  verifies('errors.misplaced', 'the limit of a page in the query of an event stream', async () => {
    await using service = await RunningService.start();
    const refused = await refusal(await service.fetch('/api/sessions/s/events?limit=1', { headers }));
    expect(refused).toMatchObject({ field: 'limit' });
  });

  verifies('stream.sse-time', async () => {
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
