import type { Unsubscribe } from './bus.ts';

/** Names who is meant: a node, a session, or everybody. Letters, digits, `-`, `_` and `.` between its parts. */
export type Subject = string;

/**
 * Carries texts between the nodes of a cluster. Promises:
 *
 * - A text arrives as it was sent, however long it is, or not at all. It may be lost, and it may arrive twice.
 * - While nobody loses anything, the texts of one node arrive in the order in which it sent them.
 * - Nothing waits: a text that cannot be sent now is dropped and counted. Memory is bounded.
 * - A node does not hear its own texts.
 */
export interface NodeLink extends AsyncDisposable {
  /** Whether texts can be sent, as far as is known. */
  readonly isUp: boolean;
  /** How many texts were not sent, or were lost on their way here as far as is known. */
  readonly dropped: number;

  publish(subject: Subject, text: string): void;

  /** The listener gets each text of the subject until the subscription ends. It must not throw. */
  subscribe(subject: Subject, listener: (text: string) => void): Unsubscribe;

  /** The listener is called when texts to this node may have been lost: each time the link is up again. */
  onGap(listener: () => void): Unsubscribe;
}
