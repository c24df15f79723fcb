import type { CallId, TurnId } from '../../core/ids.ts';
import type { Envelope } from '../../core/log/envelope.ts';
import type { SessionEventOf, ToolCallSettled } from '../../core/log/events.ts';
import type { PendingApproval, PendingInput } from '../../core/session/session-view.ts';
import { pendingApproval, pendingInput } from '../../core/session/view-session.ts';
import type { InputId } from '../../core/tool-call/input-events.ts';
import { joinReply, separatorAfter } from '../../core/turn/reply-text.ts';
import { callIdsOf, spokenText } from '../../core/turn/step-parts.ts';

/** What became of a call that was up to a client. */
export type CallDecision = 'waiting' | 'approved' | 'denied' | 'answered' | 'given up';

/** What a tool server has asked. */
export interface AskedQuestion {
  readonly asked: PendingInput;
  /** How it ended; null while it waits. */
  readonly end: SessionEventOf<'input.answered'> | null;
}

/** How far a turn is. */
export class AgUiTurnState {
  readonly turnId: TurnId;
  readonly #unsettled = new Set<CallId>();
  readonly #approvals = new Map<CallId, PendingApproval>();
  /** Calls that were up to a client at some time. */
  readonly #decisions = new Map<CallId, { decision: CallDecision; isOfClient: boolean }>();
  readonly #questions = new Map<InputId, AskedQuestion>();
  #status: 'queued' | 'running' | 'over' = 'queued';
  #attempt = 1;
  #step = 0;
  #reply = '';
  /** The reply is the text of the last step alone, because a form was asked for. */
  #hasForm = false;

  constructor(turnId: TurnId) {
    this.turnId = turnId;
  }

  get status(): 'queued' | 'running' | 'over' {
    return this.#status;
  }

  /** 1, and one more after each restart of the service in the middle of the turn. */
  get attempt(): number {
    return this.#attempt;
  }

  /** Number of the last completed step. */
  get step(): number {
    return this.#step;
  }

  /** Length of what is streamed before the text of the running step to part it from earlier ones. */
  get separatorLength(): number {
    return separatorAfter(this.#reply).length;
  }

  /** Whether the model is at work, or about to be. */
  get isInStep(): boolean {
    return this.#status === 'running' && this.#unsettled.size === 0;
  }

  /** Whether nothing happens until an approval is decided, a question is answered, or a client answers. */
  get isPaused(): boolean {
    if (this.#unsettled.size === 0) return false;
    const asking = new Set(this.inputs.map(({ callId }) => callId));
    return [...this.#unsettled].every(
      (callId) => this.decisionOf(callId) === 'waiting' || asking.has(callId),
    );
  }

  /** The calls that wait for approval. */
  get approvals(): readonly PendingApproval[] {
    return [...this.#approvals.values()];
  }

  /** What tool servers ask, and nobody has answered. */
  get inputs(): readonly PendingInput[] {
    return this.questions.flatMap(({ asked, end }) => (end ? [] : [asked]));
  }

  /** What tool servers have asked, whether it was answered or not. */
  get questions(): readonly AskedQuestion[] {
    return [...this.#questions.values()];
  }

  /** The calls of tools of the client that wait for it. */
  get clientCalls(): readonly CallId[] {
    return [...this.#unsettled].filter(
      (callId) => this.isOfClient(callId) && this.decisionOf(callId) === 'waiting',
    );
  }

  /** Undefined if the call was never up to a client. */
  decisionOf(callId: CallId): CallDecision | undefined {
    return this.#decisions.get(callId)?.decision;
  }

  /** Whether it is a call of a tool that the client has lent. */
  isOfClient(callId: CallId): boolean {
    return this.#decisions.get(callId)?.isOfClient ?? false;
  }

  /** Takes the events of the turn, in order. Others are ignored. */
  take({ event, time }: Envelope): void {
    if (!('turnId' in event) || event.turnId !== this.turnId) return;
    switch (event.type) {
      case 'turn.requested':
        this.#hasForm = event.options?.output !== undefined;
        return;
      case 'turn.started':
        this.#status = 'running';
        return;
      case 'turn.resumed':
        this.#attempt = event.attempt;
        return;
      case 'step.completed':
        this.#step = event.step;
        if (!this.#hasForm) this.#reply = joinReply(this.#reply, spokenText(event.parts));
        for (const callId of callIdsOf(event.parts)) this.#unsettled.add(callId);
        return;
      case 'approval.requested':
        this.#approvals.set(event.callId, pendingApproval(event, time));
        this.#decisions.set(event.callId, { decision: 'waiting', isOfClient: false });
        return;
      case 'tool-call.delegated':
        this.#decisions.set(event.callId, { decision: 'waiting', isOfClient: true });
        return;
      case 'input.requested':
        this.#questions.set(event.inputId, { asked: pendingInput(event, time), end: null });
        return;
      case 'input.answered': {
        const question = this.#questions.get(event.inputId);
        if (question) this.#questions.set(event.inputId, { ...question, end: event });
        return;
      }
      case 'approval.granted':
        this.#approvals.delete(event.callId);
        this.#decide(event.callId, 'approved');
        return;
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#approvals.delete(event.callId);
        this.#unsettled.delete(event.callId);
        this.#decide(event.callId, decisionIn(event, this.isOfClient(event.callId)));
        return;
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.cancelled':
        this.#status = 'over';
        return;
      default:
    }
  }

  /** Only the first decision counts: what comes of an approved call is another matter. */
  #decide(callId: CallId, decision: CallDecision): void {
    const known = this.#decisions.get(callId);
    if (known?.decision === 'waiting') known.decision = decision;
  }
}

function decisionIn(event: ToolCallSettled, isOfClient: boolean): CallDecision {
  if (event.type === 'tool-call.interrupted') return 'given up';
  if (event.type === 'tool-call.succeeded') return 'answered';
  const { kind } = event.cause;
  if (kind === 'denied' || kind === 'approval-expired') return 'denied';
  return isOfClient && kind === 'tool' ? 'answered' : 'given up';
}
