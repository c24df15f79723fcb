import { EventEmitter, once } from 'node:events';
import type { LanguageModel, ModelReply, ModelRequest } from '../../src/ports/language-model.ts';

interface AskedTool {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | string;
  readonly callId?: string;
}

/** A language model that does nothing by itself: the test waits for its calls and directs each of them. */
export class DirectedModel implements LanguageModel {
  readonly label = 'directed model';
  readonly calls: DirectedCall[] = [];
  readonly #arrivals = new EventEmitter();

  generate(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal): Promise<ModelReply> {
    const call = new DirectedCall(request, onText, signal, this.calls.length);
    this.calls.push(call);
    this.#arrivals.emit('call');
    return call.reply;
  }

  /** The call of this number, the first being 0, as soon as it has come. */
  async call(index: number): Promise<DirectedCall> {
    for (;;) {
      const call = this.calls[index];
      if (call) return call;
      await once(this.#arrivals, 'call');
    }
  }

  /** The first call, now or later, whose last user message is this. */
  async callFor(text: string): Promise<DirectedCall> {
    for (;;) {
      const call = this.calls.find((candidate) => candidate.userText === text);
      if (call) return call;
      await once(this.#arrivals, 'call');
    }
  }
}

/** One call of the model. It rejects by itself when it is aborted, as the port promises. */
export class DirectedCall {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  /** Resolves when the call is aborted. */
  readonly aborted: Promise<void>;
  readonly #onText: (text: string) => void;
  readonly #index: number;
  readonly #reply = Promise.withResolvers<ModelReply>();
  #text = '';

  constructor(request: ModelRequest, onText: (text: string) => void, signal: AbortSignal, index: number) {
    this.request = request;
    this.signal = signal;
    this.#onText = onText;
    this.#index = index;
    this.aborted = new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        this.#reply.reject(signal.reason);
        resolve();
      });
    });
  }

  get reply(): Promise<ModelReply> {
    return this.#reply.promise;
  }

  get userText(): string | undefined {
    return this.request.messages.findLast((message) => message.role === 'user')?.text;
  }

  /** Streams the pieces, also after an abort: what is said then must go nowhere. */
  say(...pieces: string[]): void {
    for (const piece of pieces) {
      this.#text += piece;
      this.#onText(piece);
    }
  }

  /** Streams the pieces and ends the reply. */
  answer(...pieces: string[]): void {
    this.say(...pieces);
    this.#reply.resolve({ text: this.#text, toolCalls: [] });
  }

  /** The same, with what the provider says of its tokens. */
  answerWithUsage(usage: NonNullable<ModelReply['usage']>, ...pieces: string[]): void {
    this.say(...pieces);
    this.#reply.resolve({ text: this.#text, toolCalls: [], usage });
  }

  /** Ends the reply with tool calls. */
  askFor(...tools: AskedTool[]): void {
    const toolCalls = tools.map(({ name, arguments: args = {}, callId }, position) => ({
      callId: callId ?? `call-${this.#index}-${position}`,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    }));
    this.#reply.resolve({ text: this.#text, toolCalls });
  }

  fail(error: unknown): void {
    this.#reply.reject(error);
  }
}
