import type { StreamId } from '../../../core/log/streams.ts';
import { nextLoop } from '../../../timing/next-loop.ts';
import type { IncompleteStreams } from '../index/incomplete-streams.ts';

/** A stream with events of elsewhere. */
export interface NewStream {
  readonly streamId: StreamId;
  /** The seq of its last event, when it is whole. */
  readonly head: number;
  /** The stream that is copied, if there is one. */
  readonly from?: StreamId;
  /** Inserts the next rows. @returns whether there are more. */
  storeSome(): boolean;
  /** Puts the stream into the index. */
  publish(): void;
}

/** A transaction. @param attempt what it tries, for an error. */
export type Commit = <T>(attempt: string, work: () => T) => T;

interface Storing {
  readonly stream: NewStream;
  isGivenUp: boolean;
}

/**
 * Stores and removes long streams in several transactions, between which others are committed. The stream appears in the
 * last transaction of the one, and disappears in the transaction before the first of the other.
 */
export class StepwiseStreams {
  readonly #incomplete: IncompleteStreams;
  readonly #commit: Commit;
  readonly #notify: (notice: string) => void;
  readonly #storing = new Map<StreamId, Storing>();

  constructor(incomplete: IncompleteStreams, commit: Commit, notify: (notice: string) => void) {
    this.#incomplete = incomplete;
    this.#commit = commit;
    this.#notify = notify;
  }

  /** The seq at which a stream will end that is being stored; 0 if it is not. */
  headOf(streamId: StreamId): number {
    return this.#storing.get(streamId)?.stream.head ?? 0;
  }

  /** A short stream is stored within the call. The caller has checked that there is no such stream. */
  async store(stream: NewStream): Promise<void> {
    const { streamId } = stream;
    const storing: Storing = { stream, isGivenUp: false };
    this.#storing.set(streamId, storing);
    try {
      let hasMore = this.#storeSome(storing, true);
      while (hasMore) {
        await nextLoop();
        hasMore = this.#storeSome(storing, false);
      }
    } catch (error) {
      await this.#abandon(streamId);
      throw error;
    } finally {
      this.#storing.delete(streamId);
    }
  }

  /** Lets copies of these streams fail. @returns the copies, whose rows the caller removes. */
  giveUpCopiesOf(streamIds: readonly StreamId[]): StreamId[] {
    const copies: StreamId[] = [];
    for (const [streamId, storing] of this.#storing) {
      if (storing.stream.from === undefined || !streamIds.includes(storing.stream.from)) continue;
      storing.isGivenUp = true;
      copies.push(streamId);
    }
    return copies;
  }

  /** Removes all rows of an incomplete stream. */
  async remove(streamId: StreamId): Promise<void> {
    while (this.#commit('erase from', () => this.#incomplete.removeSome(streamId))) await nextLoop();
  }

  #storeSome({ stream, isGivenUp }: Storing, isFirst: boolean): boolean {
    const { streamId } = stream;
    if (isGivenUp) throw new RangeError(`session ${stream.from} was erased while it was copied`);
    return this.#commit('append to', () => {
      // An earlier attempt failed, and so did the removal of its rows.
      if (isFirst && this.#incomplete.has(streamId)) this.#incomplete.removeAll(streamId);
      const isUnfinished = stream.storeSome();
      if (isUnfinished && isFirst) this.#incomplete.add(streamId);
      if (!isUnfinished) stream.publish();
      if (!isUnfinished && !isFirst) this.#incomplete.complete(streamId);
      return isUnfinished;
    });
  }

  async #abandon(streamId: StreamId): Promise<void> {
    try {
      await this.remove(streamId);
    } catch (error) {
      // Nobody sees them, and whoever begins such a stream removes them, as does the next start.
      this.#notify(`event log: events of the unfinished session ${streamId} are left: ${String(error)}`);
    }
  }
}
