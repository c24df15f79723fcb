import type { Image } from '../core/conversation/image.ts';
import type { MachineState } from '../core/machine-state.ts';
import type { WhenBusy } from '../core/session/when-busy.ts';
import type { LentTool } from '../core/tool-call/client-tool.ts';
import type { TokenSource } from './admission.ts';
import type { ClientEnvironment } from './client-environment.ts';
import type { UnsentMessage } from './outgoing.ts';
import type { RefusedError, UnreachableError } from './session-errors.ts';
import type { SocketClass } from './socket-source.ts';
import type { StreamPosition } from './stream-position.ts';
import type { WaitOptions } from './wait-limits.ts';

/**
 * - `connecting`: there is no connection, or the service has not answered yet.
 * - `live`: the service has answered, and events arrive as they happen.
 * - `paused`: the iterator does not read, so the client has closed the connection.
 * - `closed`: the client was closed, or has failed.
 *
 * While the status is `connecting`, `onRetry` says why.
 */
export type SessionStatus = 'connecting' | 'live' | 'paused' | 'closed';

export interface ConnectOptions {
  /** Base URL of the service, such as `http://127.0.0.1:3001`. */
  readonly url: string | URL;
  /** Id of the session. Default: `default`. */
  readonly session?: string;
  /**
   * An API key or an access token, for a service that authenticates its clients, or a function that gives one. Before each
   * connection the client exchanges it for a ticket (`POST /api/tickets`), so it is never part of a URL.
   *
   * A function is called before the first connection, and again when the service says that the token has expired or was
   * revoked. If that happens to the next token before a connection is made, and the service was not away meanwhile, or if a
   * string is refused, the client fails with a `RefusedError`. If the function throws, the client fails with that error.
   */
  readonly token?: TokenSource | undefined;
  /** Where to continue reading: an earlier value of `SessionClient.position`. Default: the beginning of the session. */
  readonly position?: StreamPosition;
  /**
   * Whether to stream the model's reasoning: `thinking` events with `data.reasoning`. Default: false. With
   * `llm.keepReasoning`, `stepCompleted` has the reasoning of its step in any case.
   */
  readonly reasoning?: boolean;
  /** Whether durable events have their `time`, when they were appended, in ISO 8601 UTC. Default: false. */
  readonly time?: boolean;
  /**
   * Asks for the states of the service's machines, those of other sessions and of tool servers included: with
   * `isComplete`, the states of all that run, once after each connection is made; later, each new state.
   */
  readonly onMachines?: (states: readonly MachineState[], isComplete: boolean) => void;
  /** How many events are kept for an iterator that does not read, before the client pauses. Default: 1000. */
  readonly maxQueuedEvents?: number;
  /** Called after each change of `status`. */
  readonly onStatus?: (status: SessionStatus) => void;
  /**
   * Called when an attempt to connect has failed and its reason is known. The client tries again after the delay, which
   * is at least the `Retry-After` of the service. The error is a `RefusedError` when the service refuses the connection
   * for now (429 or 503), and an `UnreachableError` when nothing answers.
   */
  readonly onRetry?: (error: RefusedError | UnreachableError, delayMs: number) => void;
  /** Called after each change of `SessionClient.unsent`. */
  readonly onUnsent?: (unsent: readonly UnsentMessage[]) => void;
  /** Closes the client: the loop and all that waits reject with the reason of the signal. */
  readonly signal?: AbortSignal;
  /**
   * How long the client may be without a connection, at the beginning and later. Then it fails with a `TimeoutError`.
   * Default: it tries as long as the service may come back.
   */
  readonly timeoutMs?: number;
  /** The class of the sockets. Default: the platform's; in Node 20, which has none, that of the package `ws`. */
  readonly WebSocket?: SocketClass;
  /** Replaces parts of the platform, for tests. */
  readonly environment?: Partial<ClientEnvironment>;
}

export interface SendOptions extends WaitOptions {
  readonly imageData?: Image;
  /** What the service does when a turn is running. Default: the setting of the agent. */
  readonly whenBusy?: WhenBusy;
  /** Tools that this client lends to the agent for this message. A `clientToolCall` event asks for a call of one. */
  readonly clientTools?: readonly LentTool[];
  /** A JSON Schema. The reply is JSON that fits it, or the turn fails. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /**
   * Sending the same id again, also from another process, sends the same message: 1 to 255 visible ASCII characters. With
   * another text it is refused. Default: a new id.
   */
  readonly clientMessageId?: string;
}

/** The service has recorded the message as this turn. */
export interface Receipt {
  readonly clientMessageId: string;
  readonly turnId: string;
}
