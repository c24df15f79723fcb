import { describe, expect, it } from 'vitest';
import { LoopPace } from '../../../src/timing/loop-pace.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';

describe('the pace of the event loop', () => {
  it('begins some work at once, and the rest in the next turns, in order', async () => {
    const pace = new LoopPace(3);
    const begun: number[] = [];
    for (let index = 0; index < 8; index += 1) pace.begin(() => begun.push(index));
    expect(begun).toEqual([0, 1, 2]);
    await nextLoop();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    // Work that comes later waits behind what waits already.
    pace.begin(() => begun.push(8));
    await nextLoop();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('never lets work wait that comes alone', async () => {
    const pace = new LoopPace(3);
    for (let index = 0; index < 10; index += 1) {
      let hasBegun = false;
      pace.begin(() => {
        hasBegun = true;
      });
      expect(hasBegun).toBe(true);
      await nextLoop();
    }
  });

  it('lets work begin more work, which waits behind the rest', async () => {
    const pace = new LoopPace(2);
    const begun: string[] = [];
    pace.begin(() => {
      begun.push('a');
      pace.begin(() => begun.push('of a'));
    });
    for (const name of ['b', 'c']) pace.begin(() => begun.push(name));
    expect(begun).toEqual(['a', 'of a']);
    await nextLoop();
    expect(begun).toEqual(['a', 'of a', 'b', 'c']);
  });
});
