import { describe, expect, it } from 'vitest';
import { ViewTurns } from '../../../src/runtime/requests/view-turns.ts';

const ada = { tenant: 'acme', principal: 'key:ada' };
const bob = { tenant: 'acme', principal: 'key:bob' };

describe('the views of a client', () => {
  it('take turns, and those of others do not wait for them', async () => {
    const turns = new ViewTurns();
    const begun: string[] = [];
    const end = Promise.withResolvers<void>();
    const view = (name: string) => () => {
      begun.push(name);
      return end.promise;
    };
    const asked = ['a1', 'a2', 'a3'].map((name) => turns.run(ada, view(name)));
    asked.push(turns.run(bob, view('b1')));
    await expect.poll(() => begun).toEqual(['a1', 'a2', 'b1']);
    end.resolve();
    await Promise.all(asked);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('are refused when too many wait', async () => {
    const turns = new ViewTurns();
    const end = Promise.withResolvers<void>();
    const asked = Array.from({ length: 1_000 }, () => turns.run(ada, () => end.promise));
    await expect(turns.run(ada, () => end.promise)).rejects.toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      details: { name: 'views', of: 'principal' },
    });
    end.resolve();
    await Promise.all(asked);
    await turns.run(ada, async () => undefined);
  });
});
