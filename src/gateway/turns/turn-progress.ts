import type { CallId } from '../../core/ids.ts';
import type { SessionEvent, SessionEventOf } from '../../core/log/events.ts';
import { joinReply } from '../../core/turn/reply-text.ts';
import { spokenText } from '../../core/turn/step-parts.ts';

/** A call of a tool that the client has lent. */
export type DelegatedCall = SessionEventOf<'tool-call.delegated'>;

/** How far a turn is, for a client that has lent it tools. */
export class TurnProgress {
  readonly #hasForm: boolean;
  #step = 0;
  #reply = '';
  readonly #unsettled = new Set<CallId>();
  readonly #settled = new Set<CallId>();
  readonly #delegated = new Map<CallId, DelegatedCall>();

  /** @param hasForm whether the reply is the text of the last step alone, because a form was asked for. */
  constructor(hasForm: boolean) {
    this.#hasForm = hasForm;
  }

  /** Call with each event of the turn, in order. An event may come twice: live, and from a log that is read meanwhile. */
  note(event: SessionEvent): void {
    switch (event.type) {
      case 'step.completed':
        if (event.step <= this.#step) return;
        this.#step = event.step;
        if (!this.#hasForm) this.#reply = joinReply(this.#reply, spokenText(event.parts));
        return;
      case 'tool-call.requested':
        if (!this.#settled.has(event.callId)) this.#unsettled.add(event.callId);
        return;
      case 'tool-call.delegated':
        this.#delegated.set(event.callId, event);
        return;
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#settled.add(event.callId);
        this.#unsettled.delete(event.callId);
        return;
      default:
    }
  }

  /** The texts of the completed steps, joined. */
  get reply(): string {
    return this.#reply;
  }

  /** Whether a client was asked to run the call. */
  wasDelegated(callId: CallId): boolean {
    return this.#delegated.has(callId);
  }

  isUnsettled(callId: CallId): boolean {
    return this.#unsettled.has(callId);
  }

  /** The calls that only the client can run, if nothing else is missing; empty otherwise. */
  get missingCalls(): readonly DelegatedCall[] {
    const missing = [...this.#unsettled].map((callId) => this.#delegated.get(callId));
    return missing.every((call) => call !== undefined) ? missing : [];
  }
}
