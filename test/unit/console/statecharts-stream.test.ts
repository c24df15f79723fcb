import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

/** As texts, because the code of the page has the types of a browser, which tests lack. */
const pathOf = (name: string): string =>
  fileURLToPath(new URL(`../../../src/console/service/hub/${name}.ts`, import.meta.url));
const MODULES: readonly string[] = [pathOf('statecharts-stream'), pathOf('hub-key')];

const STATE = { id: 't1', machine: 'turn', status: 'active', event: null };
const error = {
  code: 'UNAUTHORIZED',
  message: 'The credential has expired.',
  details: { reason: 'expired' },
};

/** The events that a stream has with these keys; any other key is refused. */
const streams = new Map<string, string>();
/** The keys of the requests, in their order. */
const shown: (string | null)[] = [];

beforeEach(() => {
  streams.clear();
  shown.length = 0;
  vi.stubGlobal('self', { location: { pathname: '/' } });
  vi.stubGlobal('fetch', async (_: string, { headers }: { headers: Record<string, string> }) => {
    const key = new Headers(headers).get('Authorization')?.replace('Bearer ', '') ?? null;
    shown.push(key);
    const text = streams.get(String(key));
    return text === undefined ? Response.json({ error }, { status: 401 }) : new Response(openEnded(text));
  });
});
afterEach(() => void vi.unstubAllGlobals());

/** It ends after an error, like that of the service. */
function openEnded(text: string): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      if (text.includes('event: error')) controller.close();
    },
  });
}

function sent(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** @param renewed what a tab has in place of the key `old`, which ends. */
async function openStream(renewed: string) {
  const [{ StatechartsStream }, { HubKey }] = await Promise.all(MODULES.map((module) => import(module)));
  const key = new HubKey(() => key.take({ key: renewed, isRenewable: true }));
  key.take({ key: 'old', isRenewable: true });
  const onRefused = vi.fn();
  const news: object[] = [];
  const stream = new StatechartsStream({ token: () => key.source(), onRefused });
  stream.states.tell((told: object) => news.push(told));
  return { onRefused, news, [Symbol.dispose]: () => stream.close() };
}

describe('the stream of the machines alone, when its key has ended', () => {
  it('opens with another one if the service refuses it', async () => {
    streams.set('new', sent('machine', STATE));
    using opened = await openStream('new');
    await expect
      .poll(() => opened.news)
      .toContainEqual({ kind: 'machines.state', state: STATE, isMove: false });
    expect(shown).toEqual(['old', 'new']);
    expect(opened.onRefused).not.toHaveBeenCalled();
  });

  it('opens again with another one when the stream ends with its key, and takes the error for no state', async () => {
    streams.set('old', sent('machine', STATE) + sent('error', { error }));
    streams.set('new', sent('machine', { ...STATE, id: 't2' }));
    using opened = await openStream('new');
    const states = () => opened.news.filter((news) => 'state' in news);
    await expect.poll(() => states()).toMatchObject([{ state: STATE }, { state: { id: 't2' } }]);
    expect(shown).toEqual(['old', 'new']);
    expect(opened.onRefused).not.toHaveBeenCalled();
  });

  it.each([
    ['there is no other', 'old', ['old']],
    ['the other is refused, too', 'refused', ['old', 'refused']],
  ])('says that it is refused if %s', async (_, renewed, keys) => {
    using opened = await openStream(renewed);
    await expect.poll(() => opened.onRefused).toHaveBeenCalledTimes(1);
    expect(opened.onRefused.mock.calls).toMatchObject([[{ code: 'UNAUTHORIZED' }]]);
    expect(shown).toEqual(keys);
  });
});
