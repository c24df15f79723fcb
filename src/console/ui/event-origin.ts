import type { Actor } from '../../core/log/event-metadata.ts';
import type { InputEndCause } from '../../core/tool-call/input-events.ts';
import type { CallFailureCause, InterruptionCause } from '../../core/tool-call/tool-call-causes.ts';
import type { CancellationCause, FailureCause } from '../../core/turn/turn-causes.ts';

type Cause = CancellationCause | FailureCause | CallFailureCause | InterruptionCause | InputEndCause;
type CauseKind = Exclude<Cause['kind'], 'unrecorded'>;

const causeTexts = {
  cancelled: 'cancelled',
  interrupted: 'another message interrupted it',
  'session-reset': 'the conversation was reset',
  'session-deleted': 'the session was deleted',
  'session-forked': 'the session was forked',
  'session-repaired': 'the log was damaged',
  model: 'the model call failed',
  output: 'the reply does not have the form that the client wants',
  'step-limit': 'step limit',
  'step-timeout': 'the step took too long',
  tool: 'the tool failed',
  rejected: 'the call was rejected',
  denied: 'denied',
  'approval-expired': 'nobody approved it in time',
  'client-expired': 'the client did not answer in time',
  answered: 'answered',
  'input-expired': 'nobody answered in time',
  'input-withdrawn': 'the tool server does not wait any more',
  'turn-cancelled': 'the turn was cancelled',
  'turn-failed': 'the turn failed',
  'service-stopped': 'the service stopped',
} satisfies Record<CauseKind, string>;

const textOfKind: ReadonlyMap<string, string> = new Map(Object.entries(causeTexts));

/** Who did something, such as `by a client`, `by the agent`, or `by ann` for an authenticated client. */
export function actorText(actor: Actor): string {
  return actor.kind === 'client' ? `by ${actor.principal ?? 'a client'}` : `by the ${actor.kind}`;
}

/** The kind of a cause in plain words, such as `the turn was cancelled`. */
export function causeText({ kind }: { readonly kind: string }): string {
  return textOfKind.get(kind) ?? kind;
}
