import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { projectRoot } from '../../support/project/source-imports.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { eventsOf, listSessions, viewOf } from '../../support/sessions/session-api.ts';
import { ResumingSocket } from '../../support/sockets/resuming-socket.ts';
import { verifies } from '../requirements.ts';

const yaml = `${SCRIPTED}limits: {requestsPerMinute: false}\n`;

const say = (service: RunningService, sessionId: string, message: string) =>
  service.post('/api/message-sync', { sessionId, message });
const rename = (service: RunningService, sessionId: string, body: object) =>
  service.fetch(`/api/sessions/${sessionId}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const titlesOf = async (service: RunningService, query = '') =>
  (await listSessions(service, query)).map(({ sessionId, title }) => [sessionId, title]);

describe('the title of a session', () => {
  verifies('sessions.title', async () => {
    await using folder = await tempDirectory();
    const dataDir = folder.path;
    {
      await using service = await RunningService.start({ yaml, dataDir });
      await say(service, 'a', 'How do I sum\nnumbers?');
      await say(service, 'a', 'And more?');
      expect(await titlesOf(service)).toEqual([['a', 'How do I sum']]);
      await rename(service, 'a', { title: ' Sums  of\tnumbers ' });
      await service.post('/api/sessions/a/fork', { sessionId: 'b' });
      await service.post('/api/sessions/a/fork', { sessionId: 'c', at: 2 });
    }
    await using service = await RunningService.start({ yaml, dataDir });
    expect(await titlesOf(service)).toEqual([
      ['a', 'Sums of numbers'],
      ['b', 'Sums of numbers'],
      ['c', 'How do I sum'],
    ]);
    expect(await viewOf(service, 'b')).toMatchObject({ title: 'Sums of numbers' });
    expect(await viewOf(service, 'a', '?at=1')).toMatchObject({ title: 'How do I sum' });
  });

  verifies('sessions.rename', async () => {
    await using service = await RunningService.start({ yaml });
    await say(service, 'a', 'hello');
    using socket = new ResumingSocket(`ws://127.0.0.1:${service.port}/?session=a&after=0`);
    const renamed = await rename(service, 'a', { title: 'Zoë 👋' });
    expect(renamed.status).toBe(200);
    expect(await renamed.json()).toMatchObject({ status: 'renamed', sessionId: 'a', title: 'Zoë 👋' });
    for (const body of [{ title: '' }, { title: null }, { title: ' \n' }]) {
      expect(await (await rename(service, 'a', { title: 'x' })).json()).toMatchObject({ title: 'x' });
      expect(await (await rename(service, 'a', body)).json()).toMatchObject({ title: 'hello' });
    }
    const frames = await socket.until((all) => all.filter(({ event }) => event === 'renamed').length >= 7);
    expect(frames.filter(({ event }) => event === 'renamed').map(({ data }) => data)).toEqual(
      ['Zoë 👋', 'x', null, 'x', null, 'x', null].map((title) => ({ title })),
    );
    expect((await eventsOf(service, 'a')).at(-1)).toMatchObject({
      event: 'renamed',
      data: { title: null },
      actor: { kind: 'client' },
    });
    for (const [body, code] of [
      [{}, 'MISSING_FIELD'],
      [{ title: 5 }, 'INVALID_REQUEST'],
      [{ title: 'x'.repeat(201) }, 'INVALID_REQUEST'],
    ] as const)
      expect(await errorOf(await rename(service, 'a', body), 400)).toMatchObject({
        code,
        details: { field: 'title' },
      });
    expect(await errorOf(await rename(service, 'nobody', { title: 'x' }), 404)).toMatchObject({
      code: 'SESSION_NOT_FOUND',
    });
    expect((await listSessions(service)).map(({ sessionId }) => sessionId)).toEqual(['a']);
  });

  verifies('sessions.search', async () => {
    await using service = await RunningService.start({ yaml });
    for (const [sessionId, message] of [
      ['a', 'Übung macht den Meister'],
      ['b', 'something else'],
      ['meister-3', 'hello'],
      ['z', 'Der MEISTER'],
    ] as const)
      await say(service, sessionId, message);
    // A keyed request has a stream of its own behind the sessions.
    await service.post('/api/sessions/b/cancel', {}, { 'Idempotency-Key': 'meister' });
    const found = async (query: string) => (await titlesOf(service, query)).map(([sessionId]) => sessionId);
    expect(await found('?query=meister')).toEqual(['a', 'meister-3', 'z']);
    expect(await found(`?query=${encodeURIComponent('übung')}`)).toEqual(['a']);
    expect(await found('?query=meister&limit=2')).toEqual(['a', 'meister-3']);
    expect(await found('?query=meister&limit=2&after=meister-3')).toEqual(['z']);
    expect(await found('?query=nothing')).toEqual([]);
    expect(await found('?query=')).toEqual(['a', 'b', 'meister-3', 'z']);
    await rename(service, 'b', { title: 'Meisterstück' });
    expect(await found('?query=meisterst')).toEqual(['b']);
    expect(await errorOf(await service.fetch(`/api/sessions?query=${'x'.repeat(201)}`), 400)).toMatchObject({
      details: { field: 'query' },
    });
  });

  verifies('sessions.title-older', async () => {
    await using folder = await tempDirectory();
    await cp(join(projectRoot, 'test/fixtures/log-v3/data'), folder.path, { recursive: true });
    await using service = await RunningService.start({ yaml, dataDir: folder.path });
    const titles = new Map(
      (await listSessions(service)).map(({ sessionId, title }) => [sessionId, title] as const),
    );
    expect(titles.get('eventful')).toBe('What is this?');
    expect((await viewOf(service, 'eventful')).title).toBe(titles.get('eventful'));
    expect((await titlesOf(service, '?query=what+is')).length).toBeGreaterThan(0);
  });
});
