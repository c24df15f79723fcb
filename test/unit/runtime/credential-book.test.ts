import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { memoryKeys } from '../../../src/adapters/secret-key/key-ring.ts';
import { sealedBox } from '../../../src/adapters/secret-key/sealed-box.ts';
import { SERVER_CREDENTIAL_STREAMS } from '../../../src/core/log/streams.ts';
import type { SecretBox } from '../../../src/ports/secret-box.ts';
import { CredentialBook } from '../../../src/runtime/tools/credential-book.ts';
import { WatchedStore } from '../../support/log/watched-store.ts';
import { RecordingLog } from '../../support/tools/mcp/recording-log.ts';
import { replacedKey } from '../../support/tools/replaced-key.ts';

function open() {
  const store = memoryEventStore();
  const log = new RecordingLog();
  const bookWith = (box = sealedBox(memoryKeys())) => new CredentialBook(store, box, log);
  return { store, log, bookWith, book: bookWith() };
}

/** The books of two nodes, with a clock that only the test moves. */
function sharing() {
  const { store, log } = open();
  const box = sealedBox(memoryKeys());
  let time = 0;
  const start = () => new CredentialBook(store, box, log, { isShared: true, now: () => time });
  return {
    one: start(),
    two: start(),
    wait(ms: number): void {
      time += ms;
    },
  };
}

describe('the credentials of tool servers', () => {
  it('are the last text of each server, and the only one in the log', async () => {
    const { store, book } = open();
    expect(await book.read('a')).toBeNull();
    await Promise.all([book.keep('a', 'one'), book.keep('a', 'two'), book.keep('a b', 'other')]);
    expect(await book.read('a')).toBe('two');
    expect(await book.read('a b')).toBe('other');
    const streams = await store.streamIds(SERVER_CREDENTIAL_STREAMS, 10);
    expect(streams).toHaveLength(2);
    const written = JSON.stringify(await Promise.all(streams.map((id) => store.read(id, 0))));
    expect(written).not.toMatch(/one|two|other/);
  });

  it('are erased for one server alone', async () => {
    const { book } = open();
    await book.keep('a', 'one');
    await book.keep('a b', 'other');
    await book.forget('a');
    await book.forget('nobody');
    expect(await book.read('a')).toBeNull();
    expect(await book.read('a b')).toBe('other');
  });

  it('are erased for servers that are gone, however many there are', async () => {
    const { store, book } = open();
    for (let index = 0; index < 120; index += 1) await book.keep(`gone ${index}`, 'old');
    await book.keep('stays', 'one');
    await book.keepOnly(['stays', 'never connected']);
    expect(await book.read('stays')).toBe('one');
    expect(await store.streamIds(SERVER_CREDENTIAL_STREAMS, 10)).toHaveLength(1);
  });

  it('are not there without their key, which the log says', async () => {
    const { book, bookWith, log } = open();
    await book.keep('a', 'one');
    expect(await bookWith().read('a')).toBeNull();
    expect(log.lines).toMatchObject([{ level: 'error', fields: { server: 'a' } }]);
  });
});

describe('the credentials of tool servers, when the key of the service is replaced', () => {
  it('are encrypted with the new one as soon as they are read', async () => {
    const { store, bookWith } = open();
    const { before, both, after } = replacedKey();
    await bookWith(before).keep('a', 'one');
    expect(await bookWith(both).read('a')).toBe('one');
    expect(await bookWith(after).read('a')).toBe('one');
    expect(await store.streamIds(SERVER_CREDENTIAL_STREAMS, 10)).toHaveLength(1);
  });

  it('are left to the node that is about to renew them', async () => {
    const { store, log } = open();
    const { before, both, after } = replacedKey();
    const node = (box: SecretBox) => new CredentialBook(store, box, log, { isShared: true });
    await node(before).keep('a', 'one');
    const renewing = node(both);
    expect(await renewing.claim('a')).toBe(true);
    expect(await node(both).read('a')).toBe('one');
    expect(await renewing.claim('a')).toBe(false);
    await renewing.keep('a', 'two');
    expect(await node(after).read('a')).toBe('two');
    expect(log.lines).toEqual([]);
  });

  it('are read all the same if they cannot be written', async () => {
    const { store, log, bookWith } = open();
    const { before, both } = replacedKey();
    await bookWith(before).keep('a', 'one');
    const full = new WatchedStore(store);
    full.beforeAppend = () => Promise.reject(new Error('the disk is full'));
    expect(await new CredentialBook(full, both, log).read('a')).toBe('one');
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { server: 'a' } }]);
    expect(await bookWith(before).read('a')).toBe('one');
  });
});

describe('the credentials that several nodes keep', () => {
  it('are one text in the log, and the same for all', async () => {
    const { store, log } = open();
    const box = sealedBox(memoryKeys());
    const nodes = [0, 1, 2].map(() => new CredentialBook(store, box, log));
    await Promise.all(nodes.map((book, index) => book.keep('a', `text ${index}`)));
    const read = await Promise.all(nodes.map((book) => book.read('a')));
    expect(read[0]).toMatch(/^text [012]$/);
    expect(new Set(read).size).toBe(1);
    expect(await store.streamIds(SERVER_CREDENTIAL_STREAMS, 10)).toHaveLength(1);
  });

  it('are read also while another node replaces them', async () => {
    const { store, log } = open();
    const box = sealedBox(memoryKeys());
    const watched = new WatchedStore(store);
    const [reader, writer] = [new CredentialBook(watched, box, log), new CredentialBook(store, box, log)];
    await writer.keep('a', 'one');
    watched.beforeRead = async () => {
      watched.beforeRead = async () => undefined;
      await writer.keep('a', 'two');
    };
    expect(await reader.read('a')).toBe('two');
  });

  it('are claimed by one node at a time, until it keeps new ones or gives up', async () => {
    const { one, two } = sharing();
    await one.keep('a', 'first');
    const claimed = await Promise.all([one.claim('a'), two.claim('a')]);
    expect(claimed.toSorted()).toEqual([false, true]);
    const [first, second] = claimed[0] ? [one, two] : [two, one];
    expect(await second.claim('a')).toBe(false);
    await first.release('a');
    expect(await second.claim('a')).toBe(true);
    await second.keep('a', 'second');
    expect(await first.read('a')).toBe('second');
    expect(await first.claim('a')).toBe(true);
    expect(await second.read('a')).toBe('second');
  });

  it('can be claimed again when a node has died, and not before', async () => {
    const { one, two, wait } = sharing();
    await one.keep('a', 'first');
    expect(await one.claim('a')).toBe(true);
    expect(await two.claim('a')).toBe(false);
    wait(19_000);
    expect(await two.claim('a')).toBe(false);
    wait(1_000);
    expect(await two.claim('a')).toBe(true);
    // It was only slow.
    await one.release('a');
    expect(await one.claim('a')).toBe(false);
    await two.release('a');
    expect(await one.claim('a')).toBe(true);
    expect(await two.read('a')).toBe('first');
  });

  it('are not written for a claim where no other node is', async () => {
    const { store, book } = open();
    await book.keep('a', 'one');
    expect(await book.claim('a')).toBe(true);
    await book.release('a');
    const [stream = ''] = await store.streamIds(SERVER_CREDENTIAL_STREAMS, 10);
    expect(await store.read(stream, 0)).toHaveLength(1);
  });
});
