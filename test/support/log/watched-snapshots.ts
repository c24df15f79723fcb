import { EventEmitter, once } from 'node:events';
import { memorySnapshotStore } from '../../../src/adapters/memory/memory-snapshot-store.ts';
import type { SessionId } from '../../../src/core/ids.ts';
import type { Snapshot, SnapshotStore } from '../../../src/ports/snapshot-store.ts';

/** A snapshot store that stays open for one rig after the other, and that a test can hold up or let fail. */
export class WatchedSnapshots implements SnapshotStore {
  readonly #inner = memorySnapshotStore();
  readonly #saves = new EventEmitter();
  /** Seqs of what was saved, in order. */
  readonly saved: number[] = [];
  /** Comes before each call; what it throws rejects the call, and nothing happens. */
  beforeCall: (call: 'load' | 'save' | 'erase') => Promise<void> = async () => undefined;

  async load(sessionId: SessionId, latestSeq?: number): Promise<Snapshot | undefined> {
    await this.beforeCall('load');
    return this.#inner.load(sessionId, latestSeq);
  }

  async save(sessionId: SessionId, seq: number, parts: AsyncIterable<string>): Promise<void> {
    await this.beforeCall('save');
    await this.#inner.save(sessionId, seq, parts);
    this.saved.push(seq);
    this.#saves.emit('save');
  }

  async erase(sessionId: SessionId): Promise<void> {
    await this.beforeCall('erase');
    await this.#inner.erase(sessionId);
  }

  /** Resolves when there were so many saves. */
  async saves(count: number): Promise<void> {
    while (this.saved.length < count) await once(this.#saves, 'save');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Others go on with it.
  }
}
