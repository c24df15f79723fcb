import { expect, it } from 'vitest';
import { StartRecovery } from '../../../src/runtime/sessions/start-recovery.ts';
import { settlesWithin } from '../../../src/timing/deadline.ts';

it('a recovery that does not end is waited for until its time is over', async () => {
  const recovery = new StartRecovery();
  const { promise: never } = Promise.withResolvers<void>();
  const followed = recovery.follow(never, 20);
  expect(await settlesWithin(0, recovery.over)).toBe(false);
  await followed;
  await recovery.over;
});
