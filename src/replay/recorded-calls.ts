import type { SessionEvent } from '../core/log/events.ts';
import type { RequestedCall } from '../core/tool-call/tool-call-commands.ts';

/**
 * The calls of a step as they were resolved, from the events that follow its `step.completed`. A call that failed right
 * away counts as refused: whether it was or failed quickly, the events are the same.
 */
export function recordedCalls(
  callIds: readonly string[],
  following: readonly SessionEvent[],
): RequestedCall[] {
  const requests = following.slice(0, callIds.length);
  let next = requests.length;
  // Refusals come in the order of the calls, requests for approval after them in the same order.
  const problems = callIds.map((callId) => {
    const event = following[next];
    const isRefusal = event?.type === 'tool-call.failed' && event.callId === callId && !event.result;
    if (isRefusal) next += 1;
    return isRefusal ? event.reason : undefined;
  });
  const hashes = callIds.map((callId) => {
    const event = following[next];
    const isRequest = event?.type === 'approval.requested' && event.callId === callId;
    if (isRequest) next += 1;
    return isRequest ? event.argumentsHash : undefined;
  });
  return callIds.map((callId, index) => ({
    callId,
    ...resolution(requests[index]),
    ...(problems[index] !== undefined && { problem: problems[index] }),
    ...(hashes[index] !== undefined && { argumentsHash: hashes[index] }),
  }));
}

/** A recording that was cut, by a fork or a repair, may have lost the request. */
function resolution(event: SessionEvent | undefined): Omit<RequestedCall, 'callId'> {
  if (event?.type !== 'tool-call.requested')
    return { name: '', toolName: '', serverId: null, arguments: {}, repeatable: false };
  const { name, toolName, serverId, repeatable } = event;
  return { name, toolName, serverId, arguments: event.arguments, repeatable };
}
