import { levelOfFailure } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { StreamId } from '../../core/log/streams.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Cluster } from './cluster.ts';

/** Maximum of turns that a node takes over together, so that each node takes some. */
const AT_ONCE = 20;

export interface OrphanTurnsDeps {
  readonly cluster: Cluster;
  /** What the agent's streams begin with. */
  readonly prefix: string;
  readonly log: Logger;
  /** Whether this node has the session in memory, or will load it by itself. */
  readonly isKnown: (sessionId: SessionId) => boolean;
  /** The session belongs to this node now. */
  readonly own: (sessionId: SessionId) => Promise<void>;
  /** Goes on with the open turn of the session. */
  readonly goOn: (sessionId: SessionId) => Promise<void>;
}

/** Takes over open turns whose node is gone, and resumes open turns of this node that are not in its memory. */
export class OrphanTurns {
  readonly #deps: OrphanTurnsDeps;
  #isRunning = false;
  #isAskedAgain = false;
  #settled: Promise<void> = Promise.resolve();

  constructor(deps: OrphanTurnsDeps) {
    this.#deps = deps;
  }

  /** Resolves when nothing is being taken over. Never rejects. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** Looks for such turns, after the search that is under way if there is one. */
  search(): void {
    this.#isAskedAgain = true;
    if (!this.#isRunning) this.#settled = this.#searchAll();
  }

  async #searchAll(): Promise<void> {
    const { cluster, prefix, log, isKnown } = this.#deps;
    const isKnownStream = (stream: StreamId): boolean => isKnown(stream.slice(prefix.length));
    this.#isRunning = true;
    try {
      while (this.#isAskedAgain && !cluster.isDraining) {
        this.#isAskedAgain = false;
        const orphans = await cluster.membership.claimOrphans(prefix, AT_ONCE, isKnownStream);
        await Promise.all(orphans.map((stream) => this.#takeOver(stream.slice(prefix.length))));
        if (orphans.length >= AT_ONCE) this.#isAskedAgain = true;
      }
    } catch (err) {
      log.warn({ err }, 'could not look for open turns of nodes that are gone');
    } finally {
      this.#isRunning = false;
    }
  }

  async #takeOver(sessionId: SessionId): Promise<void> {
    const { cluster, prefix, own, goOn, log } = this.#deps;
    // A session that is not claimed yet is claimed when it is loaded.
    const isClaimed = cluster.membership.owns(prefix + sessionId);
    try {
      if (isClaimed) await own(sessionId);
      await goOn(sessionId);
      log.info(
        { sessionId },
        isClaimed
          ? 'an open turn of a node that is gone goes on here'
          : 'an open turn of this node goes on, which was not in memory',
      );
    } catch (err) {
      log[levelOfFailure(err)]({ sessionId, err }, 'a session with an open turn could not be loaded');
    }
  }
}
