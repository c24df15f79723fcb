import type { RequestContext } from '../../../core/request/request-context.ts';

/** How long a call waits for a client that was asked something. */
const HELD_MS = 10 * 60_000;
const PREFIX = 'held-call:';

/** A call whose server waits for its client, who must send the request again with the answers. */
export interface HeldCall {
  /** Who made the call. Nobody else can go on with it. */
  readonly context: RequestContext;
  readonly end: () => void;
}

/**
 * Calls that wait between two requests of one client. In the protocol without sessions, what a server asks is a result,
 * and the answers come with another request. A tool server with sessions waits in the meantime, and so must its call:
 * here, at the node that began it.
 */
export class HeldCalls<Held extends HeldCall> {
  readonly #held = new Map<string, { readonly call: Held; readonly timer: NodeJS.Timeout }>();

  /** @returns what the client brings back to go on. It cannot be guessed. */
  hold(call: Held): string {
    const state = PREFIX + crypto.randomUUID();
    const timer = setTimeout(() => {
      this.#held.delete(state);
      call.end();
    }, HELD_MS).unref();
    this.#held.set(state, { call, timer });
    return state;
  }

  /** Whether the client brings back the state of such a call, waiting or not. */
  isState(state: string | undefined): state is string {
    return state?.startsWith(PREFIX) === true;
  }

  /** The call that goes on. Undefined if no call of this client waits under this state. */
  take(state: string, { principal, tenant, agent }: RequestContext): Held | undefined {
    const held = this.#held.get(state);
    const owner = held?.call.context;
    if (owner?.principal !== principal || owner.tenant !== tenant || owner.agent !== agent) return undefined;
    clearTimeout(held?.timer);
    this.#held.delete(state);
    return held?.call;
  }
}
