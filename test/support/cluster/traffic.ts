import { EventEmitter, once } from 'node:events';
import { withinMs } from './deadline.ts';

const FRAME_MS = 90_000;

/** Counts what all clients together are told. */
export class Traffic {
  #count = 0;
  readonly #signals = new EventEmitter();

  note(): void {
    this.#count += 1;
    this.#signals.emit('frame');
  }

  /** Resolves after so many more frames. */
  async frames(count: number): Promise<void> {
    const end = this.#count + count;
    const come = async (): Promise<void> => {
      while (this.#count < end) await once(this.#signals, 'frame');
    };
    await withinMs(FRAME_MS, `${count} frames to any clients`, come());
  }
}
