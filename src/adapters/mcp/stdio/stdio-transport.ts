import { shorten } from '../../../core/shorten.ts';
import { asError } from '../../../core/thrown.ts';
import { settlesWithin } from '../../../timing/deadline.ts';
import type { Mask } from '../failure/secret-mask.ts';
import { MAX_MESSAGE_BYTES, MessageTooLargeError } from '../message-limit.ts';
import { type ReceivedMessage, receivedMessage } from '../peer/received-message.ts';
import type { RpcMessage } from '../peer/rpc-message.ts';
import type { ServerTransport } from '../server-transport.ts';
import { LineSplitter } from './line-splitter.ts';
import { type ProcessOptions, ServerProcess } from './server-process.ts';
import type { StderrLog } from './stderr-log.ts';

const MAX_GARBAGE_LINES = 10;
const GARBAGE_CHARACTERS = 200;
/** Longest wait for the exit code after the first sign of an end, and then for the rest of the output. */
const LAST_WORDS_MS = 250;

export interface StdioTransportOptions extends ProcessOptions {
  readonly stderr: StderrLog;
  /** Called with the first few lines that are not messages, without secrets. */
  readonly onGarbage: (line: string) => void;
  readonly graceMs: number;
  readonly mask: Mask;
}

/** MCP over the standard streams of a process. Closing the transport ends the process and its descendants. */
export class StdioTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: ReceivedMessage) => void;

  readonly #options: StdioTransportOptions;
  #process: ServerProcess | undefined;
  #endReason: string | undefined;
  #closed = false;
  #exitNoted: Promise<void> | undefined;
  #ending: Promise<void> | undefined;
  #garbageLines = 0;

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  get endReason(): string | undefined {
    return this.#endReason;
  }

  get hasExited(): boolean {
    return this.#process?.exit !== undefined;
  }

  async start(): Promise<void> {
    if (this.#process !== undefined || this.#closed) throw new Error('a transport can be started only once');
    const child = new ServerProcess(this.#options);
    this.#process = child;
    const messages = new LineSplitter(MAX_MESSAGE_BYTES, (line, cut) => this.#receive(line, cut));
    const { stderr } = this.#options;
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk)).once('close', () => stderr.end());
    child.stdout.on('data', (chunk: Buffer) => messages.push(chunk));
    await child.spawned;
    child.stdin.once('close', () => this.#noteExit(child, 'the server stopped reading its input'));
    child.stdout.once('close', () => this.#noteExit(child, 'the server closed its output'));
    void child.exited.then(() => this.#noteExit(child, 'the server exited'));
  }

  async send(message: RpcMessage): Promise<void> {
    const child = this.#process;
    if (child === undefined || this.#closed) throw new Error(this.#endReason ?? 'the connection is closed');
    const failed = await new Promise<boolean>((resolve) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) =>
        resolve(error !== null && error !== undefined),
      );
    });
    if (!failed) return;
    // The exit code, which tells more, comes a moment after the broken pipe.
    await this.#noteExit(child, 'the server stopped reading its input');
    throw new Error(this.#endReason ?? 'the connection is closed');
  }

  async close(): Promise<void> {
    this.#shut();
    await this.#ending;
  }

  fail(reason: string): void {
    if (this.#closed) return;
    this.#endReason = this.explain(reason);
    this.#shut();
  }

  explain(reason: string): string {
    const lastWords = this.#options.stderr.tail();
    return lastWords === '' ? reason : `${reason}; it wrote: ${lastWords}`;
  }

  #receive(line: string, cut: boolean): void {
    if (cut) this.fail(new MessageTooLargeError().message);
    if (this.#closed || line.trim() === '') return;
    try {
      const message = receivedMessage(JSON.parse(line));
      if ('invalid' in message) this.#noteGarbage(line);
      this.onmessage?.(message);
    } catch (error) {
      this.#noteGarbage(line);
      this.onerror?.(asError(error));
    }
  }

  #noteGarbage(line: string): void {
    this.#garbageLines += 1;
    if (this.#garbageLines > MAX_GARBAGE_LINES) return;
    this.#options.onGarbage(shorten(this.#options.mask(line), GARBAGE_CHARACTERS));
  }

  /** The process is ending: waits for its exit code and the rest of its output, then fails with a reason. */
  #noteExit(child: ServerProcess, sign: string): Promise<void> {
    this.#exitNoted ??= this.#failWithExit(child, sign);
    return this.#exitNoted;
  }

  async #failWithExit(child: ServerProcess, sign: string): Promise<void> {
    await settlesWithin(LAST_WORDS_MS, child.exited);
    await settlesWithin(LAST_WORDS_MS, child.drained);
    this.fail(child.exit ?? sign);
  }

  #shut(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ending = this.#process?.end(this.#options.graceMs);
    this.onclose?.();
  }
}
