import { EventEmitter, once } from 'node:events';
import type { TokenUsage } from '../../../src/core/turn/reply-parts.ts';
import type {
  LanguageModel,
  ModelReply,
  ModelRequest,
  ReplyListener,
  ReplyPart,
} from '../../../src/ports/language-model.ts';

/** Less than any test may take that waits for a call. */
const MAX_WAIT_MS = 75_000;

interface AskedTool {
  readonly name: string;
  readonly arguments?: Record<string, unknown> | string;
  readonly callId?: string;
}

/** A language model that does nothing by itself: the test waits for its calls and directs each of them. */
export class DirectedModel implements LanguageModel {
  readonly label = 'directed model';
  readonly source = { api: 'directed', provider: 'directed', model: 'directed' };
  readonly calls: DirectedCall[] = [];
  readonly #arrivals = new EventEmitter();

  generate(request: ModelRequest, listener: ReplyListener, signal: AbortSignal): Promise<ModelReply> {
    const call = new DirectedCall(request, listener, signal, this.calls.length);
    this.calls.push(call);
    this.#arrivals.emit('call');
    return call.reply;
  }

  /** The call of this number, the first being 0, as soon as it has come. */
  async call(index: number): Promise<DirectedCall> {
    for (;;) {
      const call = this.calls[index];
      if (call) return call;
      await this.#next(`call ${index}`);
    }
  }

  /** The first call, now or later, whose last user message is this, or ends with it where several were joined. */
  async callFor(text: string): Promise<DirectedCall> {
    for (;;) {
      const call = this.calls.find(
        ({ userText = '' }) => userText === text || userText.endsWith(`\n\n${text}`),
      );
      if (call) return call;
      await this.#next(`a call for "${text}"`);
    }
  }

  /** A test that hangs should say what it waited for. */
  async #next(wanted: string): Promise<void> {
    await once(this.#arrivals, 'call', { signal: AbortSignal.timeout(MAX_WAIT_MS) }).catch(() => {
      const had = this.calls.map(({ signal }, index) => `${index}${signal.aborted ? ' (aborted)' : ''}`);
      throw new Error(
        `the model waited for ${wanted} in vain, after the calls ${had.join(', ') || '(none)'}`,
      );
    });
  }
}

/** One call of the model. It rejects by itself when it is aborted, as the port promises. */
export class DirectedCall {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  /** Resolves when the call is aborted. */
  readonly aborted: Promise<void>;
  readonly #listener: ReplyListener;
  readonly #index: number;
  readonly #reply = Promise.withResolvers<ModelReply>();
  /** What the reply consists of so far. */
  readonly #parts: ReplyPart[] = [];

  constructor(request: ModelRequest, listener: ReplyListener, signal: AbortSignal, index: number) {
    this.request = request;
    this.signal = signal;
    this.#listener = listener;
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
      this.#add('text', piece);
      this.#listener.onText(piece);
    }
  }

  /** Thinks the pieces aloud, also after an abort. */
  think(...pieces: string[]): void {
    for (const piece of pieces) {
      this.#add('reasoning', piece);
      this.#listener.onReasoning(piece);
    }
  }

  /** Streams the pieces and ends the reply. */
  answer(...pieces: string[]): void {
    this.say(...pieces);
    this.end();
  }

  /** The same, with what the provider says of its tokens. */
  answerWithUsage(usage: TokenUsage, ...pieces: string[]): void {
    this.say(...pieces);
    this.end({ usage });
  }

  /** Ends the reply with tool calls. */
  askFor(...tools: AskedTool[]): void {
    const calls = tools.map(({ name, arguments: args = {}, callId }, position) => ({
      type: 'toolCall' as const,
      callId: callId ?? `call-${this.#index}-${position}`,
      name,
      arguments: typeof args === 'string' ? args : JSON.stringify(args),
    }));
    this.#parts.push(...calls);
    this.end();
  }

  /** Puts a part into the reply that is not streamed. */
  add(part: ReplyPart): void {
    this.#parts.push(part);
  }

  /** Ends the reply with what was said so far. */
  end(told: Omit<ModelReply, 'parts'> = {}): void {
    this.#reply.resolve({ parts: [...this.#parts], ...told });
  }

  fail(error: unknown): void {
    this.#reply.reject(error);
  }

  #add(type: 'text' | 'reasoning', piece: string): void {
    const last = this.#parts.at(-1);
    if (last?.type === type) this.#parts[this.#parts.length - 1] = { ...last, text: last.text + piece };
    else this.#parts.push({ type, text: piece });
  }
}
