import type { SessionId } from '../../contract/ids.ts';
import type { SnapshotStore } from '../../ports/snapshot-store.ts';

/** A snapshot store that forgets everything with the process. States are kept as text, so that nobody can change one. */
export function memorySnapshotStore(): SnapshotStore {
  const snapshots = new Map<SessionId, { readonly seq: number; readonly json: string }>();
  let closed = false;

  function requireOpen(): void {
    if (closed) throw new Error('the snapshot store is closed');
  }

  return {
    async load(sessionId) {
      requireOpen();
      const found = snapshots.get(sessionId);
      return found && { seq: found.seq, state: JSON.parse(found.json) };
    },
    async save(sessionId, seq, state) {
      requireOpen();
      snapshots.set(sessionId, { seq, json: JSON.stringify(state) });
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
