import { describe, expect, it } from 'vitest';
import { LoopPace } from '../../../src/timing/loop-pace.ts';
import { nextLoop } from '../../../src/timing/next-loop.ts';

describe('the pace of the event loop', () => {
  it('lets some work begin at once, and the rest in the next turns, in order', async () => {
    const pace = new LoopPace(3);
    const begun: number[] = [];
    const begin = (index: number): void => {
      const turn = pace.turn();
      if (turn) void turn.then(() => begun.push(index));
      else begun.push(index);
    };
    for (let index = 0; index < 8; index += 1) begin(index);
    expect(begun).toEqual([0, 1, 2]);
    await nextLoop();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    // What comes later waits behind what waits already.
    begin(8);
    await nextLoop();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('never lets work wait that comes alone', async () => {
    const pace = new LoopPace(3);
    for (let index = 0; index < 10; index += 1) {
      expect(pace.turn()).toBeUndefined();
      await nextLoop();
    }
  });
});
