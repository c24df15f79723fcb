import { createInterface, type Interface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';

export type Line = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'end' | 'withdrawn' };

export interface LineInputParts {
  readonly input: Readable;
  /** Where a person sees what is typed; null when the lines come from a script. */
  readonly terminal: (Writable & { readonly columns?: number }) | null;
  /** What the arrow keys bring back, newest first. */
  readonly history: readonly string[];
}

export interface Question {
  readonly prompt: string;
  /** A person must have seen the question: what was typed before it is no answer. */
  readonly fresh?: boolean;
  /** Takes the question back. */
  readonly signal?: AbortSignal;
}

/** Reads lines, typed or piped. Between questions nothing that is typed is shown, so that it does not mix with a reply. */
export class LineInput {
  readonly #readline: Interface;
  readonly #terminal: LineInputParts['terminal'];
  readonly #early: string[] = [];
  #isEchoing = false;
  /** What the arrow keys bring back, newest first. */
  #said: readonly string[];
  /** The answer to what is being asked is not to be among it. */
  #isPassing = false;
  #isOver = false;
  #answer: ((line: Line) => void) | null = null;

  constructor({ input, terminal, history }: LineInputParts) {
    this.#terminal = terminal;
    this.#said = history;
    this.#readline = createInterface({
      input,
      terminal: terminal !== null,
      historySize: 1_000,
      history: [...history],
      removeHistoryDuplicates: true,
      ...(terminal && { output: this.#echo(terminal) }),
    });
    this.#readline.on('history', (lines) => {
      if (this.#isPassing) lines.splice(0, lines.length, ...this.#said);
      else this.#said = [...lines];
    });
    this.#readline.on('line', (text) => this.#take(text));
    this.#readline.on('close', () => {
      this.#isOver = true;
      // What follows, a shell's prompt, begins a line.
      if (this.#answer) terminal?.write('\n');
      this.#settle({ kind: 'end' });
    });
  }

  /** Ctrl-C on the keyboard; without one it is a signal of the process. */
  onInterrupt(listener: () => void): void {
    this.#readline.on('SIGINT', listener);
  }

  /** Ctrl-D on the keyboard. A script that has no more lines still waits for its replies. */
  onLeave(listener: () => void): void {
    if (this.#terminal) this.#readline.on('close', listener);
  }

  read({ prompt, fresh = false, signal }: Question): Promise<Line> {
    if (signal?.aborted) return Promise.resolve({ kind: 'withdrawn' });
    const early = fresh && this.#terminal ? undefined : this.#early.shift();
    if (early !== undefined) {
      this.#terminal?.write(`${prompt}${early}\n`);
      return Promise.resolve({ kind: 'line', text: early });
    }
    if (this.#isOver) return Promise.resolve({ kind: 'end' });
    this.#isPassing = fresh;
    return new Promise((resolve) => {
      const withdraw = () => this.#settle({ kind: 'withdrawn' });
      signal?.addEventListener('abort', withdraw, { once: true });
      this.#answer = (line) => {
        signal?.removeEventListener('abort', withdraw);
        resolve(line);
      };
      this.#show(prompt);
    });
  }

  /** Shows the question again, below what was written meanwhile. */
  refresh(): void {
    if (this.#answer && this.#terminal) this.#readline.prompt(true);
  }

  close(): void {
    this.#readline.close();
  }

  #take(text: string): void {
    if (this.#answer) this.#settle({ kind: 'line', text });
    else this.#early.push(text);
  }

  #settle(line: Line): void {
    const answer = this.#answer;
    this.#answer = null;
    this.#isEchoing = false;
    answer?.(line);
  }

  #show(prompt: string): void {
    if (!this.#terminal) return;
    this.#isEchoing = true;
    this.#readline.setPrompt(prompt);
    this.#readline.prompt(true);
  }

  #echo(terminal: NonNullable<LineInputParts['terminal']>): Writable {
    const echo = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        // At once: a moment later it would be decided by what is asked then.
        if (this.#isEchoing) terminal.write(chunk);
        done();
      },
    });
    // readline wraps long lines by it.
    return Object.defineProperty(echo, 'columns', { get: () => terminal.columns });
  }
}
