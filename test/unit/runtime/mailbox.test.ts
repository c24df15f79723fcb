import { expect, test } from 'vitest';
import { Mailbox } from '../../../src/runtime/sessions/mailbox.ts';

test('begins each piece of work when the one before has ended, also when that failed', async () => {
  const mailbox = new Mailbox();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = mailbox.put(async () => {
    log.push('first begins');
    await gate.promise;
    log.push('first fails');
    throw new Error('broken');
  });
  const second = mailbox.put(async () => log.push('second'));
  gate.resolve();
  await expect(first).rejects.toThrow('broken');
  await second;
  expect(log).toEqual(['first begins', 'first fails', 'second']);
});

test('is emptied when also that has ended which was put in meanwhile', async () => {
  const mailbox = new Mailbox();
  const log: string[] = [];
  void mailbox.put(async () => {
    void mailbox.put(async () => log.push('inner'));
    log.push('outer');
  });
  expect(mailbox.isEmpty).toBe(false);
  await mailbox.emptied();
  expect(log).toEqual(['outer', 'inner']);
  expect(mailbox.isEmpty).toBe(true);
});
