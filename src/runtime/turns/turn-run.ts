import type { ActorRefFrom } from 'xstate';
import type { TurnEvent, turnMachine } from '../../../machines/turn.machine.ts';
import { modelConversation } from '../../core/conversation/model-conversation.ts';
import type { ModelMessage } from '../../core/conversation/model-message.ts';
import { cautionAfter, refusedIn } from '../../core/conversation/refusals.ts';
import { estimateText, estimateTokens, transcriptWindow } from '../../core/conversation/transcript-window.ts';
import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import { type Actor, AGENT, type Origin, SERVICE } from '../../core/log/event-metadata.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { SessionCommand } from '../../core/session/session-commands.ts';
import type { ReplyChunk, ReplyReasoning } from '../../core/session/session-signal.ts';
import type { OpenTurn, SessionState } from '../../core/session/session-state.ts';
import type { SettleToolCall } from '../../core/tool-call/tool-call-commands.ts';
import { separatorAfter } from '../../core/turn/reply-text.ts';
import type { FailureCause } from '../../core/turn/turn-causes.ts';
import type { CompleteStep, FailTurn } from '../../core/turn/turn-commands.ts';
import { failureReason, type LimitCause, type TurnLimits } from '../../core/turn/turn-limits.ts';
import type { LanguageModel, ModelReply, RawToolCall, ReplyListener } from '../../ports/language-model.ts';
import type { Log } from '../../ports/log.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import type { LiveMachines } from '../bus/live-machines.ts';
import type { LocalBus } from '../bus/local-bus.ts';
import type { CausingEvents } from '../sessions/causing-events.ts';
import { replyParts } from './reply-parts.ts';
import type { ToolOffer, TurnTools } from './turn-tools.ts';

/** What every turn is run with. */
export interface TurnParts extends TurnLimits {
  readonly model: LanguageModel;
  readonly systemPrompt: string;
  /** Most tokens of system prompt and conversation that the model is shown. */
  readonly historyTokens: number;
  /** Whether what the model thinks aloud goes into the log. */
  readonly keepReasoning: boolean;
  readonly catalog: TurnTools;
  readonly bus: LocalBus;
  readonly log: Log;
  readonly machines: LiveMachines;
  /** A simulated one, in tests and replays. */
  readonly clock?: Clock;
}

/** What a running turn sees of its session. */
export interface TurnSession {
  readonly sessionId: SessionId;
  readonly state: SessionState;
  /** Hands a command to the session's mailbox. */
  readonly report: (command: SessionCommand, origin: Origin) => void;
  /** The events that effects follow from. */
  readonly causes: Pick<CausingEvents, 'last' | 'ofCall'>;
}

interface StepText {
  readonly step: number;
  separator: string;
  text: string;
}

interface StepReasoning {
  readonly step: number;
  text: string;
}

interface ModelCall {
  readonly abort: AbortController;
  /** Ends with the call: once there is a reply, what takes time is not the model. */
  readonly timer: unknown;
}

type StopEffect = () => void;

/**
 * One turn while it runs: its machine, and the effects that the machine begins and ends. What an effect brings
 * about goes to the session's mailbox as a command and comes back, once it is in the log, through `tell`.
 */
export class TurnRun {
  readonly turnId: string;
  readonly #session: TurnSession;
  readonly #actor: ActorRefFrom<typeof turnMachine>;
  readonly #parts: TurnParts;
  readonly #onOver: () => void;
  /** While it runs. */
  #modelCall: ModelCall | null = null;
  /** What the running step has streamed; null before its first text, and once the step is in the log. */
  #said: StepText | null = null;
  /** What the running step has thought aloud, likewise. */
  #thought: StepReasoning | null = null;
  /** Some providers tie what a model has thought to the tools it was offered: they stay the same within a turn. */
  #offer: ToolOffer | null = null;

  constructor(
    session: TurnSession,
    open: OpenTurn,
    actor: ActorRefFrom<typeof turnMachine>,
    parts: TurnParts,
    onOver: () => void,
  ) {
    this.#session = session;
    this.turnId = open.turnId;
    this.#actor = actor;
    this.#parts = parts;
    this.#onOver = onOver;
  }

  /** Tells the machine what has become true. */
  tell(fact: Exclude<TurnEvent, { type: 'CANCEL' }>): void {
    if (fact.type === 'step.completed') {
      this.#said = null;
      this.#thought = null;
    }
    this.#actor.send(fact);
    if (this.#actor.getSnapshot().status === 'done') this.#onOver();
  }

  /** What the running step has said, without the separator before it; empty once the step is in the log. */
  get partial(): string {
    return this.#said?.text ?? '';
  }

  /** All that the running step has streamed, as one chunk. */
  get streamed(): ReplyChunk | null {
    if (!this.#said) return null;
    const { step, separator, text } = this.#said;
    return this.#chunk(step, 0, separator + text);
  }

  /** All that the running step has thought aloud, as one piece. */
  get thought(): ReplyReasoning | null {
    return this.#thought && this.#reasoning(this.#thought.step, 0, this.#thought.text);
  }

  /** Ends the effects at once. */
  cancel(): void {
    this.#actor.send({ type: 'CANCEL' });
  }

  /** Ends the effects and forgets the turn; nothing is recorded. */
  stop(): void {
    // A machine that is stopped leaves no state.
    this.endModelCall();
    this.#actor.stop();
    this.#onOver();
  }

  /** Ends the turn because it has run into a limit. */
  failBy(cause: LimitCause): void {
    this.#reportFailure(agentError(failureReason(cause)), { actor: SERVICE, cause });
  }

  /** Lets the turn go on as soon as tools can be offered. A turn that is over by then does not hear of it. */
  prepare(): void {
    const ready = this.#parts.catalog.ready();
    const goOn = (): void => {
      if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type: 'turn.prepared' });
    };
    if (ready === null) goOn();
    else void ready.then(goOn);
  }

  startModelCall(step: number): void {
    const { clock = systemClock, stepTimeoutMs } = this.#parts;
    const timer = clock.setTimeout(() => this.#actor.send({ type: 'step.timedOut' }), stepTimeoutMs);
    const abort = new AbortController();
    this.#modelCall = { abort, timer };
    const over = (): void => {
      if (this.#modelCall?.abort === abort) this.#forgetModelCall();
    };
    this.#generate(step, abort.signal).then(over, (error: unknown) => {
      over();
      if (!abort.signal.aborted) this.#reportModelFailure(error);
    });
  }

  endModelCall(): void {
    this.#modelCall?.abort.abort(OVER);
    this.#forgetModelCall();
  }

  #forgetModelCall(): void {
    const { clock = systemClock } = this.#parts;
    if (this.#modelCall) clock.clearTimeout(this.#modelCall.timer);
    this.#modelCall = null;
  }

  async #generate(step: number, signal: AbortSignal): Promise<void> {
    const { model, systemPrompt, catalog, keepReasoning } = this.#parts;
    this.#offer ??= catalog.forModel();
    const { tools, resolve } = this.#offer;
    const messages = this.#messages();
    const causationId = this.#session.causes.last ?? this.turnId;
    const origin = { turnId: this.turnId, step, said: this.#open.text };
    const listener = this.#listener(step, signal);
    const reply = await model.generate({ systemPrompt, messages, tools, origin }, listener, signal);
    if (signal.aborted) return;
    const calls = await resolve(toolCallsOf(reply), this.#session.state.transcript);
    if (signal.aborted) return;
    const { finishReason, usage } = reply;
    const completed: CompleteStep = {
      type: 'step.complete',
      turnId: this.turnId,
      step,
      parts: replyParts(reply.parts, calls, keepReasoning),
      calls,
      source: model.source,
      ...(finishReason && { finishReason }),
      ...(usage && { usage }),
    };
    this.#session.report(completed, { actor: AGENT, causationId });
  }

  /** The conversation as the model is shown it. */
  #messages(): ModelMessage[] {
    const { model, systemPrompt, historyTokens } = this.#parts;
    const { transcript, refusals } = this.#session.state;
    const maxTokens = historyTokens - estimateText(systemPrompt);
    const window = transcriptWindow(transcript, Math.min(maxTokens, refusals.maxTokens ?? maxTokens));
    return modelConversation(window, { source: model.source, caution: cautionAfter(refusals) });
  }

  /** Text goes straight to the bus: no transition and no write for a piece of it. */
  #listener(step: number, signal: AbortSignal): ReplyListener {
    this.#said = null;
    this.#thought = null;
    // A model that goes on after its call is over is not heard.
    const isHeard = (): boolean => this.#modelCall?.abort.signal === signal;
    return {
      onText: (text) => {
        if (!isHeard()) return;
        if (this.#said === null) {
          this.#actor.send({ type: 'step.streaming' });
          this.#said = { step, separator: '', text: '' };
          this.#publish(this.#said, 'separator', separatorAfter(this.#session.state.open?.reply ?? ''));
        }
        this.#publish(this.#said, 'text', text);
      },
      onReasoning: (text) => {
        if (!isHeard()) return;
        this.#thought ??= { step, text: '' };
        const offset = this.#thought.text.length;
        this.#thought.text += text;
        this.#parts.bus.publish(this.#reasoning(step, offset, text));
      },
    };
  }

  #publish(said: StepText, part: 'separator' | 'text', content: string): void {
    if (content === '') return;
    const offset = said.separator.length + said.text.length;
    said[part] += content;
    this.#parts.bus.publish(this.#chunk(said.step, offset, content));
  }

  #chunk(step: number, offset: number, content: string): ReplyChunk {
    const { sessionId } = this.#session;
    return { type: 'reply.chunk', sessionId, turnId: this.turnId, step, offset, content };
  }

  #reasoning(step: number, offset: number, content: string): ReplyReasoning {
    const { sessionId } = this.#session;
    return { type: 'reply.reasoning', sessionId, turnId: this.turnId, step, offset, content };
  }

  /** @param onFact is told of the facts that follow: a call that waits for approval begins when it has it. */
  callTools(onFact: (listener: (fact: TurnEvent) => void) => void): StopEffect {
    const abort = new AbortController();
    const { unsettled, awaiting } = this.#open;
    for (const call of unsettled.values()) {
      if (!awaiting.has(call.callId)) void this.#callTool(call, abort.signal);
    }
    onFact((fact) => {
      const call = fact.type === 'approval.granted' && this.#open.unsettled.get(fact.callId);
      if (call) void this.#callTool(call, abort.signal);
    });
    return () => abort.abort();
  }

  get #open(): OpenTurn {
    const { open } = this.#session.state;
    if (open?.turnId !== this.turnId) throw new Error(`turn ${this.turnId} is not open`);
    return open;
  }

  async #callTool(call: SessionEventOf<'tool-call.requested'>, signal: AbortSignal): Promise<void> {
    const { turnId, callId } = call;
    const causationId = this.#session.causes.ofCall(callId) ?? turnId;
    const outcome = await this.#parts.catalog.call(call, signal);
    if (signal.aborted) return;
    const settled: SettleToolCall = { type: 'tool-call.settle', turnId, callId, outcome };
    this.#session.report(settled, { actor: AGENT, causationId });
  }

  #reportModelFailure(error: unknown): void {
    const failure = error instanceof ServiceError ? this.#withSize(error) : agentError(UNEXPECTED, error);
    this.#reportFailure(failure, { actor: AGENT, cause: { kind: 'model' } });
  }

  /** How much the model was shown, where that was too much: the next turn shows it less. */
  #withSize(error: ServiceError): ServiceError {
    if (refusedIn(error) !== 'context' || 'shownTokens' in error.details) return error;
    const shownTokens = this.#messages().reduce((sum, message) => sum + estimateTokens(message), 0);
    return new ServiceError(error.code, error.message, { ...error.details, shownTokens }, error.cause);
  }

  #reportFailure(error: ServiceError, { actor, cause }: { actor: Actor; cause: FailureCause }): void {
    this.#parts.log.warn(
      { sessionId: this.#session.sessionId, turnId: this.turnId, err: error },
      `turn failed: ${String(error.details.reason ?? error.message)}`,
    );
    const { turnId, partial } = this;
    const failed: FailTurn = { type: 'turn.fail', turnId, cause, error: error.body, partial };
    this.#session.report(failed, { actor, causationId: this.#session.causes.last ?? turnId });
  }
}

const UNEXPECTED = 'the model adapter failed unexpectedly; the log of the service has the cause';

function agentError(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('AGENT_ERROR', 'The agent could not answer.', { reason }, cause);
}

function toolCallsOf({ parts }: ModelReply): RawToolCall[] {
  return parts.flatMap((part) => (part.type === 'toolCall' ? [part] : []));
}

/** One for all: a call may be ended in every turn, and a reason made anew is an error with its stack. */
const OVER = new DOMException('the model call is over', 'AbortError');
