import type {
  Receipt,
  SendOptions,
  SessionStatus,
  StreamEvent,
  UnsentMessage,
} from '../../../client/session-client.ts';
import type { MachineState } from '../../../core/machine-state.ts';
import type { LiveSteps } from '../running-step.ts';

/** A stream that cannot be opened for now. */
export interface Trouble {
  /** Why, for people. */
  readonly message: string;
  /** When the next attempt is made, in milliseconds since the epoch. */
  readonly retryAt: number;
}

/** The connection to a session. */
export interface HubSession {
  readonly status: SessionStatus;
  readonly unsent: readonly UnsentMessage[];
  /** The messages that the hub has sent, or will send, and that the service has not answered: also those of `unsent`. */
  readonly unanswered: readonly UnsentMessage[];
  /** Why there is no connection; null while there is one, or while the first is made. */
  readonly trouble: Trouble | null;
}

/** A session as it is shared between tabs, when a tab joins. */
export interface JoinedSession {
  /** The last event that the hub has received. */
  readonly seq: number;
  readonly steps: LiveSteps;
  readonly state: HubSession;
}

/** What a tab asks of a session. */
export type SessionAction =
  | { readonly name: 'send'; readonly content: string; readonly options: SendOptions }
  | { readonly name: 'cancel' }
  | { readonly name: 'approve'; readonly callId: string; readonly argumentsHash: string | undefined }
  | { readonly name: 'deny'; readonly callId: string; readonly reason: string | undefined }
  | { readonly name: 'reset' }
  | { readonly name: 'withdraw'; readonly clientMessageId: string };

export type ActionResult = Receipt | boolean | undefined;

/** The key of whoever is signed in. */
export interface HeldKey {
  readonly key: string | null;
  /** Whether the tab can get another one when it ends. */
  readonly isRenewable: boolean;
}

/** From a tab to the hub. */
export type ToHub =
  /** The first message, and the answer to `renew`. */
  | ({ readonly kind: 'key' } & HeldKey)
  | { readonly kind: 'machines.join' }
  | { readonly kind: 'machines.leave' }
  /** The tab has the events up to `seq`; the last of them is of `time`, in milliseconds since the epoch. */
  | {
      readonly kind: 'session.join';
      readonly session: string;
      readonly seq: number;
      readonly time: number;
      /** @see ServiceClock.aheadMs */
      readonly clockAheadMs: number;
    }
  | { readonly kind: 'session.leave'; readonly session: string }
  | {
      readonly kind: 'session.do';
      readonly session: string;
      readonly id: number;
      readonly action: SessionAction;
    };

/** What the hub tells every tab of a session. */
export type SessionNews =
  | { readonly kind: 'session.joined'; readonly session: string; readonly joined: JoinedSession }
  | { readonly kind: 'session.event'; readonly session: string; readonly event: StreamEvent }
  | { readonly kind: 'session.state'; readonly session: string; readonly state: Partial<HubSession> }
  /** The stream has ended for good. */
  | { readonly kind: 'session.ended'; readonly session: string; readonly reason: string };

export type MachinesNews =
  /** All current states follow. */
  | { readonly kind: 'machines.opened' }
  /** @see MachineStates.take */
  | { readonly kind: 'machines.state'; readonly state: MachineState; readonly isMove: boolean }
  | { readonly kind: 'machines.trouble'; readonly trouble: Trouble | null };

/** From the hub to a tab. */
export type FromHub =
  | SessionNews
  | MachinesNews
  | { readonly kind: 'done'; readonly id: number; readonly result: ActionResult }
  | { readonly kind: 'failed'; readonly id: number; readonly name: string; readonly reason: string }
  /** The key has ended: the tab answers with another one, or with the same if there is no other. */
  | { readonly kind: 'renew'; readonly ended: string }
  /** The service refuses the key, or wants one if there is none. */
  | { readonly kind: 'signed-out'; readonly key: string | null; readonly reason: string }
  /** The service has no room for another stream: a tab that nobody looks at gives its own back. */
  | { readonly kind: 'crowded' };
