import { describe, expect, it } from 'vitest';
import { memoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { copyLog } from '../../../src/cli/copy/copy-log.ts';
import type { SessionEvent } from '../../../src/core/log/events.ts';
import { API_KEYS_STREAM, SERVER_SECRET_STREAMS } from '../../../src/core/log/streams.ts';
import type { EventStore } from '../../../src/ports/event-store.ts';
import { keptOpen } from '../../support/log/crashing-store.ts';

const started = (turnId: string): SessionEvent => ({ type: 'turn.started', turnId });
const ADA = { actor: { kind: 'client', principal: 'ada' }, causationId: 'asked by ada' } as const;

async function filled(): Promise<EventStore> {
  const store = memoryEventStore(() => 1_000);
  await store.append('a', 0, [started('t1'), started('t2')], { open: true, title: 'First', origin: ADA });
  await store.append('b', 0, [started('t3')]);
  await store.append(API_KEYS_STREAM, 0, [{ type: 'api-key.revoked', keyId: 'abcdefgh' }]);
  return store;
}

async function contentsOf(store: EventStore) {
  const all: unknown[] = [];
  for (const summary of await store.sessions()) all.push(summary, await store.read(summary.sessionId, 0));
  return all;
}

describe('the copy of a log', () => {
  it('has every stream with its events, times, metadata, mark and title', async () => {
    const [from, to] = [await filled(), memoryEventStore()];
    expect(await copyLog(from, to)).toEqual({ streams: 3, events: 4, before: 0, hasSecrets: false });
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
  });

  it('is continued where it was interrupted', async () => {
    const [from, to] = [await filled(), memoryEventStore()];
    const breaking: EventStore = {
      ...keptOpen(to),
      adopt: (stream, events) =>
        stream === 'b' ? Promise.reject(new Error('cut off')) : to.adopt(stream, events),
    };
    await expect(copyLog(from, breaking)).rejects.toThrow('cut off');
    expect((await to.sessions()).map(({ sessionId }) => sessionId)).toEqual(['a']);
    expect(await copyLog(from, to)).toMatchObject({ streams: 3, before: 1 });
    expect(await contentsOf(to)).toEqual(await contentsOf(from));
  });

  it.each([
    ['other events', [started('t1'), started('other')]],
    ['fewer events', [started('t1')]],
    ['more events', [started('t1'), started('t2'), started('t4')]],
  ])('ends at a session that the target has with %s', async (_, events) => {
    const [from, to] = [await filled(), memoryEventStore(() => 1_000)];
    await to.append('a', 0, events, { origin: ADA });
    const message = `a: the target has ${events.length} events and the source 2, and they are not the same`;
    await expect(copyLog(from, to)).rejects.toThrow(message);
  });

  it('ends when the target does not have what it was given', async () => {
    const [from, to] = [await filled(), memoryEventStore()];
    const forgetful: EventStore = {
      ...keptOpen(to),
      adopt: (stream, events) => to.adopt(stream, withoutLast(events)),
    };
    await expect(copyLog(from, forgetful)).rejects.toThrow('a: the target has 1 events and the source 2');
  });

  it('says that something is encrypted, also of a further agent', async () => {
    const [from, to] = [await filled(), memoryEventStore()];
    const secret: SessionEvent = started('t9');
    await from.append(`~agent:support:${SERVER_SECRET_STREAMS}x`, 0, [secret]);
    expect(await copyLog(from, to)).toMatchObject({ hasSecrets: true });
  });
});

async function* withoutLast<T>(items: AsyncIterable<T>): AsyncGenerator<T, void, void> {
  let held: T | undefined;
  for await (const item of items) {
    if (held !== undefined) yield held;
    held = item;
  }
}
