import type { StreamEvent } from '../../client/session-client.ts';
import type { Approval } from './opening.ts';

interface Open {
  readonly approval: Approval;
  readonly over: AbortController;
}

/** The tool calls that wait for approval. Each stays until anybody decides or its turn ends. */
export class OpenApprovals {
  readonly #open = new Map<string, Open>();
  #arrival = Promise.withResolvers<void>();

  constructor(approvals: readonly Approval[]) {
    for (const approval of approvals) this.#add(approval);
  }

  note({ event, data, turnId }: StreamEvent): void {
    if (event === 'toolApproval' && turnId !== undefined) this.#add({ ...data, turnId });
    if (event === 'toolApproved' || event === 'toolResult') this.close(data.callId);
    if (event === 'response' || event === 'error')
      for (const [callId, { approval }] of this.#open) if (approval.turnId === turnId) this.close(callId);
  }

  /** The oldest approval. Its signal is aborted when no answer is needed any more. */
  first(): { readonly approval: Approval; readonly signal: AbortSignal } | undefined {
    const [open] = this.#open.values();
    return open && { approval: open.approval, signal: open.over.signal };
  }

  /** Resolves as soon as an approval is open. */
  async arrival(): Promise<void> {
    if (this.#open.size === 0) await this.#arrival.promise;
  }

  close(callId: string): void {
    this.#open.get(callId)?.over.abort();
    this.#open.delete(callId);
  }

  #add(approval: Approval): void {
    this.#open.set(approval.callId, { approval, over: new AbortController() });
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers<void>();
  }
}
