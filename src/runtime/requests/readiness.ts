import type { Logger } from '../../ports/logger.ts';
import { within } from '../../timing/deadline.ts';

export interface ReadinessDeps {
  /** Proves that the log can be written; rejects when it cannot. */
  readonly probe: () => Promise<void>;
  readonly isDraining: () => boolean;
  readonly log: Logger;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
}

/** A result is used again for this long, however often somebody asks. */
const FRESH_MS = 5_000;
const FRESH_FAILURE_MS = 1_000;
/** A disk that needs longer for one small write is not usable. */
const PROBE_MS = 2_000;

interface Finding {
  readonly problem: Promise<string | undefined>;
  /** When the log must be probed again. Infinity while a probe runs. */
  freshUntil: number;
}

/** Whether the service can take messages now: it is not stopping, and a probe has written to the log. */
export class Readiness {
  readonly #deps: ReadinessDeps;
  readonly #now: () => number;
  #finding: Finding | null = null;
  #wasWritable = true;

  constructor({ now = () => performance.now(), ...deps }: ReadinessDeps) {
    this.#deps = deps;
    this.#now = now;
  }

  /** What keeps the service from being ready, for people. Empty when it is ready. */
  async problems(): Promise<string[]> {
    // The log is about to be closed. Do not probe it.
    if (this.#deps.isDraining()) return ['the service is stopping'];
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

  /** Never rejects. Logs the cause, which may name files, once per outage, and does not return it. */
  async #probe(): Promise<string | undefined> {
    const { probe, log } = this.#deps;
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
