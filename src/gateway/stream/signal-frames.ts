import type { SessionSignal } from '../../core/session/session-signal.ts';
import { encodeSignal, encodeWithReasoning } from './server-frames.ts';

/** Encodes a signal. `seq` and `offset` are the position of the reader after it. */
export type EncodeSignal = (signal: SessionSignal, seq: number, offset: number) => string;

interface EncodedSignal {
  readonly text: string;
  readonly seq: number;
  readonly offset: number;
}

/** A signal as text, encoded once for all readers that use the same encoding. */
export class SignalFrames {
  readonly #signal: SessionSignal;
  readonly #forPlain: SessionSignal | null;
  #plain: string | null | undefined;
  /** Created for the first reader that needs it: most signals have only readers of the plain frame. */
  #cache: Map<EncodeSignal, EncodedSignal> | undefined;

  /** @param forPlain what clients that cannot resume are told of it; null: nothing. */
  constructor(signal: SessionSignal, forPlain: SessionSignal | null = signal) {
    this.#signal = signal;
    this.#forPlain = forPlain;
  }

  /** The frame for a client that cannot resume; null if the interface has none. */
  get plain(): string | null {
    if (this.#plain === undefined) this.#plain = this.#forPlain && encodeSignal(this.#forPlain);
    return this.#plain;
  }

  /** The same for a client that asked for reasoning. Few clients do, so it is not cached. */
  get withReasoning(): string | null {
    return this.plain ?? (this.#forPlain && encodeWithReasoning(this.#forPlain));
  }

  /**
   * Caches one text per encoding. All live readers have the same position, except those that connected with a
   * position that the session has not reached yet.
   */
  encoded(encode: EncodeSignal, seq: number, offset: number): string {
    this.#cache ??= new Map();
    const known = this.#cache.get(encode);
    if (known && known.seq === seq && known.offset === offset) return known.text;
    const text = encode(this.#signal, seq, offset);
    if (!known) this.#cache.set(encode, { text, seq, offset });
    return text;
  }
}

/** A listener to a session. */
export interface SignalReader {
  hear(signal: SessionSignal, frames: SignalFrames): void;
}
