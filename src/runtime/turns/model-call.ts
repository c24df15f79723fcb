import { AGENT } from '../../core/log/event-metadata.ts';
import type { RequestedCall } from '../../core/tool-call/tool-call-commands.ts';
import type { OutputFormat } from '../../core/turn/output-format.ts';
import { separatorAfter } from '../../core/turn/reply-text.ts';
import { spokenText } from '../../core/turn/step-parts.ts';
import type { ModelReply, RawToolCall, ReplyListener } from '../../ports/language-model.ts';
import type { ToolOffer } from '../../ports/turn-tools.ts';
import { systemClock } from '../../timing/clock.ts';
import { completedStep, keeping } from './completed-step.ts';
import type { EarlyReply } from './early-reply.ts';
import { modelRequest } from './model-request.ts';
import { StreamedStep } from './streamed-step.ts';
import type { TurnDeps, TurnSession } from './turn-deps.ts';

export interface ModelCallDeps {
  readonly session: TurnSession;
  readonly turn: TurnDeps;
  readonly offer: ToolOffer;
  /** The reply, if it was requested before. */
  readonly early: EarlyReply | null;
  /** The first text has come. */
  readonly onText: () => void;
  readonly onTimeout: () => void;
  /** The call failed, and was not ended before. */
  readonly onFailure: (error: unknown) => void;
}

/** One model call of a turn. Its reply is reported to the session as a `step.complete` command. */
export class ModelCall {
  readonly streamed: StreamedStep;
  readonly #deps: ModelCallDeps;
  readonly #turnId: string;
  readonly #step: number;
  readonly #abort: AbortController;
  readonly #timer: unknown;
  /** The model has nothing more to say, or is no longer heard. */
  #over = false;

  constructor(turnId: string, step: number, deps: ModelCallDeps) {
    const { session, turn, early, onTimeout, onFailure } = deps;
    const { clock = systemClock, stepTimeoutMs, bus } = turn;
    this.#deps = deps;
    this.#turnId = turnId;
    this.#step = step;
    this.#abort = early?.abort ?? new AbortController();
    const { sessionId } = session;
    this.streamed = new StreamedStep({ sessionId, turnId, step }, (signal) => bus.publish(signal));
    this.#timer = clock.setTimeout(onTimeout, stepTimeoutMs);
    this.#run().then(
      () => this.#finish(),
      (error: unknown) => {
        this.#finish();
        if (!this.#abort.signal.aborted) onFailure(error);
      },
    );
  }

  /** Aborts the call if it still runs. */
  end(): void {
    if (this.#over) return;
    this.#abort.abort(OVER);
    this.#finish();
  }

  #finish(): void {
    this.#over = true;
    const { clock = systemClock } = this.#deps.turn;
    clock.clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const { session, offer } = this.#deps;
    const { signal } = this.#abort;
    const causationId = session.causes.last ?? this.#turnId;
    const reply = await this.#reply();
    if (signal.aborted) return;
    const calls = await offer.resolve(toolCallsOf(reply), session.state.transcript, session.sessionId);
    if (signal.aborted) return;
    const outputIssue = calls.length === 0 ? await this.#outputIssue(reply) : undefined;
    if (signal.aborted) return;
    this.#report(reply, { calls, outputIssue }, causationId);
  }

  /** What may be wrong is not streamed: nobody could take it back. It is said at once when it was checked. */
  async #outputIssue({ parts, finishReason }: ModelReply): Promise<string | undefined> {
    const { session, turn, onText } = this.#deps;
    const format = this.#output;
    if (!format) return undefined;
    const text = spokenText(parts);
    const issue = await turn.catalog.outputIssue(format, text, session.sessionId);
    if (issue === undefined && !this.#over) {
      onText();
      this.streamed.say(text);
    }
    return issue !== undefined && finishReason === 'length'
      ? `${issue}; the token limit cut it (llm.maxTokens)`
      : issue;
  }

  get #output(): OutputFormat | undefined {
    return this.#deps.session.state.open?.options?.output;
  }

  #reply(): Promise<ModelReply> {
    const { session, turn, offer, early } = this.#deps;
    if (early) return early.deliver(this.#listener());
    const { state: conversation } = session;
    const { text: said = '', options } = conversation.open ?? {};
    const step = { turnId: this.#turnId, step: this.#step, conversation, said, options };
    return turn.model.generate(modelRequest(step, turn, offer), this.#listener(), this.#abort.signal);
  }

  #report(
    reply: ModelReply,
    { calls, outputIssue }: { calls: readonly RequestedCall[]; outputIssue: string | undefined },
    causationId: string,
  ): void {
    const { session, turn } = this.#deps;
    const place = { turnId: this.#turnId, step: this.#step };
    const step = completedStep(place, reply, calls, keeping(turn, session.state.open?.options));
    const command = outputIssue === undefined ? step : { ...step, outputIssue };
    session.report(command, { actor: AGENT, causationId });
  }

  /** A model that goes on after its call is over is not heard. */
  #listener(): ReplyListener {
    const { session, onText } = this.#deps;
    const { streamed } = this;
    const isHeld = this.#output !== undefined;
    let isFirst = true;
    return {
      onText: (text) => {
        if (this.#over || isHeld) return;
        if (!isFirst) {
          streamed.say(text);
          return;
        }
        isFirst = false;
        onText();
        streamed.say(text, separatorAfter(session.state.open?.reply ?? ''));
      },
      onReasoning: (text) => {
        if (!this.#over) streamed.think(text);
      },
    };
  }
}

function toolCallsOf({ parts }: ModelReply): RawToolCall[] {
  return parts.flatMap((part) => (part.type === 'toolCall' ? [part] : []));
}

/** One for all calls: an abort without a reason makes an error with its stack each time. */
const OVER = new DOMException('the model call is over', 'AbortError');
