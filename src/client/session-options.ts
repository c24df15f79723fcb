import type { Image } from '../core/conversation/image.ts';
import type { WhenBusy } from '../core/session/when-busy.ts';
import type { ClientEnvironment } from './client-environment.ts';
import type { StreamPosition } from './stream-position.ts';

/**
 * - `connecting`: there is no connection, or the service has not answered yet.
 * - `live`: the service has answered, and events arrive as they happen.
 * - `paused`: the iterator does not read, so the client has closed the connection.
 * - `closed`: the client was closed, or has failed.
 */
export type SessionStatus = 'connecting' | 'live' | 'paused' | 'closed';

export interface ConnectOptions {
  /** Base URL of the service, such as `http://127.0.0.1:3001`. */
  readonly url: string | URL;
  /** Id of the session. Default: `default`. */
  readonly session?: string;
  /** Where to continue reading: an earlier value of `SessionClient.position`. Default: the beginning of the session. */
  readonly position?: StreamPosition;
  /**
   * Whether to stream the model's reasoning: `thinking` events with `data.reasoning`. Default: false. With
   * `llm.keepReasoning`, `stepCompleted` has the reasoning of its step in any case.
   */
  readonly reasoning?: boolean;
  /** How many events are kept for an iterator that does not read, before the client pauses. Default: 1000. */
  readonly maxQueuedEvents?: number;
  /** Called after each change of `status`. */
  readonly onStatus?: (status: SessionStatus) => void;
  /** Replaces parts of the platform, for tests. */
  readonly environment?: Partial<ClientEnvironment>;
}

export interface SendOptions {
  readonly imageData?: Image;
  /** What the service does when a turn is running. Default: the setting of the agent. */
  readonly whenBusy?: WhenBusy;
  /** Sending the same id again, also from another process, sends the same message. Default: a new id. */
  readonly clientMessageId?: string;
}

/** The service has recorded the message as this turn. */
export interface Receipt {
  readonly clientMessageId: string;
  readonly turnId: string;
}
