import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 10;
/** A message goes through several processes, and each may be paused as this one was. */
const PROCESSES = 2;

/** Measures for how long the machine does not run this process, because it runs others. */
export class MachinePauses implements Disposable {
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#delays.enable();
  }

  /** What a time that the service promises may be longer for that alone, in milliseconds. */
  get allowanceMs(): number {
    return PROCESSES * Math.max(0, this.#delays.max / 1e6 - RESOLUTION_MS);
  }

  [Symbol.dispose](): void {
    this.#delays.disable();
  }
}
