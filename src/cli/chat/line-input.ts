import { createInterface, type Interface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';

export type Line = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'end' | 'withdrawn' };

export interface LineInputDeps {
  readonly input: Readable;
  /** Where a person sees the typed text; null when the lines come from a script. */
  readonly terminal: (Writable & { readonly columns?: number }) | null;
  /** Earlier lines for the arrow keys, newest first. */
  readonly history: readonly string[];
}

export interface Question {
  readonly prompt: string;
  /**
   * Whether a person must have seen the question: then a line typed before it is not the answer. A script sees no
   * question, so it ends at once and the lines of the script stay messages.
   */
  readonly fresh?: boolean;
  /** Withdraws the question. */
  readonly signal?: AbortSignal;
}

/** Reads lines, typed or piped. Between questions typed text is not echoed, so that it does not mix with a reply. */
export class LineInput {
  readonly #readline: Interface;
  readonly #terminal: LineInputDeps['terminal'];
  readonly #early: string[] = [];
  #isEchoing = false;
  /** Earlier lines for the arrow keys, newest first. */
  #history: readonly string[];
  /** Whether the answer to the present question stays out of the history. */
  #skipsHistory = false;
  #isOver = false;
  #onEarlyLine: (text: string) => boolean = () => false;
  #answer: ((line: Line) => void) | null = null;

  constructor({ input, terminal, history }: LineInputDeps) {
    this.#terminal = terminal;
    this.#history = history;
    this.#readline = createInterface({
      input,
      terminal: terminal !== null,
      historySize: 1_000,
      history: [...history],
      removeHistoryDuplicates: true,
      ...(terminal && { output: this.#echo(terminal) }),
    });
    this.#readline.on('history', (lines) => {
      if (this.#skipsHistory) lines.splice(0, lines.length, ...this.#history);
      else this.#history = [...lines];
    });
    this.#readline.on('line', (text) => this.#take(text));
    this.#readline.on('close', () => {
      this.#isOver = true;
      // The prompt of the shell should begin on a new line.
      if (this.#answer) terminal?.write('\n');
      this.#settle({ kind: 'end' });
    });
  }

  /** Ctrl-C at a terminal. Without a terminal it is a signal to the process. */
  onInterrupt(listener: () => void): void {
    this.#readline.on('SIGINT', listener);
  }

  /** Ctrl-D at a terminal. A script without further lines still waits for its replies. */
  onLeave(listener: () => void): void {
    if (this.#terminal) this.#readline.on('close', listener);
  }

  /** Sees each line that is typed between two questions. Returns true for a line that is dealt with. */
  onEarlyLine(listener: (text: string) => boolean): void {
    this.#onEarlyLine = listener;
  }

  read({ prompt, fresh = false, signal }: Question): Promise<Line> {
    if (signal?.aborted) return Promise.resolve({ kind: 'withdrawn' });
    if (fresh && !this.#terminal) return Promise.resolve({ kind: 'end' });
    const early = fresh ? undefined : this.#early.shift();
    if (early !== undefined) {
      this.#terminal?.write(`${prompt}${early}\n`);
      return Promise.resolve({ kind: 'line', text: early });
    }
    if (this.#isOver) return Promise.resolve({ kind: 'end' });
    this.#skipsHistory = fresh;
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

  /** Shows the question again, below other output. */
  refresh(): void {
    if (this.#answer && this.#terminal) this.#readline.prompt(true);
  }

  close(): void {
    this.#readline.close();
  }

  #take(text: string): void {
    if (this.#answer) this.#settle({ kind: 'line', text });
    else if (!this.#onEarlyLine(text)) this.#early.push(text);
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

  #echo(terminal: NonNullable<LineInputDeps['terminal']>): Writable {
    const echo = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        // Decide now: later `#isEchoing` may belong to the next question.
        if (this.#isEchoing) terminal.write(chunk);
        done();
      },
    });
    // readline wraps long lines at this width.
    return Object.defineProperty(echo, 'columns', { get: () => terminal.columns });
  }
}
