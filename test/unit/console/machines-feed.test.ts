import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const MODULE: string = fileURLToPath(
  new URL('../../../src/console/service/machines-feed.ts', import.meta.url),
);

interface Feed {
  snapshot(): {
    readonly machines: ReadonlyMap<string, object>;
    readonly turns: number;
    readonly serverChanges: number;
  };
  subscribe(listener: () => void): () => void;
  listen(listener: object): () => void;
}

beforeEach(() => void vi.stubGlobal('requestAnimationFrame', (draw: () => void) => draw()));
afterEach(() => void vi.unstubAllGlobals());

async function openFeed() {
  const { MachinesFeed } = await import(MODULE);
  const { promise: hears, resolve } = Promise.withResolvers<(news: object) => void>();
  const subscribe = ({ onNews }: { onNews: (news: object) => void }) => resolve(onNews);
  const feed: Feed = new MachinesFeed({ subscribe });
  return { feed, tell: await hears };
}

const turn = (id: string) => ({
  kind: 'machines.state',
  state: { id, machine: 'turn', status: 'active' },
  isMove: true,
});

describe('the feed of the machines, when its stream opens again', () => {
  it('has only what is told then, and counts that turns may have ended and servers changed', async () => {
    const { feed, tell } = await openFeed();
    tell({ kind: 'machines.opened' });
    tell(turn('t1'));
    const before = feed.snapshot();
    const listener = vi.fn();
    feed.subscribe(listener);
    tell({ kind: 'machines.opened' });
    expect(feed.snapshot().machines.size).toBe(0);
    expect(feed.snapshot().turns).toBe(before.turns + 1);
    expect(feed.snapshot().serverChanges).toBe(before.serverChanges + 1);
    expect(listener).toHaveBeenCalled();
  });

  it('says so before it tells of the states', async () => {
    const { feed, tell } = await openFeed();
    const told: string[] = [];
    feed.listen({
      onOpened: () => told.push('opened'),
      onState: ({ id }: { id: string }) => told.push(id),
    });
    tell({ kind: 'machines.opened' });
    tell(turn('t1'));
    expect(told).toEqual(['opened', 't1']);
  });
});
