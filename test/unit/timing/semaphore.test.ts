import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { Semaphore } from '../../../src/timing/semaphore.ts';

/** Work that begins when it is let in, and ends when the test says so. */
function workers(semaphore: Semaphore) {
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const send = (name: string): Promise<string> =>
    semaphore.run(() => {
      begun.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return end.promise;
    });
  return { begun, send, end: (name: string) => ends.get(name) };
}

describe('a semaphore', () => {
  it('lets some run at the same time, and the others in the order in which they came', async () => {
    const { begun, send, end } = workers(new Semaphore({ atOnce: 2, patienceMs: 1_000 }));
    const all = ['a', 'b', 'c', 'd'].map(send);
    await expect.poll(() => begun).toEqual(['a', 'b']);
    end('b')?.resolve('B');
    expect(await all[1]).toBe('B');
    await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
    // One that fails makes room, too.
    end('a')?.reject(new Error('no'));
    await expect(all[0]).rejects.toThrow('no');
    await expect.poll(() => begun).toEqual(['a', 'b', 'c', 'd']);
    end('c')?.resolve('C');
    end('d')?.resolve('D');
    expect(await Promise.all([all[2], all[3]])).toEqual(['C', 'D']);
  });

  it('lets nothing wait for ever for what never ends', async () => {
    const clock = new SimulatedClock();
    const { begun, send, end } = workers(new Semaphore({ atOnce: 1, patienceMs: 1_000, clock }));
    const [, second, third] = ['a', 'b', 'c'].map(send);
    clock.increment(999);
    await expect.poll(() => begun).toEqual(['a']);
    clock.increment(1);
    await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
    for (const name of ['b', 'c']) end(name)?.resolve(name);
    expect(await Promise.all([second, third])).toEqual(['b', 'c']);
    // While one runs, who comes next waits again.
    void send('d');
    await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
    end('a')?.resolve('a');
    await expect.poll(() => begun).toEqual(['a', 'b', 'c', 'd']);
  });
});
