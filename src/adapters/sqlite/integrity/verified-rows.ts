import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { chainHash } from '../../../stored-log/chain.ts';
import { DamagedLogError } from '../file/log-damage.ts';
import { isCorrupt, isSqliteError } from '../file/sqlite-errors.ts';
import type { SessionIndex } from '../index/session-index.ts';
import { ChainReader, type StoredLink, storedLink } from './chain-reader.ts';

/** Reads the events of a session, and checks that each is linked to its predecessor. */
export class VerifiedRows {
  readonly #file: string;
  readonly #index: SessionIndex;
  readonly #chain: ChainReader;
  readonly #select: StatementSync;

  constructor(db: DatabaseSync, file: string, index: SessionIndex) {
    this.#file = file;
    this.#index = index;
    this.#chain = new ChainReader(db);
    this.#select = db.prepare(
      'SELECT seq, time, type, data, hash FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?',
    );
  }

  /** The seq of the session's last event, according to the index. */
  head(sessionId: SessionId): number {
    return this.#index.find(sessionId)?.head ?? 0;
  }

  /** Throws a `DamagedLogError` if a session that is not in the index has events. */
  requireNone(sessionId: SessionId): void {
    this.after(sessionId, 0, 1).next();
  }

  /** The events after a seq, at most `limit`. Throws a `DamagedLogError` at the first damaged or missing event. */
  *after(sessionId: SessionId, afterSeq: number, limit: number): Generator<StoredLink, void, void> {
    let seq = afterSeq;
    try {
      const session = this.#index.find(sessionId);
      const head = session?.head ?? 0;
      if (afterSeq > head) return;
      let previous = this.#chain.hashAt(sessionId, afterSeq);
      for (const row of this.#select.iterate(sessionId, afterSeq, limit)) {
        const link = storedLink(row);
        if (seq === head) throw new Error(`the session ends at seq ${head}, but seq ${link.seq} exists`);
        if (link.seq !== seq + 1) throw new Error(`found seq ${link.seq} in its place`);
        if (previous === undefined) throw new Error('the event before it is missing');
        if (chainHash(previous, sessionId, link) !== link.hash) throw new Error('its checksum is wrong');
        if (link.seq === head && link.hash !== session?.hash) throw new Error('it is not the last event');
        yield link;
        seq = link.seq;
        previous = link.hash;
      }
      if (seq < Math.min(head, afterSeq + limit)) throw new Error('it is missing');
    } catch (error) {
      throw this.#explain(error, sessionId, seq + 1);
    }
  }

  #explain(error: unknown, sessionId: SessionId, seq: number): unknown {
    if (isSqliteError(error) && !isCorrupt(error)) return error;
    const reason = error instanceof Error ? error.message : String(error);
    const damage = `session ${sessionId}, seq ${seq} cannot be read: ${reason}`;
    return new DamagedLogError(this.#file, damage, { cause: error });
  }
}
