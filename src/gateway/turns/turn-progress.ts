import type { CallId } from '../../core/ids.ts';
import type { SessionEvent, SessionEventOf } from '../../core/log/events.ts';
import { joinReply } from '../../core/turn/reply-text.ts';
import { spokenText } from '../../core/turn/step-parts.ts';

/** A call of a tool that the client has lent. */
export type DelegatedCall = SessionEventOf<'tool-call.delegated'>;

interface CallProgress {
  isSettled: boolean;
  /** Set if a client was asked to run the call. */
  delegated: DelegatedCall | null;
}

/** How far a turn is, for a client that has lent it tools. */
export class TurnProgress {
  readonly #hasForm: boolean;
  #step = 0;
  #reply = '';
  readonly #calls = new Map<CallId, CallProgress>();

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
        this.#call(event.callId);
        return;
      case 'tool-call.delegated':
        this.#call(event.callId).delegated = event;
        return;
      case 'tool-call.succeeded':
      case 'tool-call.failed':
      case 'tool-call.interrupted':
        this.#call(event.callId).isSettled = true;
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
    return Boolean(this.#calls.get(callId)?.delegated);
  }

  isUnsettled(callId: CallId): boolean {
    return this.#calls.get(callId)?.isSettled === false;
  }

  /** The calls that only the client can run, if nothing else is missing; empty otherwise. */
  get missingCalls(): readonly DelegatedCall[] {
    const missing: DelegatedCall[] = [];
    for (const { isSettled, delegated } of this.#calls.values()) {
      if (isSettled) continue;
      if (!delegated) return [];
      missing.push(delegated);
    }
    return missing;
  }

  #call(callId: CallId): CallProgress {
    let call = this.#calls.get(callId);
    if (!call) {
      call = { isSettled: false, delegated: null };
      this.#calls.set(callId, call);
    }
    return call;
  }
}
