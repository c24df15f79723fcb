import type { SessionSignal } from '../../core/session/session-signal.ts';
import { encodeSignal, encodeWithReasoning } from './server-frames.ts';

/** A signal in some form. @param seq and @param offset where the reader stands after it. */
export type EncodeSignal = (signal: SessionSignal, seq: number, offset: number) => string;

interface EncodedSignal {
  readonly text: string;
  readonly seq: number;
  readonly offset: number;
}

/** A signal as text, made once for all readers that want it in the same form. */
export class SignalFrames {
  readonly #signal: SessionSignal;
  #plain: string | null | undefined;
  /** Made when the first reader wants it: most signals have readers of the plain frame only. */
  #known: Map<EncodeSignal, EncodedSignal> | undefined;

  constructor(signal: SessionSignal) {
    this.#signal = signal;
  }

  /** The frame of a client that cannot resume; null where the interface has none. */
  get plain(): string | null {
    if (this.#plain === undefined) this.#plain = encodeSignal(this.#signal);
    return this.#plain;
  }

  /** The same for a client that asked for the model's reasoning. Seldom asked for, so it is not kept. */
  get withReasoning(): string | null {
    return this.plain ?? encodeWithReasoning(this.#signal);
  }

  /** All who are live stand at the same place, but for those who said that they have what there is not yet. */
  encoded(encode: EncodeSignal, seq: number, offset: number): string {
    this.#known ??= new Map();
    const known = this.#known.get(encode);
    if (known && known.seq === seq && known.offset === offset) return known.text;
    const text = encode(this.#signal, seq, offset);
    if (!known) this.#known.set(encode, { text, seq, offset });
    return text;
  }
}

/** Somebody who listens to a session. */
export interface SignalReader {
  hear(signal: SessionSignal, frames: SignalFrames): void;
}
