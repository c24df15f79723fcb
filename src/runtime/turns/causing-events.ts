import type { Envelope } from '../../core/log/envelope.ts';

/** Knows which event caused each running effect of a turn. */
export class CausingEvents {
  #last: string | undefined;
  /** By call id, while the call is not settled. Null before the first: most sessions call no tools. */
  #calls: Map<string, string> | null = null;

  constructor(last: Envelope | undefined) {
    this.#last = last?.meta?.id;
  }

  note(envelopes: readonly Envelope[]): void {
    for (const { event, meta } of envelopes) {
      this.#last = meta?.id;
      if (meta && (event.type === 'tool-call.requested' || event.type === 'approval.granted'))
        this.#note(event.callId, meta.id);
      else if (event.type.startsWith('tool-call.') && 'callId' in event) this.#calls?.delete(event.callId);
    }
  }

  /** The last event of the session: a model call follows from it. */
  get last(): string | undefined {
    return this.#last;
  }

  /** A tool call follows from its request or its approval. Requests from before a restart are not kept: such a call follows
   * from the session's last event. */
  ofCall(callId: string): string | undefined {
    return this.#calls?.get(callId) ?? this.#last;
  }

  #note(callId: string, cause: string): void {
    this.#calls ??= new Map();
    this.#calls.set(callId, cause);
  }
}
