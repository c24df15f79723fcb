import type { Log } from '../../ports/log.ts';
import { within } from '../../timing/deadline.ts';

export interface ReadinessParts {
  /** Proves that the log can be written; rejects when it cannot. */
  readonly probe: () => Promise<void>;
  readonly isDraining: () => boolean;
  readonly log: Log;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
}

/** However often somebody asks, the disk is written to once in so long. */
const FRESH_MS = 5_000;
const FRESH_FAILURE_MS = 1_000;
/** A disk that takes longer for one small write is of no use. */
const PROBE_MS = 2_000;

interface Finding {
  readonly problem: Promise<string | undefined>;
  /** When it has to be looked at again; never while the look is under way. */
  freshUntil: number;
}

/** Whether messages can be taken now: the log is writable, which is tried and not hoped, and the service is not stopping. */
export class Readiness {
  readonly #parts: ReadinessParts;
  readonly #now: () => number;
  #finding: Finding | null = null;
  #wasWritable = true;

  constructor({ now = () => performance.now(), ...parts }: ReadinessParts) {
    this.#parts = parts;
    this.#now = now;
  }

  /** What is in the way, for people; nothing when the service is ready. */
  async problems(): Promise<string[]> {
    // The log is going to be closed: it is not asked any more.
    if (this.#parts.isDraining()) return ['the service is stopping'];
    if (this.#finding === null || this.#now() >= this.#finding.freshUntil) this.#finding = this.#look();
    const problem = await within(PROBE_MS, this.#finding.problem, 'the event log does not answer');
    return problem === undefined ? [] : [problem];
  }

  #look(): Finding {
    const finding: Finding = { problem: this.#probe(), freshUntil: Infinity };
    void finding.problem.then((problem) => {
      finding.freshUntil = this.#now() + (problem === undefined ? FRESH_MS : FRESH_FAILURE_MS);
    });
    return finding;
  }

  /** Never rejects. The cause, which may name files, is for the log alone, and once for each time it begins. */
  async #probe(): Promise<string | undefined> {
    const { probe, log } = this.#parts;
    try {
      await probe();
      if (!this.#wasWritable) log.info({}, 'the event log can be written again');
      this.#wasWritable = true;
      return undefined;
    } catch (error) {
      if (this.#wasWritable) log.error({ err: error }, 'not ready: the event log cannot be written');
      this.#wasWritable = false;
      return 'the event log cannot be written; the log of the service has the cause';
    }
  }
}
