import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** As a text, because the code of the page has the types of a browser, which tests lack. */
const MODULE: string = fileURLToPath(
  new URL('../../../src/console/service/session-feed.ts', import.meta.url),
);

interface Feed {
  snapshot(): {
    readonly status: string;
    readonly events: readonly { readonly seq: number }[];
    readonly notices: readonly string[];
    readonly running: { readonly thought: { readonly ms: number | null } | null } | null;
  };
  loadEarlier(): void;
  send(content: string): Promise<boolean>;
  close(): void;
}

interface Subscription {
  onNews(news: object): void;
  isNeeded(): boolean;
}

const event = (seq: number) => ({ event: 'reset', data: {}, seq, time: new Date(seq).toISOString() });
/** The clock of the service is an hour behind. */
const serviceTime = (ms = Date.now()) => new Date(ms - 3_600_000).toISOString();
const page = (...seqs: number[]) =>
  Response.json({ events: seqs.map(event), head: seqs.at(-1) ?? 0, timestamp: serviceTime() });
const refusal = () =>
  Response.json({ error: { code: 'FORBIDDEN', message: 'not yours', details: {} } }, { status: 403 });

const joined = (seq: number) => ({
  kind: 'session.joined',
  joined: {
    seq,
    steps: { running: null, thoughts: new Map() },
    state: { status: 'live', unsent: [], unanswered: [], trouble: null },
  },
});

/** The pages that the feed has asked for, by their parameters, with the answer that it waits for. */
const asked = new Map<string, PromiseWithResolvers<Response>>();

beforeEach(() => {
  asked.clear();
  vi.stubGlobal('self', { location: { pathname: '/' } });
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => queueMicrotask(draw));
  vi.stubGlobal('fetch', (path: string) => {
    const answer = Promise.withResolvers<Response>();
    asked.set(new URL(path, 'http://service').search, answer);
    return answer.promise;
  });
});
afterEach(() => void vi.unstubAllGlobals());

async function answer(search: string, response: Response): Promise<void> {
  await expect.poll(() => [...asked.keys()]).toContain(search);
  asked.get(search)?.resolve(response);
  // The feed reads the answer.
  await new Promise((resolve) => setImmediate(resolve));
}

/** The feed of a session that has the event `seq` last, and what the feed has subscribed to. */
async function openFeed(seq = 1) {
  const { SessionFeed } = await import(MODULE);
  const subscribed = Promise.withResolvers<Subscription>();
  const unsubscribe = vi.fn();
  const act = vi.fn();
  const subscribe = (subscription: Subscription) => {
    subscribed.resolve(subscription);
    return unsubscribe;
  };
  const feed: Feed = new SessionFeed('s', { subscribe, do: act });
  await answer('?after=0&limit=1000', page(seq));
  const { onNews: tell, isNeeded } = await subscribed.promise;
  return { feed, tell, isNeeded, act, unsubscribe, [Symbol.dispose]: () => feed.close() };
}

const seqs = (feed: Feed) => feed.snapshot().events.map(({ seq }) => seq);

describe('the feed of a session that joins its stream', () => {
  it('has ended when the events before the stream are refused', async () => {
    using opened = await openFeed();
    const { feed, tell, unsubscribe } = opened;
    tell(joined(3));
    await answer('?after=1&limit=2', refusal());
    await expect.poll(() => feed.snapshot().notices).toEqual(['not yours']);
    expect(feed.snapshot().status).toBe('closed');
    expect(unsubscribe).toHaveBeenCalledTimes(1);
  });

  it('loses nothing when it joins again before it has the events before the stream', async () => {
    using opened = await openFeed();
    const { feed, tell } = opened;
    tell(joined(2));
    tell(joined(3));
    await answer('?after=1&limit=1', page(2));
    tell({ kind: 'session.event', event: event(4) });
    await answer('?after=1&limit=2', page(2, 3));
    await expect.poll(() => seqs(feed)).toEqual([1, 2, 3, 4]);
    expect(feed.snapshot().status).toBe('live');
  });

  it('keeps the state that is told while it loads the events before the stream', async () => {
    using opened = await openFeed();
    const { feed, tell } = opened;
    tell(joined(2));
    await expect.poll(() => feed.snapshot().status).toBe('live');
    tell({ kind: 'session.state', state: { status: 'connecting' } });
    await answer('?after=1&limit=1', page(2));
    await expect.poll(() => seqs(feed)).toEqual([1, 2]);
    expect(feed.snapshot().status).toBe('connecting');
  });

  it('stays when an earlier join fails', async () => {
    using opened = await openFeed();
    const { feed, tell } = opened;
    tell(joined(2));
    tell(joined(3));
    await answer('?after=1&limit=1', refusal());
    await answer('?after=1&limit=2', page(2, 3));
    await expect.poll(() => seqs(feed)).toEqual([1, 2, 3]);
    expect(feed.snapshot()).toMatchObject({ status: 'live', notices: [] });
  });
});

it('the feed needs its stream, though nobody looks, until all its messages are answered', async () => {
  using opened = await openFeed();
  const { tell, isNeeded } = opened;
  const told = (unanswered: object[]): void =>
    tell({ kind: 'session.state', state: { unsent: [], unanswered } });
  expect(isNeeded()).toBe(false);
  told([{ clientMessageId: 'c1', content: 'one' }]);
  expect(isNeeded()).toBe(true);
  told([]);
  expect(isNeeded()).toBe(false);
});

it('the feed says why the service refuses earlier events', async () => {
  using opened = await openFeed(2);
  const { feed } = opened;
  feed.loadEarlier();
  await answer('?after=0&limit=1', refusal());
  await expect.poll(() => feed.snapshot().notices).toEqual(['not yours']);
});

it('the feed says whether a message was sent, withdrawn or refused', async () => {
  using opened = await openFeed();
  const { feed, act } = opened;
  act.mockResolvedValueOnce({ clientMessageId: 'c', turnId: 't' });
  expect(await feed.send('one')).toBe(true);
  act.mockRejectedValueOnce(Object.assign(new Error('withdrawn'), { name: 'WithdrawnError' }));
  expect(await feed.send('two')).toBe(false);
  act.mockRejectedValueOnce(new Error('refused'));
  await expect(feed.send('three')).rejects.toThrow('refused');
});

it('measures the time of a thought by the clock of the service, and not by that of the page', async () => {
  using opened = await openFeed();
  const { feed, tell } = opened;
  tell(joined(1));
  const say = (told: object): void => tell({ kind: 'session.event', session: 's', event: told });
  await expect.poll(() => feed.snapshot().status).toBe('live');
  const begun = {
    event: 'stepCompleted',
    data: {},
    turnId: 't',
    seq: 2,
    time: serviceTime(Date.now() - 5_000),
  };
  say(begun);
  say({ event: 'thinking', data: { reasoning: 'Hm.' }, turnId: 't', step: 1 });
  say({ event: 'chunk', data: { content: 'Yes' }, turnId: 't', step: 1 });
  await expect.poll(() => feed.snapshot().running?.thought?.ms).toBeGreaterThanOrEqual(4_000);
  const ms = feed.snapshot().running?.thought?.ms;
  expect(ms).toBeLessThan(60_000);
});

it('never shows a step that has ended without the event that ended it', async () => {
  using opened = await openFeed();
  const { feed, tell } = opened;
  tell(joined(1));
  await expect.poll(() => feed.snapshot().status).toBe('live');
  const say = (told: object): void => tell({ kind: 'session.event', session: 's', event: told });
  say({ event: 'chunk', data: { content: 'Yes' }, turnId: 't', step: 1 });
  await expect.poll(() => feed.snapshot().running).not.toBeNull();
  say({ event: 'stepCompleted', data: {}, turnId: 't', seq: 2, time: serviceTime() });
  // Whoever draws between two frames sees what was there before.
  expect(feed.snapshot().running).not.toBeNull();
  expect(seqs(feed)).toEqual([1]);
  await expect.poll(() => seqs(feed)).toEqual([1, 2]);
  expect(feed.snapshot().running).toBeNull();
});
