import type { TurnEffect, TurnEvent } from '../../../machines/turn.machine.ts';
import { ServiceError } from '../../core/errors.ts';
import { AGENT, type Actor as EventActor, SERVICE } from '../../core/log/event-metadata.ts';
import type { SessionEventOf } from '../../core/log/events.ts';
import type { ReplyChunk, ReplyReasoning } from '../../core/session/session-signal.ts';
import { type OpenTurn, owesAnotherReply } from '../../core/session/session-state.ts';
import type { SettleToolCall } from '../../core/tool-call/tool-call-commands.ts';
import type { FailureCause } from '../../core/turn/turn-causes.ts';
import type { FailTurn } from '../../core/turn/turn-commands.ts';
import { failureReason, limitCause, type TurnLimit } from '../../core/turn/turn-limits.ts';
import type { ToolOffer } from '../../ports/turn-tools.ts';
import type { EarlyReply } from './early-reply.ts';
import { ModelCall } from './model-call.ts';
import { withShownTokens } from './shown-conversation.ts';
import type { StreamedStep } from './streamed-step.ts';
import { TurnActor } from './turn-actor.ts';
import type { TurnDeps, TurnSession } from './turn-deps.ts';
import { TurnQuestions } from './turn-questions.ts';

/**
 * One turn while it runs: its machine, and the effects that the machine begins and ends. An effect reports its result
 * to the session's mailbox as a command. The events of that command come back through `tell`, once they are in the log.
 */
export class TurnRun {
  readonly turnId: string;
  readonly #session: TurnSession;
  readonly #deps: TurnDeps;
  readonly #machine: TurnActor;
  /** The model call that runs, or ran last. */
  #call: ModelCall | null = null;
  /** What the running step has streamed; null once the step is in the log. */
  #streamed: StreamedStep | null = null;
  /** Ends the tool calls that run. */
  #toolCalls: AbortController | null = null;
  /** Stays the same within a turn: some providers tie the model's reasoning to the tools that it was offered. */
  #offer: ToolOffer | null;
  /** The reply to the first step, until the machine asks for it. */
  #early: EarlyReply | null;
  /** Null until a tool server asks something. */
  #questions: TurnQuestions | null = null;
  #isOver = false;

  /** @param open the turn as the log has it: a new one, or one that goes on. */
  constructor(session: TurnSession, open: OpenTurn, deps: TurnDeps, early: EarlyReply | null) {
    const { turnId, step } = open;
    const { maxSteps, stepTimeoutMs } = deps;
    this.turnId = turnId;
    this.#session = session;
    this.#deps = deps;
    this.#early = early;
    this.#offer = early?.offer ?? null;
    const input = {
      turnId,
      sessionId: session.sessionId,
      step,
      maxSteps,
      stepTimeoutMs,
      unsettled: [...open.unsettled.keys()],
      awaiting: [...open.awaiting.keys()],
      delegated: [...open.delegated.keys()],
      asking: open.asked ? [...open.asked.values()].map((asked) => asked.callId) : [],
      ...(owesAnotherReply(session.state) && { isAskedAgain: true as const }),
    };
    this.#machine = new TurnActor(input, (effect) => this.#perform(effect));
  }

  /** Calls the model, or runs the open tool calls, as soon as tools can be offered. An early call has got its offer. */
  start(): void {
    const { machines, catalog } = this.#deps;
    this.#deps.uses?.acquire();
    machines.add(this.#machine);
    this.#machine.start();
    const ready = this.#early ? null : catalog.ready();
    if (ready === null) this.#machine.send({ type: 'turn.prepared' });
    else void ready.then(() => this.#machine.send({ type: 'turn.prepared' }));
  }

  /** Tells the machine what has become true. */
  tell(fact: Exclude<TurnEvent, { type: 'CANCEL' }>): void {
    if (fact.type === 'step.completed') this.#streamed = null;
    if (fact.type === 'input.answered') this.#questions?.tell(fact);
    this.#machine.send(fact);
    if (!this.#machine.isActive) this.#leave();
  }

  /** What the running step has said, without the separator before it; empty once the step is in the log. */
  get partial(): string {
    return this.#streamed?.text ?? '';
  }

  /** All that the running step has streamed, as one chunk. */
  get streamed(): ReplyChunk | null {
    return this.#streamed?.chunk ?? null;
  }

  /** All that the running step has thought aloud, as one piece. */
  get thought(): ReplyReasoning | null {
    return this.#streamed?.reasoning ?? null;
  }

  /** Ends the effects at once. */
  cancel(): void {
    this.#machine.send({ type: 'CANCEL' });
  }

  /** Ends the effects and forgets the turn. Nothing is recorded. */
  stop(): void {
    // A machine that is stopped leaves no state, and emits nothing.
    this.#call?.end();
    this.#early?.abandon();
    this.#toolCalls?.abort();
    this.#machine.stop();
    this.#leave();
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.machines.remove(this.#machine);
    this.#deps.uses?.release();
  }

  #perform(effect: TurnEffect): void {
    switch (effect.type) {
      case 'model-call.begin':
        this.#callModel(effect.step);
        return;
      case 'model-call.end':
        this.#call?.end();
        return;
      case 'tool-calls.begin':
        this.#callTools();
        return;
      case 'tool-call.begin':
        this.#callTool(effect.callId);
        return;
      case 'tool-calls.end':
        this.#toolCalls?.abort();
        return;
      case 'turn.fail':
        this.#failBy(effect.limit);
        return;
      default:
        effect satisfies never;
    }
  }

  #callModel(step: number): void {
    this.#offer ??= this.#deps.catalog.forModel(this.#open.options?.clientTools);
    this.#call = new ModelCall(this.turnId, step, {
      session: this.#session,
      turn: this.#deps,
      offer: this.#offer,
      early: this.#early,
      onText: () => this.#machine.send({ type: 'step.streaming' }),
      onTimeout: () => this.#machine.send({ type: 'step.timedOut' }),
      onFailure: (error) => this.#failByModel(error),
    });
    this.#early = null;
    this.#streamed = this.#call.streamed;
  }

  #callTools(): void {
    this.#toolCalls = new AbortController();
    const { unsettled, awaiting, delegated } = this.#open;
    for (const callId of unsettled.keys())
      if (!awaiting.has(callId) && !delegated.has(callId)) this.#callTool(callId);
  }

  #callTool(callId: string): void {
    const call = this.#open.unsettled.get(callId);
    if (call && this.#toolCalls) void this.#settle(call, this.#toolCalls.signal);
  }

  async #settle(call: SessionEventOf<'tool-call.requested'>, signal: AbortSignal): Promise<void> {
    const { turnId, callId } = call;
    const causationId = this.#session.causes.ofCall(callId) ?? turnId;
    const outcome = await this.#deps.catalog.call(call, signal, (question, server) => {
      this.#questions ??= new TurnQuestions(this.#session, this.#deps);
      return this.#questions.answer(call, question, { turn: signal, server });
    });
    if (signal.aborted) return;
    const settled: SettleToolCall = { type: 'tool-call.settle', turnId, callId, outcome };
    this.#session.report(settled, { actor: AGENT, causationId });
  }

  get #open(): OpenTurn {
    const { open } = this.#session.state;
    if (open?.turnId !== this.turnId) throw new Error(`turn ${this.turnId} is not open`);
    return open;
  }

  #failBy(limit: TurnLimit): void {
    const cause = limitCause(limit, this.#deps);
    this.#fail(agentError(failureReason(cause, this.#open.step)), cause, SERVICE);
  }

  #failByModel(thrown: unknown): void {
    const error =
      thrown instanceof ServiceError
        ? withShownTokens(thrown, this.#session.state, this.#deps)
        : agentError('the model adapter failed unexpectedly; the log of the service has the cause', thrown);
    this.#fail(error, { kind: 'model' }, AGENT);
  }

  #fail(error: ServiceError, cause: FailureCause, actor: EventActor): void {
    const { turnId, partial } = this;
    this.#deps.log.warn(
      { sessionId: this.#session.sessionId, turnId, err: error },
      `turn failed: ${String(error.details.reason ?? error.message)}`,
    );
    const failed: FailTurn = { type: 'turn.fail', turnId, cause, error: error.body, partial };
    this.#session.report(failed, { actor, causationId: this.#session.causes.last ?? turnId });
  }
}

function agentError(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('AGENT_ERROR', 'The agent could not answer.', { reason }, cause);
}
