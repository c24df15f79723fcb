import type { RequestContext } from '../../../core/request/request-context.ts';
import { requirePlace } from '../client-shares.ts';

/** How long a call waits for a client that was asked something. */
const HELD_MS = 10 * 60_000;
const PREFIX = 'held-call:';

/** A call takes one more of the places that clients share for each so many characters. */
const CHARACTERS_OF_A_PLACE = 64 * 1024;
const HELD = {
  name: 'mcpHeldCalls',
  what: 'places of MCP calls that wait for their clients',
  suggestion: 'Answer the questions of the calls that wait, or let them expire.',
  message: 'Too many MCP calls wait for their clients.',
  reason: 'too many MCP calls wait for their clients',
};

/** A call whose server waits for its client, who must send the request again with the answers. */
export interface HeldCall {
  /** Who made the call. Nobody else can go on with it. */
  readonly context: RequestContext;
  /** Of what it keeps in memory. */
  readonly characters: number;
  readonly end: () => void;
}

interface Waiting<Held extends HeldCall> {
  readonly call: Held;
  readonly context: RequestContext;
  readonly places: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Calls that wait between two requests of one client. In the protocol without sessions, what a server asks is a result,
 * and the answers come with another request. A tool server with sessions waits in the meantime, and so must its call:
 * here, at the node that began it.
 */
export class HeldCalls<Held extends HeldCall> {
  readonly #held = new Map<string, Waiting<Held>>();

  /** Throws if no other call of this client may wait. */
  requirePlace(client: RequestContext): void {
    requirePlace(client, [...this.#held.values()], HELD);
  }

  /**
   * Ends the call and throws if it may not wait.
   *
   * @returns what the client brings back to go on. It cannot be guessed.
   */
  hold(call: Held): string {
    const { context, characters } = call;
    try {
      this.requirePlace(context);
    } catch (error) {
      call.end();
      throw error;
    }
    const state = PREFIX + crypto.randomUUID();
    const timer = setTimeout(() => {
      this.#held.delete(state);
      call.end();
    }, HELD_MS).unref();
    const places = 1 + Math.floor(characters / CHARACTERS_OF_A_PLACE);
    this.#held.set(state, { call, context, places, timer });
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
