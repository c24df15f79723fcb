import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { openSqliteEventStore } from '../../../src/adapters/sqlite/log/sqlite-event-store.ts';
import { CLEAR_SERVERS_STREAM, SERVER_SECRET_STREAMS } from '../../../src/core/log/streams.ts';
import type { McpServerConfig } from '../../../src/core/tool-server/mcp-server-config.ts';
import { ServerBook } from '../../../src/runtime/tools/server-book.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { silentLog } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { CLIENT } from '../../support/sessions/origins.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';
import { replacedKey } from '../../support/tools/replaced-key.ts';
import { serverBook } from '../../support/tools/server-book.ts';

const config: McpServerConfig = { type: 'stdio', command: 'none', env: { TOKEN: 'sekrit' } };
const other: McpServerConfig = { type: 'http', baseUrl: 'https://tools.example/mcp' };
const full = new Error('disk full');

async function open() {
  const store = new WatchedStore(memoryEventStore());
  const box = sealedBox(memoryKeys());
  const book = serverBook(store, box);
  await book.load();
  const restarted = () => serverBook(store, box).load();
  /** What the next start connects. */
  const remembered = async (): Promise<string[]> => Object.keys(await restarted());
  const secrets = async (): Promise<string[]> => {
    const streams = await store.sessions();
    return streams.map(({ sessionId }) => sessionId).filter((id) => id.startsWith(SERVER_SECRET_STREAMS));
  };
  /** All that the log has, as text. */
  const written = async (): Promise<string> => {
    const streams = await store.sessions();
    const envelopes = await Promise.all(streams.map(({ sessionId }) => store.read(sessionId, 0)));
    return JSON.stringify(envelopes);
  };
  return { store, box, book, restarted, remembered, secrets, written };
}

describe('the book of the servers connected at run time', () => {
  it('has them again after a restart, and their secrets nowhere in clear', async () => {
    const { book, restarted, written } = await open();
    await book.add('files', config, CLIENT);
    await book.add('more', other, CLIENT);
    expect(await restarted()).toEqual({ files: config, more: other });
    expect(await written()).not.toContain('sekrit');
  });

  it('erases the configuration of a server that is removed or replaced', async () => {
    const { book, restarted, secrets } = await open();
    await book.add('files', config, CLIENT);
    const [first] = await secrets();
    await book.add('files', other, CLIENT);
    expect(await secrets()).toHaveLength(1);
    expect(await secrets()).not.toContain(first);
    expect(await restarted()).toEqual({ files: other });
    await book.remove('files', CLIENT);
    expect(await secrets()).toEqual([]);
    expect(await restarted()).toEqual({});
  });

  it('forgets a server at the second try when the log refused the first', async () => {
    const { store, book, remembered } = await open();
    await book.add('files', config, CLIENT);
    store.refuseNext('mcp-server.removed', full);
    await expect(book.remove('files', CLIENT)).rejects.toBe(full);
    // Its configuration is gone already, so it counts as removed.
    expect(await remembered()).toEqual([]);
    await book.remove('files', CLIENT);
    expect(await remembered()).toEqual([]);
  });

  it('keeps the configuration as it was when the log refuses another', async () => {
    const { store, book, restarted, secrets } = await open();
    await book.add('files', config, CLIENT);
    store.refuseNext('mcp-server.registered', full);
    await expect(book.add('files', other, CLIENT)).rejects.toBe(full);
    expect(await restarted()).toEqual({ files: config });
    // What the refused one left is erased by the next start.
    expect(await secrets()).toHaveLength(1);
  });

  it('forgets a server that is removed while it is on its way to the log', async () => {
    const { book, remembered } = await open();
    await Promise.all([book.add('files', config, CLIENT), book.remove('files', CLIENT)]);
    expect(await remembered()).toEqual([]);
  });

  it('remembers a server that is added again while it is being removed', async () => {
    const { book, remembered } = await open();
    await book.add('files', config, CLIENT);
    await Promise.all([book.remove('files', CLIENT), book.add('files', config, CLIENT)]);
    expect(await remembered()).toEqual(['files']);
    await book.remove('files', CLIENT);
    expect(await remembered()).toEqual([]);
  });
});

describe('a server of an earlier release whose name no URL can have', () => {
  it('has another one after a restart, by which it can be removed', async () => {
    await using directory = await tempDirectory();
    const box = sealedBox(memoryKeys());
    const start = async () => {
      const store = await openSqliteEventStore({ directory: directory.path, log: silentLog });
      const book = serverBook(store, box);
      const configs = await book.load();
      return { book, configs, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
    };
    {
      await using earlier = await start();
      await earlier.book.add('a\ud800', config, CLIENT);
    }
    {
      await using later = await start();
      expect(later.configs).toEqual({ 'a\ufffd': config });
      await later.book.remove('a\ufffd', CLIENT);
    }
    await using last = await start();
    expect(last.configs).toEqual({});
  });
});

describe('servers that stand in the log in clear', () => {
  it('are taken over, and erased where they stood', async () => {
    const { store, restarted, written } = await open();
    await store.append(CLEAR_SERVERS_STREAM, 0, [
      { type: 'mcp-server.added', name: 'files', config },
      { type: 'mcp-server.added', name: 'gone', config },
      { type: 'mcp-server.removed', name: 'gone' },
    ]);
    expect(await restarted()).toEqual({ files: config });
    expect(await written()).not.toContain('sekrit');
    expect(await restarted()).toEqual({ files: config });
  });

  it('are taken over again when the first time was cut off', async () => {
    const { store, restarted, secrets, written } = await open();
    await store.append(CLEAR_SERVERS_STREAM, 0, [
      { type: 'mcp-server.added', name: 'files', config },
      { type: 'mcp-server.added', name: 'more', config: other },
    ]);
    store.refuseNext('mcp-server.registered', full);
    await expect(restarted()).rejects.toBe(full);
    expect(await restarted()).toEqual({ files: config, more: other });
    expect(await secrets()).toHaveLength(2);
    expect(await written()).not.toContain('sekrit');
  });

  it('are shown to who only looks, and left as they are', async () => {
    const { store, box, written } = await open();
    await store.append(CLEAR_SERVERS_STREAM, 0, [{ type: 'mcp-server.added', name: 'files', config }]);
    const before = await written();
    expect(await ServerBook.read(store, box)).toEqual({ files: config });
    expect(await written()).toBe(before);
  });
});

describe('a key that is not at hand', () => {
  it('keeps the server from being connected, says so, and loses nothing', async () => {
    const { store, book, box, restarted } = await open();
    await book.add('files', config, CLIENT);
    const log = recordingLog();
    const later = serverBook(store, sealedBox(memoryKeys()), log);
    expect(await later.load()).toEqual({});
    expect(later.warnings()).toEqual([expect.stringMatching(/^tool server "files": .* cannot be decrypted/)]);
    expect(log.lines).toEqual([
      expect.objectContaining({
        level: 'error',
        fields: expect.objectContaining({ server: 'files', reason: expect.stringContaining('no such key') }),
      }),
    ]);
    expect(await ServerBook.read(store, box)).toEqual({ files: config });
    expect(await restarted()).toEqual({ files: config });
  });

  it('does not keep the server from being removed or connected anew', async () => {
    const { store, book, secrets } = await open();
    await book.add('files', config, CLIENT);
    await book.add('more', config, CLIENT);
    const box = sealedBox(memoryKeys());
    const later = serverBook(store, box);
    await later.load();
    expect(later.warnings()).toHaveLength(2);
    await later.remove('files', CLIENT);
    await later.add('more', other, CLIENT);
    expect(later.warnings()).toEqual([]);
    expect(await secrets()).toHaveLength(1);
    expect(await serverBook(store, box).load()).toEqual({ more: other });
  });

  it('is no longer needed once a start had it beside the key that is used now', async () => {
    const { before, both, after } = replacedKey();
    const store = memoryEventStore();
    await serverBook(store, before).add('files', config, CLIENT);
    expect(await serverBook(store, both).load()).toEqual({ files: config });
    expect(await serverBook(store, after).load()).toEqual({ files: config });
  });
});

describe('the book of several nodes', () => {
  const HOUR_MS = 60 * 60_000;

  async function nodes() {
    const time = { now: 0 };
    const store = memoryEventStore(() => time.now);
    const box = sealedBox(memoryKeys());
    const open = () => new ServerBook(store, box, silentLog, { isShared: true, now: () => time.now });
    const [one, two] = [open(), open()];
    await one.load();
    await two.load();
    const secrets = async (): Promise<string[]> =>
      (await store.streamIds(SERVER_SECRET_STREAMS, 100)).filter((id) =>
        id.startsWith(SERVER_SECRET_STREAMS),
      );
    return { store, box, time, one, two, open, secrets };
  }

  /** What a book has not known, and knows from now on. */
  async function told(book: ServerBook): Promise<[string, McpServerConfig | null][]> {
    const news = await book.news();
    return news.filter((one) => book.acknowledge(one)).map((one) => [one.name, one.config]);
  }

  it('has what all of them connect and remove at the same time', async () => {
    const { one, two, open, secrets } = await nodes();
    await Promise.all([
      one.add('a', config, CLIENT),
      two.add('b', other, CLIENT),
      one.add('c', config, CLIENT),
      one.remove('c', CLIENT),
    ]);
    expect(await open().load()).toEqual({ a: config, b: other });
    expect(await secrets()).toHaveLength(2);
  });

  it('tells each of what the others did, once, and not of what it did itself', async () => {
    const { one, two } = await nodes();
    await one.add('files', config, CLIENT);
    expect(await told(one)).toEqual([]);
    expect(await told(two)).toEqual([['files', config]]);
    expect(await told(two)).toEqual([]);
    await one.add('files', other, CLIENT);
    await one.add('passing', config, CLIENT);
    await one.remove('passing', CLIENT);
    expect(await told(two)).toEqual([['files', other]]);
    await two.remove('files', CLIENT);
    expect([await told(one), await told(two)]).toEqual([[['files', null]], []]);
  });

  it('tells the others of a removal in whose middle a node has ended, when the next one starts', async () => {
    const { one, two, open, store, secrets } = await nodes();
    await one.add('files', config, CLIENT);
    expect(await told(two)).toEqual([['files', config]]);
    await store.erase(...(await secrets()));
    expect(await told(two)).toEqual([]);
    expect(await open().load()).toEqual({});
    expect(await told(two)).toEqual([['files', null]]);
  });

  it('keeps the server of the node that was first, until the other one knows of it', async () => {
    const { one, two, open, secrets } = await nodes();
    const [first, second] = await Promise.all([
      one.add('files', config, CLIENT),
      two.add('files', other, CLIENT),
    ]);
    expect([first, second].toSorted()).toEqual([false, true]);
    expect(await open().load()).toEqual({ files: first ? config : other });
    expect(await secrets()).toHaveLength(1);
    const loser = first ? two : one;
    await told(loser);
    expect(await loser.add('files', config, CLIENT)).toBe(true);
    expect(await open().load()).toEqual({ files: config });
  });

  it('lets a node try again that cannot know whether its server was recorded', async () => {
    const store = new WatchedStore(memoryEventStore());
    const book = serverBook(store);
    store.afterAppend = async (events) => {
      if (events.some(({ type }) => type === 'mcp-server.registered')) throw full;
    };
    await expect(book.add('files', config, CLIENT)).rejects.toBe(full);
    store.afterAppend = async () => undefined;
    expect(await book.add('files', other, CLIENT)).toBe(true);
  });

  it('does not take news for the latest that is not', async () => {
    const { one, two } = await nodes();
    await one.add('files', config, CLIENT);
    const [old] = await two.news();
    await one.add('files', other, CLIENT);
    await two.catchUp();
    expect(old && two.acknowledge(old)).toBe(false);
    expect(await told(two)).toEqual([['files', other]]);
  });

  it('reads a configuration also while another node replaces it', async () => {
    const { store, box, one } = await nodes();
    await one.add('files', config, CLIENT);
    const watched = new WatchedStore(store);
    const reader = serverBook(watched, box);
    const replaceBeforeSecondRead = async () => {
      watched.beforeRead = async () => {
        watched.beforeRead = async () => undefined;
        await one.add('files', other, CLIENT);
      };
    };
    watched.beforeRead = replaceBeforeSecondRead;
    expect(await reader.load()).toEqual({ files: other });
  });

  it('erases what was left behind only when nobody can be about to register it', async () => {
    const { store, time, open, secrets } = await nodes();
    await store.append(`${SERVER_SECRET_STREAMS}x`, 0, [{ type: 'secret.kept', sealed: 's' }]);
    time.now = HOUR_MS - 1;
    await open().load();
    expect(await secrets()).toHaveLength(1);
    time.now = HOUR_MS;
    await open().load();
    expect(await secrets()).toEqual([]);
  });

  it('leaves a server as it is that a node without the new key cannot decrypt, and says so once', async () => {
    const { store, one } = await nodes();
    const log = recordingLog();
    const stranger = serverBook(store, sealedBox(memoryKeys()), log);
    await stranger.load();
    await one.add('files', config, CLIENT);
    expect([await told(stranger), await told(stranger)]).toEqual([[], []]);
    expect(log.lines).toHaveLength(1);
  });
});
