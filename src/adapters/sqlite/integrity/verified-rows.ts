import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SessionId } from '../../../core/ids.ts';
import { messageOf } from '../../../core/thrown.ts';
import { chainHash, type Link } from '../../../stored-log/chain.ts';
import { DamagedLogError } from '../file/log-damage.ts';
import { eventsOf, firstSeqOf } from '../file/packed-events.ts';
import { isCorrupt, isSqliteError } from '../file/sqlite-errors.ts';
import type { IncompleteStreams } from '../index/incomplete-streams.ts';
import type { SessionIndex } from '../index/session-index.ts';
import { ChainReader, type StoredLink, storedLink } from './chain-reader.ts';

interface VerifiedLog {
  readonly db: DatabaseSync;
  readonly file: string;
  readonly index: SessionIndex;
  readonly incomplete: IncompleteStreams;
}

/** Reads the events of a session, and checks that each row is linked to its predecessor. */
export class VerifiedRows {
  readonly #file: string;
  readonly #index: SessionIndex;
  readonly #incomplete: IncompleteStreams;
  readonly #chain: ChainReader;
  readonly #select: StatementSync;

  constructor({ db, file, index, incomplete }: VerifiedLog) {
    this.#file = file;
    this.#index = index;
    this.#incomplete = incomplete;
    this.#chain = new ChainReader(db);
    this.#select = db.prepare(
      'SELECT seq, time, type, data, hash FROM events WHERE session = ? AND seq > ? ORDER BY seq',
    );
  }

  /** Throws a `DamagedLogError` if a session that is not in the index has events. */
  requireNone(sessionId: SessionId): void {
    this.rows(sessionId, 0).next();
  }

  /** The events after a seq, at most `limit`. Throws a `DamagedLogError` at the first damaged or missing event. */
  *after(sessionId: SessionId, afterSeq: number, limit: number): Generator<Link, void, void> {
    for (const row of this.rows(sessionId, afterSeq)) {
      for (const event of eventsOf(row)) {
        if (event.seq <= afterSeq) continue;
        yield event;
        if (event.seq === afterSeq + limit) return;
      }
    }
  }

  /** The rows with the events after a seq. The first may also have events up to it. Throws as `after` does. */
  *rows(sessionId: SessionId, afterSeq: number): Generator<StoredLink, void, void> {
    let seq = afterSeq;
    try {
      const session = this.#index.find(sessionId);
      if (session === undefined && this.#incomplete.has(sessionId)) return;
      const head = session?.head ?? 0;
      if (afterSeq > head) return;
      let previous = this.#chain.before(sessionId, afterSeq);
      seq = previous.seq;
      for (const row of this.#select.iterate(sessionId, afterSeq)) {
        const link = storedLink(row);
        const first = firstSeqOf(link);
        if (link.seq > head) throw new Error(`the session ends at seq ${head}, but seq ${link.seq} exists`);
        if (first !== seq + 1) throw new Error(`found seq ${first} in its place`);
        if (chainHash(previous.hash, sessionId, link) !== link.hash) throw new Error('its checksum is wrong');
        if (link.seq === head && link.hash !== session?.hash) throw new Error('it is not the last event');
        yield link;
        seq = link.seq;
        previous = link;
      }
      if (seq < head) throw new Error('it is missing');
    } catch (error) {
      throw this.#explain(error, sessionId, seq + 1);
    }
  }

  #explain(error: unknown, sessionId: SessionId, seq: number): unknown {
    if (isSqliteError(error) && !isCorrupt(error)) return error;
    const reason = messageOf(error);
    const damage = `session ${sessionId}, seq ${seq} cannot be read: ${reason}`;
    return new DamagedLogError(this.#file, damage, { cause: error });
  }
}
