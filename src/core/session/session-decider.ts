import type { AgentVersion } from '../agent-description.ts';
import { ServiceError } from '../errors.ts';
import type { TurnId } from '../ids.ts';
import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import { isExpired, requireSamePayload } from '../request/idempotency.ts';
import {
  answerInput,
  endInputs,
  expireInput,
  recordSampling,
  requestInput,
  withdrawInput,
} from '../tool-call/input-decider.ts';
import {
  answerApproval,
  answerCall,
  expireApproval,
  expireCall,
  interruptCalls,
  type RequestedCallEvent,
  requestCalls,
  settleCall,
} from '../tool-call/tool-call-decider.ts';
import { DELETED, forkedFrom, INTERRUPTED, REPAIRED, RESET } from '../turn/ending-reasons.ts';
import { joinReply, separatorAfter } from '../turn/reply-text.ts';
import { spokenText } from '../turn/step-parts.ts';
import type { CancellationCause } from '../turn/turn-causes.ts';
import type { CancelTurn, CompleteStep, FailTurn, FollowedTurn, StartTurn } from '../turn/turn-commands.ts';
import type {
  DeleteSession,
  DescribeSession,
  ExtendSession,
  ForkSession,
  ResetSession,
  SessionCommand,
} from './session-commands.ts';
import { isSameMetadata } from './session-metadata.ts';
import type { OpenTurn, SessionState, WaitingTurn } from './session-state.ts';
import type { WhenBusy } from './when-busy.ts';

/** The settings of the agent file that decide about messages to a busy session. */
export interface SessionPolicy {
  /** Most messages that may wait behind the running turn; false for no limit. */
  readonly queuedMessages: number | false;
  /** For messages that have no `whenBusy` of their own. */
  readonly whenBusy: WhenBusy;
  /** The version of the agent that turns run with from now on. Only tests, replays and repairs leave it out. */
  readonly agentVersion?: AgentVersion;
}

/**
 * Decides which events a command makes true. Pure: times and ids come with the command. Returns no events if there is
 * nothing to do, because the turn of the command is over. Throws a `ServiceError` to refuse the command.
 */
export function decide(state: SessionState, command: SessionCommand, policy: SessionPolicy): SessionEvent[] {
  const events = eventsOf(state, command, policy);
  const { agentVersion } = policy;
  return agentVersion === undefined ? events : events.map((event) => ofVersion(event, agentVersion));
}

function ofVersion(event: SessionEvent, agentVersion: AgentVersion): SessionEvent {
  const begins = event.type === 'turn.started' || event.type === 'turn.resumed';
  return begins ? { ...event, agentVersion } : event;
}

function eventsOf(state: SessionState, command: SessionCommand, policy: SessionPolicy): SessionEvent[] {
  if (state.deleted) throw deleted();
  switch (command.type) {
    case 'turn.start':
      return startTurn(state, command, policy);
    case 'turn.cancel':
      return cancelTurn(state, command);
    case 'turn.fail':
      return failTurn(state, command);
    case 'turn.resume':
      return resumeTurn(state);
    case 'step.complete':
      return completeStep(state, command);
    case 'approval.answer':
      return answerApproval(state.open, command);
    case 'approval.expire':
      return expireApproval(openTurn(state, command.turnId), command);
    case 'tool-call.answer':
      return answerCall(state.open, command);
    case 'tool-call.expire':
      return expireCall(openTurn(state, command.turnId), command);
    case 'input.request':
      return requestInput(openTurn(state, command.turnId), command);
    case 'input.answer':
      return answerInput(state.open, command);
    case 'input.expire':
      return expireInput(openTurn(state, command.turnId), command);
    case 'input.withdraw':
      return withdrawInput(openTurn(state, command.turnId), command);
    case 'sampling.record':
      return recordSampling(openTurn(state, command.turnId), command);
    case 'tool-call.settle':
      return settleCall(openTurn(state, command.turnId), command);
    case 'session.reset':
      return resetSession(state, command);
    case 'session.rename':
      return command.title === state.title.given ? [] : [{ type: 'session.renamed', title: command.title }];
    case 'session.describe':
      return describeSession(state, command);
    case 'session.extend':
      return extendSession(state, command);
    case 'session.fork':
      return forkSession(state, command);
    case 'session.repair':
      return cancelAll(state, repair, '');
    case 'session.delete':
      return deleteSession(state, command);
    default:
      return command satisfies never;
  }
}

function startTurn(state: SessionState, command: StartTurn, policy: SessionPolicy): SessionEvent[] {
  const {
    turnId,
    text,
    image,
    given,
    options,
    key,
    trace,
    whenBusy = policy.whenBusy,
    partial = '',
  } = command;
  if (isRepeated(state, command)) return [];
  if (command.follows && !isNewest(state, command.follows)) throw overtaken(command.follows.turnId);
  const requested: SessionEvent = {
    type: 'turn.requested',
    turnId,
    text,
    ...(image && { image }),
    ...(given && { given: [...given] }),
    ...(options && { options }),
    ...(key && { key }),
    ...(trace && { trace }),
  };
  const started: SessionEvent = { type: 'turn.started', turnId };
  if (!state.open) return [requested, started];
  if (whenBusy === 'reject') throw busy(state.open, command.whenBusy !== undefined);
  if (whenBusy === 'interrupt') {
    const end: Ending = { cause: { kind: 'interrupted', byTurnId: turnId }, reason: INTERRUPTED };
    return [requested, ...cancelOpen(state.open, end, partial), started];
  }
  if (command.notBehindClient && isForClient(state.open)) throw behindClient(state.open);
  if (policy.queuedMessages !== false && state.waiting.length >= policy.queuedMessages) {
    throw queueFull(state.open, state.waiting.length, policy.queuedMessages);
  }
  return [requested];
}

function isNewest({ waiting, open, seq }: SessionState, followed: FollowedTurn): boolean {
  const newest = waiting.at(-1) ?? open;
  return newest ? newest.turnId === followed.turnId : seq === followed.seq;
}

function overtaken(turnId: TurnId): ServiceError {
  return new ServiceError('SESSION_BUSY', 'Another message came first.', {
    turnId,
    reason: 'the turn that the message was to follow is not the newest one any more',
  });
}

/** Whether the same command was accepted before. Throws if its key came with another payload. */
function isRepeated(state: SessionState, { key }: StartTurn | ResetSession): boolean {
  const known = key && state.keys.get(key.id);
  if (!known || isExpired(known, key)) return false;
  requireSamePayload(known, key);
  return true;
}

function deleted(): ServiceError {
  return new ServiceError('SERVICE_UNAVAILABLE', 'The session is being deleted.', { retryAfter: 1 });
}

/** @param isAsked whether the message asked for it, or the agent file. */
function busy(open: OpenTurn, isAsked: boolean): ServiceError {
  const { turnId, awaiting } = open;
  const why = isAsked
    ? 'the message asked not to wait (whenBusy: reject)'
    : 'messages do not wait here (sessions.whenBusy of the agent file is reject)';
  return new ServiceError('SESSION_BUSY', 'The session is busy with another message.', {
    turnId,
    reason: `a turn is running and ${why}${approvalsOf(open)}`,
    ...(!isAsked && { suggestion: 'Send the message when the turn is over, or with whenBusy: enqueue.' }),
    ...(awaiting.size > 0 && { callIds: [...awaiting.keys()] }),
  });
}

/** Whether nothing but the results of a client's tools is missing. */
function isForClient({ delegated, unsettled }: OpenTurn): boolean {
  return delegated.size > 0 && delegated.size === unsettled.size;
}

function behindClient({ turnId, delegated }: OpenTurn): ServiceError {
  return new ServiceError('SESSION_BUSY', 'The session waits for its client.', {
    turnId,
    clientCalls: [...delegated.keys()],
    reason: 'its turn goes on with the results of tools that a client has lent',
  });
}

/** The end of a sentence about the running turn. Empty if no call waits for approval. */
function approvalsOf({ awaiting }: OpenTurn): string {
  if (awaiting.size === 0) return '';
  const calls = [...awaiting.values()].map(({ toolName, callId }) => `${toolName} (call ${callId})`);
  return `; the turn waits until somebody approves or denies ${calls.join(', ')}`;
}

function queueFull(open: OpenTurn, waiting: number, limit: number): ServiceError {
  return new ServiceError(
    'SERVICE_UNAVAILABLE',
    'This session has too many messages waiting. Try again later.',
    {
      reason: `${waiting} messages wait behind the running turn${approvalsOf(open)}`,
      limit,
      retryAfter: 5,
    },
  );
}

function completeStep(state: SessionState, command: CompleteStep): SessionEvent[] {
  const open = openTurn(state, command.turnId);
  if (!open || command.step !== open.step + 1) return [];
  const { turnId, step, parts, calls, source, finishReason, usage, outputIssue: issue } = command;
  const text = spokenText(parts);
  const ended = finishReason && { finishReason };
  const completed: SessionEvent = {
    type: 'step.completed',
    turnId,
    step,
    parts: [...parts],
    separator: text === '' ? '' : separatorAfter(open.reply),
    source,
    ...ended,
    ...(usage && { usage }),
  };
  if (calls.length > 0) return [completed, ...requestCalls(turnId, calls)];
  if (issue !== undefined && !open.isAskedAgain)
    return [completed, { type: 'output.rejected', turnId, step, issue }];
  if (issue !== undefined)
    return [completed, outputFailure({ ...open, step }, issue), ...startNext(state.waiting)];
  return [
    completed,
    { type: 'turn.completed', turnId, content: joinReply(open.reply, text), ...ended },
    ...startNext(state.waiting),
  ];
}

/** The whole text of the step is in the log already. */
function outputFailure(open: OpenTurn, issue: string): SessionEvent {
  const reason = `the reply does not fit the schema that was asked for: ${issue}`;
  const error = new ServiceError('AGENT_ERROR', 'The agent could not answer.', { reason });
  const cause = { kind: 'output' as const, issue };
  return { type: 'turn.failed', turnId: open.turnId, cause, error: error.body, ...partialText(open, '') };
}

function failTurn(state: SessionState, command: FailTurn): SessionEvent[] {
  const open = openTurn(state, command.turnId);
  if (!open) return [];
  const { cause, error, partial } = command;
  return [
    ...endInputs(open, 'turn-failed'),
    ...interruptCalls(open, 'turn-failed'),
    { type: 'turn.failed', turnId: open.turnId, cause, error, ...partialText(open, partial) },
    ...startNext(state.waiting),
  ];
}

function cancelTurn(state: SessionState, command: CancelTurn): SessionEvent[] {
  const { turnId, reason } = command;
  const end: Ending = { cause: { kind: 'cancelled' }, reason };
  if (state.waiting.some((waiting) => waiting.turnId === turnId)) {
    return [{ type: 'turn.cancelled', turnId, ...end, ...NOTHING_SAID }];
  }
  const open = openTurn(state, turnId);
  if (!open) return [];
  return [...cancelOpen(open, end, command.partial), ...startNext(state.waiting)];
}

function resetSession(state: SessionState, command: ResetSession): SessionEvent[] {
  if (isRepeated(state, command)) return [];
  const { key } = command;
  const end: Ending = { cause: { kind: 'session-reset' }, reason: RESET };
  return [...cancelAll(state, end, command.partial), { type: 'session.reset', ...(key && { key }) }];
}

function describeSession(state: SessionState, { metadata }: DescribeSession): SessionEvent[] {
  const isKnown = state.metadata !== undefined && isSameMetadata(state.metadata, metadata);
  return isKnown ? [] : [{ type: 'session.described', metadata }];
}

/** Between a call and its result, a message would have no place in the conversation. */
function extendSession({ open, waiting }: SessionState, { given }: ExtendSession): SessionEvent[] {
  const turn = open ?? waiting[0];
  if (turn) {
    throw new ServiceError('SESSION_BUSY', 'The session is busy with another message.', {
      turnId: turn.turnId,
      reason: `messages can be added to the conversation when its turns are over${open ? approvalsOf(open) : ''}`,
    });
  }
  return [{ type: 'session.extended', given: [...given] }];
}

function deleteSession(state: SessionState, { partial, onlyAt = state.seq }: DeleteSession): SessionEvent[] {
  if (onlyAt !== state.seq) return [];
  return [...cancelAll(state, deletion, partial), { type: 'session.deleted' }];
}

function forkSession(state: SessionState, { from, at, ephemeral }: ForkSession): SessionEvent[] {
  const end: Ending = { cause: { kind: 'session-forked', from }, reason: forkedFrom(from) };
  return [
    ...cancelAll(state, end, ''),
    { type: 'session.forked', from, at, ...(ephemeral && { ephemeral }) },
  ];
}

/** Why a turn ends: as data, and as a sentence for people. */
interface Ending {
  readonly cause: CancellationCause;
  readonly reason: string;
}

const repair: Ending = { cause: { kind: 'session-repaired' }, reason: REPAIRED };
const deletion: Ending = { cause: { kind: 'session-deleted' }, reason: DELETED };

function cancelAll(state: SessionState, end: Ending, partial: string): SessionEvent[] {
  return [
    ...(state.open ? cancelOpen(state.open, end, partial) : []),
    ...state.waiting.map(
      ({ turnId }): SessionEvent => ({ type: 'turn.cancelled', turnId, ...end, ...NOTHING_SAID }),
    ),
  ];
}

/**
 * A call that is safe to repeat runs again, and a call that waits for approval or for its client keeps waiting. Any other
 * call is settled as interrupted, because nobody knows whether it took effect. What servers had asked has ended with the
 * connections to them; a call that runs again asks again.
 */
function resumeTurn({ open }: SessionState): SessionEvent[] {
  if (!open) return [];
  const { turnId, attempt, awaiting, delegated } = open;
  const mayHaveRun = ({ repeatable, callId }: RequestedCallEvent): boolean =>
    !repeatable && !awaiting.has(callId) && !delegated.has(callId);
  return [
    { type: 'turn.resumed', turnId, attempt: attempt + 1 },
    ...endInputs(open, 'service-stopped'),
    ...interruptCalls(open, 'service-stopped', mayHaveRun),
  ];
}

function cancelOpen(open: OpenTurn, end: Ending, partial: string): SessionEvent[] {
  return [
    ...endInputs(open, 'turn-cancelled'),
    ...interruptCalls(open, 'turn-cancelled'),
    { type: 'turn.cancelled', turnId: open.turnId, ...end, ...partialText(open, partial) },
  ];
}

type PartialText = Pick<SessionEventOf<'turn.failed'>, 'step' | 'separator' | 'partial'>;

const NOTHING_SAID: PartialText = { step: 0, separator: '', partial: '' };

function partialText({ step, reply }: OpenTurn, partial: string): PartialText {
  return { step: step + 1, separator: partial === '' ? '' : separatorAfter(reply), partial };
}

function startNext([next]: readonly WaitingTurn[]): SessionEvent[] {
  return next ? [{ type: 'turn.started', turnId: next.turnId }] : [];
}

function openTurn(state: SessionState, turnId: string): OpenTurn | undefined {
  return state.open?.turnId === turnId ? state.open : undefined;
}
