import { modelConversation } from '../../core/conversation/model-conversation.ts';
import type { ModelMessage, ModelTool } from '../../core/conversation/model-message.ts';
import { ServiceError } from '../../core/errors.ts';
import { failureReason } from '../../core/turn/turn-limits.ts';
import type { LanguageModel, ModelReply } from '../../ports/language-model.ts';
import type { RequestFacts } from './check.ts';

export interface AskerDeps {
  readonly model: LanguageModel;
  /** Sent with each request. */
  readonly systemPrompt: string;
  readonly stepTimeoutMs: number;
  /** Aborts the running request and the check. */
  readonly signal: AbortSignal;
}

/** How one request ended. */
export type Asked = { readonly facts: RequestFacts } & (
  | {
      readonly failure: null;
      readonly reply: ModelReply;
      /** The number of pieces of the text, and the time from the first to the last. */
      readonly pieces: number;
      readonly spreadMs: number;
    }
  | { readonly failure: ServiceError }
);

/** Makes single requests to a model and measures them. */
export class Asker {
  readonly #deps: AskerDeps;
  readonly #made: RequestFacts[] = [];

  constructor(deps: AskerDeps) {
    this.#deps = deps;
  }

  /** The times and tokens of all requests so far, in order. */
  get made(): readonly RequestFacts[] {
    return this.#made;
  }

  /** Rejects only when the check is stopped. */
  async ask(messages: readonly ModelMessage[], tools: readonly ModelTool[] = []): Promise<Asked> {
    const { model, systemPrompt } = this.#deps;
    const source = model.source;
    // Prepared as in a turn, so that the model gets its own reply back as it would in a turn.
    const conversation = modelConversation(messages, { source, caution: 'none' });
    const heard = new HeardPieces();
    const outcome = await this.#generate({ systemPrompt, messages: conversation, tools }, heard);
    const usage = ('reply' in outcome ? outcome.reply.usage : undefined) ?? null;
    const facts = { firstPieceMs: heard.firstMs, totalMs: heard.sinceStart(), usage };
    this.#made.push(facts);
    if (!('reply' in outcome)) return { facts, failure: outcome.failure };
    return { facts, failure: null, reply: outcome.reply, pieces: heard.texts, spreadMs: heard.spreadMs };
  }

  async #generate(
    request: Parameters<LanguageModel['generate']>[0],
    heard: HeardPieces,
  ): Promise<{ reply: ModelReply } | { failure: ServiceError }> {
    const { model, signal, stepTimeoutMs } = this.#deps;
    const timeout = AbortSignal.timeout(stepTimeoutMs);
    try {
      return { reply: await model.generate(request, heard, AbortSignal.any([signal, timeout])) };
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted) return { failure: this.#tookTooLong() };
      if (error instanceof ServiceError) return { failure: error };
      throw error;
    }
  }

  #tookTooLong(): ServiceError {
    const { stepTimeoutMs } = this.#deps;
    const reason = failureReason({ kind: 'step-timeout', stepTimeoutMs }, 1);
    return new ServiceError('AGENT_ERROR', 'The language model could not answer.', { reason });
  }
}

/** Records when the pieces of a reply arrive. */
class HeardPieces {
  readonly #start = performance.now();
  /** Null before the first piece of text or reasoning. */
  firstMs: number | null = null;
  texts = 0;
  #firstTextMs = 0;
  #lastTextMs = 0;

  get spreadMs(): number {
    return this.#lastTextMs - this.#firstTextMs;
  }

  onText(): void {
    this.#lastTextMs = this.sinceStart();
    if (this.texts === 0) this.#firstTextMs = this.#lastTextMs;
    this.texts += 1;
    this.firstMs ??= this.#lastTextMs;
  }

  onReasoning(): void {
    this.firstMs ??= this.sinceStart();
  }

  /** In whole milliseconds. */
  sinceStart(): number {
    return Math.round(performance.now() - this.#start);
  }
}
