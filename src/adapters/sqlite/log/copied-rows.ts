import type { StatementSync } from 'node:sqlite';
import type { StreamId } from '../../../core/log/streams.ts';
import { requireForkPoint } from '../../../ports/event-store.ts';
import { chainHash, chainStart } from '../../../stored-log/chain.ts';
import { cutAfter } from '../file/packed-events.ts';
import type { VerifiedRows } from '../integrity/verified-rows.ts';
import { stepLimits } from './step-limits.ts';

interface Fork {
  readonly from: StreamId;
  readonly at: number;
  readonly to: StreamId;
}

/** Copies the rows of a stream up to an event, some at a time, and chains the copies. */
export class CopiedRows {
  readonly #fork: Fork;
  readonly #rows: VerifiedRows;
  readonly #insert: StatementSync;
  #seq = 0;
  #hash = chainStart;

  constructor(fork: Fork, rows: VerifiedRows, insert: StatementSync) {
    this.#fork = fork;
    this.#rows = rows;
    this.#insert = insert;
  }

  /** The chain hash of the last copy. */
  get hash(): string {
    return this.#hash;
  }

  /** @returns whether there are more rows. */
  storeSome(): boolean {
    const { from, at, to } = this.#fork;
    let [rows, characters] = [0, 0];
    for (const row of this.#rows.rows(from, this.#seq)) {
      const copy = cutAfter(row, at);
      this.#seq = copy.seq;
      this.#hash = chainHash(this.#hash, to, copy);
      this.#insert.run(to, copy.seq, copy.time, copy.type, copy.data, this.#hash);
      rows += 1;
      characters += copy.data.length;
      if (copy.seq === at) return false;
      if (rows >= stepLimits.rows || characters >= stepLimits.characters) return true;
    }
    requireForkPoint(from, at, this.#seq);
    return false;
  }
}
