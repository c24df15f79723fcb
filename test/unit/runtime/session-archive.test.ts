import { expect, it } from 'vitest';
import { SessionArchive } from '../../../src/runtime/sessions/session-archive.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { SessionRig } from '../../support/sessions/session-rig.ts';

it('a fork of a session that is deleted meanwhile says that there is no such session', async () => {
  const rig = new SessionRig();
  const { journal, fold, registry, store } = rig;
  await rig.say('hello');
  store.beforeRead = async () => {
    store.beforeRead = async () => undefined;
    await registry.delete('s', CLIENT);
  };
  await expect(
    new SessionArchive(journal, fold, registry).fork({ from: 's', to: 'f' }, CLIENT),
  ).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    details: { sessionId: 's' },
  });
  expect(await rig.logged('f')).toEqual([]);
});
