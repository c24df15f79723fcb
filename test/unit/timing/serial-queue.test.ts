import { describe, expect, it } from 'vitest';
import { SerialQueue } from '../../../src/timing/serial-queue.ts';

describe('a serial queue', () => {
  it('runs work one after the other, in its order', async () => {
    const queue = new SerialQueue();
    const told: string[] = [];
    const first = Promise.withResolvers<void>();
    const done = [
      queue.run(async () => {
        told.push('first begins');
        await first.promise;
        told.push('first ends');
      }),
      queue.run(async () => told.push('second')),
    ];
    await Promise.resolve();
    expect(told).toEqual(['first begins']);
    first.resolve();
    await Promise.all(done);
    expect(told).toEqual(['first begins', 'first ends', 'second']);
  });

  it('tells a failure to who gave the work, and goes on', async () => {
    const queue = new SerialQueue();
    const failed = queue.run(() => Promise.reject(new Error('no')));
    const next = queue.run(async () => 'done');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('done');
  });

  it('is settled when all work is over, also after a failure', async () => {
    const queue = new SerialQueue();
    const work = Promise.withResolvers<void>();
    const failed = queue.run(() => work.promise);
    let isSettled = false;
    const settled = queue.settled().then(() => {
      isSettled = true;
    });
    await Promise.resolve();
    expect(isSettled).toBe(false);
    work.reject(new Error('no'));
    await expect(failed).rejects.toThrow('no');
    await settled;
    expect(isSettled).toBe(true);
  });
});
