import type { SessionId } from '../../../core/ids.ts';
import type { PendingApproval } from '../../../core/session/session-view.ts';
import type { Bus } from '../../../ports/bus.ts';
import { howToDecide } from '../../turns/queued-message.ts';
import type { McpCall } from '../mcp-call.ts';
import { decide, questionOf } from './asked-approval.ts';
import type { TurnPlace } from './turn-place.ts';

/** The approvals that a client of the older era is asked for while its call goes on. They end with the call. */
export class OpenQuestions implements Disposable {
  readonly #bus: Bus;
  readonly #place: TurnPlace;
  readonly #call: McpCall;
  readonly #over = new AbortController();

  constructor(bus: Bus, place: TurnPlace, call: McpCall) {
    this.#bus = bus;
    this.#place = place;
    this.#call = call;
  }

  /** Does nothing in the newer era: there the questions are the result of the call. */
  ask(approval: PendingApproval): void {
    const { ask } = this.#call;
    if (!ask) return;
    const { sessionId } = this.#place;
    const answered = ask('elicitation/create', questionOf(approval), this.#over.signal);
    const decided = answered.then((answer) => decide(this.#bus, { sessionId, approval, answer }, this.#call));
    // Somebody else may still decide.
    const leave = (): void => {
      if (!this.#over.signal.aborted) tellOfApproval(this.#call, sessionId, approval);
    };
    decided.then((decision) => decision === 'decided' || leave()).catch(leave);
  }

  [Symbol.dispose](): void {
    this.#over.abort('the call is over');
  }
}

/** Tells the client with a log message that its call waits until somebody has approved or denied a tool call. */
export function tellOfApproval(call: McpCall, sessionId: SessionId, approval: PendingApproval): void {
  const { level, logger, data } = approvalNotice(sessionId, approval);
  call.log(level, logger, data);
}

export function approvalNotice(sessionId: SessionId, approval: PendingApproval) {
  const approvals = [approval];
  const message = `The agent needs approval. ${howToDecide(sessionId, approvals)}`;
  return { level: 'notice', logger: 'approvals', data: { message, approvals } } as const;
}
