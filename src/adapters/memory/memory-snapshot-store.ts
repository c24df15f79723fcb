import type { SessionId } from '../../core/ids.ts';
import type { Snapshot, SnapshotStore } from '../../ports/snapshot-store.ts';

/** A snapshot store in memory. */
export function memorySnapshotStore(): SnapshotStore {
  const snapshots = new Map<SessionId, Snapshot>();
  let closed = false;

  function requireOpen(): void {
    if (closed) throw new Error('the snapshot store is closed');
  }

  return {
    async load(sessionId, latestSeq = Infinity) {
      requireOpen();
      const found = snapshots.get(sessionId);
      return found && found.seq <= latestSeq ? found : undefined;
    },
    async save(sessionId, seq, parts) {
      requireOpen();
      const taken: string[] = [];
      for await (const part of parts) taken.push(part);
      snapshots.set(sessionId, { seq, parts: taken });
    },
    async erase(sessionId) {
      requireOpen();
      snapshots.delete(sessionId);
    },
    async [Symbol.asyncDispose]() {
      closed = true;
    },
  };
}
