import type { SessionEvent } from '../core/log/events.ts';
import type { RequestedCall } from '../core/tool-call/tool-call-commands.ts';

/** The calls of a step as they were resolved, from the events that follow its `step.completed`. */
export function recordedCalls(
  callIds: readonly string[],
  following: readonly SessionEvent[],
): RequestedCall[] {
  return callIds.map((callId) => {
    const ofCall = following.filter((event) => 'callId' in event && event.callId === callId);
    return { callId, ...resolutionIn(ofCall) };
  });
}

/** A recording that was cut, by a fork or a repair, may have lost the request. */
function resolutionIn(events: readonly SessionEvent[]): Omit<RequestedCall, 'callId'> {
  const request = events.find((event) => event.type === 'tool-call.requested');
  const approval = events.find((event) => event.type === 'approval.requested');
  const delegation = events.find((event) => event.type === 'tool-call.delegated');
  const { expiresAfterMs } = approval ?? delegation ?? {};
  const failure = events.find((event) => event.type === 'tool-call.failed');
  const { name, toolName, serverId, repeatable } = request ?? UNKNOWN;
  return {
    name,
    toolName,
    serverId,
    repeatable,
    arguments: request?.arguments ?? {},
    policy: approval ? 'ask' : 'auto',
    argumentsHash: approval?.argumentsHash ?? '',
    ...(delegation && { byClient: true }),
    ...(expiresAfterMs !== undefined && { expiresAfterMs }),
    ...(failure?.cause.kind === 'rejected' && { problem: failure.reason }),
  };
}

const UNKNOWN = { name: '', toolName: '', serverId: null, repeatable: false };
