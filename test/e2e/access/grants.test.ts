import { describe, expect } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { StorageFullError } from '../../../src/core/log/storage-full.ts';
import { bearer, identity, KnownTokens } from '../../support/access/known-tokens.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { errorOf } from '../../support/service/error-envelope.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { verifies } from '../requirements.ts';

const tokens = () =>
  new KnownTokens({
    ada: identity('ada'),
    bob: identity('bob'),
    eve: identity('eve'),
    reader: identity('reader', { roles: ['reader'] }),
    root: identity('root', { roles: ['admin'] }),
    cleo: identity('cleo', { tenant: 'orbit' }),
    boss: identity('boss', { tenant: 'orbit', roles: ['admin'] }),
  });

const ADAS = encodeURIComponent('acme/test:ada/plan');

/** Ada has a session `plan`. */
async function start(options: object = {}) {
  const service = await RunningService.start({ verifiers: [tokens()], ...options });
  const ask = (who: string, method: string, path: string, body?: object): Promise<Response> =>
    service.fetch(path, {
      method,
      headers: { ...bearer(who), 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const statusOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).status;
  const share = async (grant: object, who = 'ada') => {
    const { grant: made } = (await (await ask(who, 'POST', '/api/sessions/plan/grants', grant)).json()) as {
      grant: { grantId: string };
    };
    return made;
  };
  const say = (who: string, sessionId: string, message = 'hi') =>
    ask(who, 'POST', '/api/message-sync', { message, sessionId });
  const listOf = async (who: string, query = '') => {
    const { sessions } = (await (await ask(who, 'GET', `/api/sessions${query}`)).json()) as {
      sessions: { sessionId: string }[];
    };
    return sessions.map(({ sessionId }) => sessionId);
  };
  const connect = async (who: string, session: string) => {
    const { ticket } = (await (await ask(who, 'POST', '/api/tickets')).json()) as { ticket: string };
    return service.connect(`?session=${encodeURIComponent(session)}&ticket=${ticket}`);
  };
  await say('ada', 'plan');
  return {
    service,
    ask,
    connect,
    statusOf,
    share,
    say,
    listOf,
    [Symbol.asyncDispose]: () => service.close(),
  };
}

describe('a session that is shared', () => {
  verifies('grants.read', async () => {
    await using setup = await start();
    const { ask, statusOf, share, say, listOf } = setup;
    expect(await statusOf('bob', 'GET', `/api/sessions/${ADAS}`)).toBe(404);
    expect(await share({ principal: 'test:bob', access: 'read' })).toMatchObject({
      sessionId: 'plan',
      principal: 'test:bob',
      access: 'read',
      createdBy: 'test:ada',
    });
    expect(await (await ask('bob', 'GET', `/api/sessions/${ADAS}`)).json()).toMatchObject({
      session: { sessionId: 'acme/test:ada/plan', access: ['read'] },
    });
    expect(await statusOf('bob', 'GET', `/api/sessions/${ADAS}/events`)).toBe(200);
    expect(await listOf('bob')).toEqual(['acme/test:ada/plan']);
    for (const [method, path, body] of [
      ['POST', '/api/message-sync', { message: 'x', sessionId: 'acme/test:ada/plan' }],
      ['POST', '/api/reset', { sessionId: 'acme/test:ada/plan' }],
      ['DELETE', `/api/sessions/${ADAS}`, undefined],
      ['PATCH', `/api/sessions/${ADAS}`, { title: 'mine' }],
      ['POST', `/api/sessions/${ADAS}/cancel`, {}],
      ['POST', `/api/sessions/${ADAS}/grants`, { principal: 'test:eve', access: 'read' }],
      ['GET', `/api/sessions/${ADAS}/grants`, undefined],
    ] as const) {
      const refused = await errorOf(await ask('bob', method, path, body), 403);
      expect(refused).toMatchObject({ code: 'FORBIDDEN', details: { access: ['read'] } });
    }
    // A fork of what one may read is one's own.
    expect(await statusOf('bob', 'POST', `/api/sessions/${ADAS}/fork`, { sessionId: 'copy' })).toBe(200);
    expect((await say('bob', 'copy')).status).toBe(200);
    expect(await listOf('ada')).toEqual(['plan']);
    for (const who of ['eve', 'cleo', 'boss'])
      expect(await statusOf(who, 'GET', `/api/sessions/${ADAS}`)).toBe(404);
  });

  verifies('grants.talk', async () => {
    await using setup = await start();
    const { share, say, statusOf } = setup;
    await share({ principal: 'test:bob', access: 'talk' });
    await share({ principal: 'test:reader', access: 'talk' });
    using ada = await setup.connect('ada', 'plan');
    expect((await say('bob', 'acme/test:ada/plan', 'from bob')).status).toBe(200);
    await ada.until((seen) => seen.some(({ event }) => event === 'response'));
    // A grant gives no scope.
    expect((await say('reader', 'acme/test:ada/plan')).status).toBe(403);
    expect(await statusOf('bob', 'POST', `/api/sessions/${ADAS}/approvals/c1`, { decision: 'approve' })).toBe(
      403,
    );
  });

  verifies('grants.role', async () => {
    await using setup = await start();
    const { share, statusOf } = setup;
    await share({ role: 'user', access: 'read' });
    const status = (who: string) => statusOf(who, 'GET', `/api/sessions/${ADAS}`);
    expect([await status('bob'), await status('eve'), await status('reader'), await status('cleo')]).toEqual([
      200, 200, 404, 404,
    ]);
  });

  verifies('grants.invalid', async () => {
    await using setup = await start();
    const { ask, statusOf } = setup;
    const path = '/api/sessions/plan/grants';
    for (const body of [
      { access: 'read' },
      { principal: 'a', role: 'b', access: 'read' },
      { principal: 'test:bob', access: 'write' },
      { principal: '', access: 'read' },
      // Nobody can ever have this role, or this name.
      { role: 'nobody', access: 'read' },
      { principal: 'bob', access: 'read' },
    ]) {
      const { code } = await errorOf(await ask('ada', 'POST', path, body), 400);
      expect(['INVALID_REQUEST', 'MISSING_FIELD']).toContain(code);
    }
    const { details } = await errorOf(
      await ask('ada', 'POST', path, { principal: 'bob', access: 'read' }),
      400,
    );
    expect(details).toMatchObject({ field: 'principal', suggestion: expect.stringContaining('test:') });
    expect(
      await statusOf('ada', 'POST', '/api/sessions/nothing/grants', { role: 'user', access: 'read' }),
    ).toBe(404);
    expect(await statusOf('ada', 'DELETE', `${path}/nothing`)).toBe(404);
    expect(await statusOf('bob', 'GET', `/api/sessions/${ADAS}/grants`)).toBe(404);
    // Twice the same is one.
    const twice = async () =>
      (await (await ask('ada', 'POST', path, { role: 'user', access: 'read' })).json()) as {
        grant: { grantId: string };
      };
    expect((await twice()).grant.grantId).toBe((await twice()).grant.grantId);
    await using open = await RunningService.start();
    expect((await open.fetch(path)).status).toBe(400);
  });

  verifies('grants.revoked', async () => {
    await using setup = await start();
    const { service, ask, statusOf, share, listOf } = setup;
    const { grantId } = await share({ principal: 'test:bob', access: 'read' });
    await share({ principal: 'test:eve', access: 'read' });
    using bob = await setup.connect('bob', 'acme/test:ada/plan');
    using eve = await setup.connect('eve', 'acme/test:ada/plan');
    const stream = await service.fetch(`/api/sessions/${ADAS}/events`, {
      headers: { ...bearer('bob'), Accept: 'text/event-stream' },
    });
    expect(await statusOf('ada', 'DELETE', `/api/sessions/plan/grants/${grantId}`)).toBe(200);
    expect(await bob.closed).toMatchObject({ code: 4404 });
    expect(await stream.text()).toContain('SESSION_NOT_FOUND');
    expect(await statusOf('bob', 'GET', `/api/sessions/${ADAS}`)).toBe(404);
    expect(await listOf('bob')).toEqual([]);
    // The other one goes on.
    await setup.say('ada', 'plan', 'more');
    await eve.until((seen) => seen.some(({ event }) => event === 'response'));
    expect(await (await ask('ada', 'GET', '/api/sessions/plan/grants')).json()).toMatchObject({
      grants: [{ principal: 'test:eve' }],
    });
  });

  verifies('grants.deleted', async () => {
    await using setup = await start();
    const { statusOf, share, say, ask } = setup;
    await share({ principal: 'test:bob', access: 'read' });
    expect(await statusOf('ada', 'DELETE', '/api/sessions/plan')).toBe(200);
    await say('ada', 'plan', 'anew');
    expect(await (await ask('ada', 'GET', '/api/sessions/plan/grants')).json()).toMatchObject({ grants: [] });
    expect(await statusOf('bob', 'GET', `/api/sessions/${ADAS}`)).toBe(404);
  });

  verifies('grants.deleted-late', async () => {
    const store = new WatchedStore(memoryEventStore());
    await using setup = await start({ adapters: { store } });
    const { statusOf, share, say, ask } = setup;
    const bobs = () => statusOf('bob', 'GET', `/api/sessions/${ADAS}/events`);
    await share({ principal: 'test:bob', access: 'read' });
    expect(await bobs()).toBe(200);
    store.refuseNext('grant.revoked', new StorageFullError('the disk is full'));
    expect(await statusOf('ada', 'DELETE', '/api/sessions/plan')).toBe(503);
    expect(await bobs()).toBe(404);
    expect((await say('ada', 'plan', 'anew')).status).toBe(200);
    expect(await bobs()).toBe(404);
    expect(await (await ask('ada', 'GET', '/api/sessions/plan')).json()).toMatchObject({
      session: { title: 'anew', turns: { requested: 1 } },
    });
    expect((await store.read('~grants', 0)).map(({ event }) => event.type)).toEqual([
      'session.shared',
      'grant.revoked',
    ]);
  });

  verifies('grants.restart', async () => {
    await using folder = await tempDirectory();
    {
      await using before = await start({ dataDir: folder.path });
      await before.share({ principal: 'test:bob', access: 'read' });
      const gone = await before.share({ principal: 'test:eve', access: 'read' }, 'ada');
      await before.ask('ada', 'DELETE', `/api/sessions/plan/grants/${gone.grantId}`);
    }
    await using after = await start({ dataDir: folder.path });
    expect(await after.statusOf('bob', 'GET', `/api/sessions/${ADAS}`)).toBe(200);
    expect(await after.statusOf('eve', 'GET', `/api/sessions/${ADAS}`)).toBe(404);
  });

  verifies('grants.list', async () => {
    await using setup = await start();
    const { share, say, listOf } = setup;
    await share({ principal: 'test:bob', access: 'read' });
    for (const name of ['a', 'b', 'c']) await say('bob', name);
    expect(await listOf('bob')).toEqual(['acme/test:ada/plan', 'a', 'b', 'c']);
    const pages: string[][] = [];
    for (let after = ''; ; ) {
      const page = await listOf('bob', `?limit=2${after && `&after=${encodeURIComponent(after)}`}`);
      if (page.length === 0) break;
      pages.push(page);
      after = page.at(-1) ?? '';
    }
    expect(pages).toEqual([
      ['acme/test:ada/plan', 'a'],
      ['b', 'c'],
    ]);
    expect(await listOf('bob', '?query=plan')).toEqual(['acme/test:ada/plan']);
    expect(await listOf('root')).toEqual([
      'acme/test:ada/plan',
      'acme/test:bob/a',
      'acme/test:bob/b',
      'acme/test:bob/c',
    ]);
  });
});
