import { expect, it, vi } from 'vitest';
import { StorageAwayError } from '../../../src/core/log/storage-away.ts';
import { SessionArchive } from '../../../src/runtime/sessions/session-archive.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';

const RECOVERED = { over: Promise.resolve() };

it('a fork of a session that is deleted meanwhile says that there is no such session', async () => {
  const rig = new SessionRig();
  const { journal, fold, registry, store } = rig;
  await rig.say('hello');
  store.beforeRead = async () => {
    store.beforeRead = async () => undefined;
    await registry.delete('s', CLIENT);
  };
  await expect(
    new SessionArchive({ journal, fold, sessions: registry, recovery: RECOVERED }).fork(
      { from: 's', to: 'f' },
      CLIENT,
    ),
  ).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    details: { sessionId: 's' },
  });
  expect(await rig.logged('f')).toEqual([]);
});

it('a fork that may be stored says so, also while the log cannot be read any more', async () => {
  const rig = new SessionRig();
  const { journal, fold, registry } = rig;
  await rig.say('hello');
  vi.spyOn(journal, 'fork').mockImplementation(async () => {
    vi.spyOn(registry, 'position').mockRejectedValue(new StorageAwayError('it is away', { isReading: true }));
    throw new StorageAwayError('it went away', { mayBeStored: true });
  });
  const archive = new SessionArchive({ journal, fold, sessions: registry, recovery: RECOVERED });
  await expect(archive.fork({ from: 's', to: 'f' }, CLIENT)).rejects.toMatchObject({ mayBeStored: true });
});

it('a page of many shared sessions looks up no more than it needs', async () => {
  const rig = new SessionRig();
  const { journal, fold, registry } = rig;
  const names = Array.from(
    { length: 120 },
    (_, number) => `acme/key:bob/s${String(number).padStart(4, '0')}`,
  );
  const message = { text: 'hello', turnId: 't' };
  for (const sessionId of names)
    await journal.append(sessionId, 0, [{ type: 'turn.requested', ...message }], {
      origin: CLIENT,
      open: false,
    });
  const lookedUp = vi.spyOn(journal, 'sessions');
  const archive = new SessionArchive({ journal, fold, sessions: registry, recovery: RECOVERED });
  const of = {
    tenant: 'acme',
    principal: 'key:ada',
    also: new Set([...names, 'acme/key:bob/gone'].toReversed()),
  };
  const ids = async (after?: string) =>
    (await archive.list({ limit: 10, of, ...(after && { after }) })).map(({ sessionId }) => sessionId);
  expect(await ids()).toEqual(names.slice(0, 10));
  const one = lookedUp.mock.calls.filter(([{ sessionId }]) => sessionId !== undefined);
  expect(one.length).toBeLessThan(names.length);
  expect(await ids(names[9])).toEqual(names.slice(10, 20));
  expect(await ids(names[114])).toEqual(names.slice(115));
});
