import { evolveRefusals, NO_REFUSALS, type Refusals } from '../conversation/refusals.ts';
import { evolveTranscript, type Transcript, type TurnText } from '../conversation/transcript.ts';
import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import { isExpired } from '../request/idempotency.ts';
import type { IdempotencyKey } from '../request/request-events.ts';
import type { TraceContext } from '../trace.ts';
import { joinReply } from '../turn/reply-text.ts';
import { spokenText } from '../turn/step-parts.ts';
import type { TurnOptions } from '../turn/turn-options.ts';
import type { TurnOutcome } from '../turn/turn-outcome.ts';
import type { SessionMetadata } from './session-metadata.ts';
import { evolveTitle, NO_TITLE, type SessionTitle } from './session-title.ts';

/** A turn whose message was accepted and that has not started yet. */
export interface WaitingTurn extends TurnText {
  readonly turnId: string;
  /** Id of the idempotency key of its message. */
  readonly key?: string;
  readonly options?: TurnOptions;
  /** The distributed trace that its message came with. */
  readonly trace?: TraceContext;
}

/** Counts over the whole life of the session. A reset does not clear them. */
export interface TurnCounts {
  readonly requested: number;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly toolCalls: number;
}

/** A message or a reset with an idempotency key. A reset has no turn. A turn without an outcome is not over. */
export interface KeyedRequest extends IdempotencyKey {
  readonly turnId: string | null;
  readonly outcome?: TurnOutcome;
}

/** The turn that has started and is not over. A session has at most one. */
export interface OpenTurn extends WaitingTurn {
  /** 1, and one more after each `turn.resumed`. */
  readonly attempt: number;
  /** Number of completed steps. */
  readonly step: number;
  /** The reply so far: the texts of the completed steps, joined. Empty where the reply is the text of the last step. */
  readonly reply: string;
  /** Tool calls of the last step that are not settled yet, by call id. */
  readonly unsettled: ReadonlyMap<string, SessionEventOf<'tool-call.requested'>>;
  /** The unsettled calls that wait for approval, by call id. */
  readonly awaiting: ReadonlyMap<string, SessionEventOf<'approval.requested'>>;
  /** The unsettled calls that wait for the client that lent the tool, by call id. */
  readonly delegated: ReadonlyMap<string, SessionEventOf<'tool-call.delegated'>>;
  /** What tool servers ask while they work on unsettled calls, by input id. Absent until one asks. */
  readonly asked?: ReadonlyMap<string, SessionEventOf<'input.requested'>>;
  /** The model was told that its reply does not have the form that the client wants. */
  readonly isAskedAgain?: true;
}

/** Requests with a key by the key's id, oldest first. Only `evolveKeys` writes to it. */
export type Keys = Map<string, KeyedRequest>;

/** The state of a session: all its events, folded. */
export interface SessionState {
  /** seq of the last event folded in. */
  readonly seq: number;
  readonly title: SessionTitle;
  /** Absent until a client has noted something. */
  readonly metadata?: SessionMetadata;
  readonly transcript: Transcript;
  readonly refusals: Refusals;
  /** The turns that wait behind the open one, oldest first. */
  readonly waiting: readonly WaitingTurn[];
  readonly open: OpenTurn | null;
  readonly counts: TurnCounts;
  /** Whether the session is about to be erased. */
  readonly deleted: boolean;
  readonly keys: Keys;
}

export const initialSessionState = (): SessionState => ({
  seq: 0,
  title: NO_TITLE,
  transcript: [],
  refusals: NO_REFUSALS,
  waiting: [],
  open: null,
  counts: { requested: 0, completed: 0, failed: 0, cancelled: 0, toolCalls: 0 },
  deleted: false,
  keys: new Map(),
});

/**
 * Whether the open turn cannot continue until somebody decides about a tool call, a client says what came of one, or a
 * person answers what its server asks.
 */
export function awaitsSomebody({ open }: SessionState): boolean {
  if (open === null || open.unsettled.size === 0) return false;
  const asking = open.asked ? callsThatAsk(open.asked) : 0;
  return open.awaiting.size + open.delegated.size + asking === open.unsettled.size;
}

/** Whether the model was told that its last reply does not have the form that the client wants, and has not replied since. */
export function owesAnotherReply({ open, transcript }: SessionState): boolean {
  return open?.isAskedAgain === true && transcript.at(-1)?.role === 'user';
}

/** A server may ask several things while it works on one call. */
function callsThatAsk(asked: NonNullable<OpenTurn['asked']>): number {
  return new Set([...asked.values()].map(({ callId }) => callId)).size;
}

/** Whether a turn is open after these events. */
export function leavesTurnOpen({ open }: SessionState, events: readonly SessionEvent[]): boolean {
  let turnId = open?.turnId;
  for (const event of events) {
    if (event.type === 'turn.started') turnId = event.turnId;
    else if ('turnId' in event && event.turnId === turnId && outcomeOf(event)) turnId = undefined;
  }
  return turnId !== undefined;
}

/**
 * Folds the next event in. The new state shares transcript and keys with the old one, which must not be used again.
 * Throws if the event contradicts the state.
 */
export function evolve(state: SessionState, event: SessionEvent): SessionState {
  const turn = event.type === 'turn.started' ? waitingTurn(state, event.turnId) : NO_TEXT;
  const transcript = evolveTranscript(state.transcript, event, turn);
  const told = evolveRefusals({ transcript, refusals: state.refusals }, event);
  evolveKeys(state, event);
  return {
    ...state,
    seq: state.seq + 1,
    title: evolveTitle(state.title, event),
    ...(event.type === 'session.described' && { metadata: event.metadata }),
    transcript: told.transcript,
    refusals: told.refusals,
    ...evolveTurns(state, event),
    counts: evolveCounts(state.counts, event),
    deleted: event.type === 'session.deleted',
  };
}

const NO_TEXT: TurnText = { text: '' };

/** One for all turns: calls are added to a copy. */
const NO_CALLS = new Map<string, never>();

type Turns = Pick<SessionState, 'waiting' | 'open'>;

function evolveTurns(state: SessionState, event: SessionEvent): Partial<Turns> {
  switch (event.type) {
    case 'turn.requested':
      return { waiting: [...state.waiting, requestedTurn(event)] };
    case 'turn.started': {
      const turn = waitingTurn(state, event.turnId);
      return { waiting: state.waiting.filter((waiting) => waiting !== turn), open: begun(turn) };
    }
    case 'turn.resumed':
      return { open: { ...openTurn(state, event), attempt: event.attempt } };
    case 'step.completed': {
      const open = openTurn(state, event);
      const reply = open.options?.output ? '' : joinReply(open.reply, spokenText(event.parts));
      return { open: { ...open, step: event.step, reply } };
    }
    case 'output.rejected':
      return { open: { ...openTurn(state, event), isAskedAgain: true } };
    case 'tool-call.requested': {
      const open = openTurn(state, event);
      return { open: { ...open, unsettled: new Map(open.unsettled).set(event.callId, event) } };
    }
    case 'approval.requested': {
      const open = openTurn(state, event);
      return { open: { ...open, awaiting: new Map(open.awaiting).set(event.callId, event) } };
    }
    case 'approval.granted': {
      const open = openTurn(state, event);
      return { open: { ...open, awaiting: without(open.awaiting, event.callId) } };
    }
    case 'tool-call.delegated': {
      const open = openTurn(state, event);
      return { open: { ...open, delegated: new Map(open.delegated).set(event.callId, event) } };
    }
    case 'input.requested': {
      const open = openTurn(state, event);
      return { open: { ...open, asked: new Map(open.asked).set(event.inputId, event) } };
    }
    case 'input.answered': {
      const { asked = NO_CALLS, ...open } = openTurn(state, event);
      if (!asked.has(event.inputId)) throw new Error(`${event.type} of ${event.inputId}, which nobody asks`);
      return { open: { ...open, ...stillAsked(without(asked, event.inputId)) } };
    }
    case 'sampling.completed':
      openTurn(state, event);
      return {};
    case 'tool-call.succeeded':
    case 'tool-call.failed':
    case 'tool-call.interrupted': {
      const open = openTurn(state, event);
      const { callId } = event;
      if (!open.unsettled.has(callId)) throw new Error(`${event.type} of call ${callId}, which is not open`);
      return {
        open: {
          ...open,
          unsettled: without(open.unsettled, callId),
          awaiting: without(open.awaiting, callId),
          delegated: without(open.delegated, callId),
        },
      };
    }
    case 'turn.completed':
    case 'turn.failed':
      openTurn(state, event);
      return { open: null };
    case 'turn.cancelled': {
      const waiting = state.waiting.filter(({ turnId }) => turnId !== event.turnId);
      if (waiting.length < state.waiting.length) return { waiting };
      openTurn(state, event);
      return { open: null };
    }
    case 'session.reset':
    case 'session.renamed':
    case 'session.described':
    case 'session.extended':
    case 'session.forked':
    case 'session.deleted':
      return {};
    default:
      return event satisfies never;
  }
}

/** The turn when it has just started. */
export function begun({ given: _, ...turn }: WaitingTurn): OpenTurn {
  const calls = { unsettled: NO_CALLS, awaiting: NO_CALLS, delegated: NO_CALLS };
  return { ...turn, attempt: 1, step: 0, reply: '', ...calls };
}

function stillAsked(asked: NonNullable<OpenTurn['asked']>): Pick<OpenTurn, 'asked'> {
  return asked.size > 0 ? { asked } : {};
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

export function requestedTurn({
  turnId,
  text,
  image,
  given,
  options,
  key,
  trace,
}: SessionEventOf<'turn.requested'>): WaitingTurn {
  return {
    turnId,
    text,
    ...(image && { image }),
    ...(given && { given }),
    ...(options && { options }),
    ...(key && { key: key.id }),
    ...(trace && { trace }),
  };
}

const counted: Partial<Record<SessionEvent['type'], keyof TurnCounts>> = {
  'turn.requested': 'requested',
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.cancelled': 'cancelled',
  'tool-call.requested': 'toolCalls',
};

function evolveCounts(counts: TurnCounts, { type }: SessionEvent): TurnCounts {
  const name = counted[type];
  return name === undefined ? counts : { ...counts, [name]: counts[name] + 1 };
}

/** Folds in place, because a session may have tens of thousands of keys a day. */
function evolveKeys({ keys, open, waiting }: SessionState, event: SessionEvent): void {
  if (event.type === 'session.forked') {
    // A key belongs to its session, and that one may be somebody else's.
    keys.clear();
    return;
  }
  if ((event.type === 'turn.requested' || event.type === 'session.reset') && event.key) {
    const { key } = event;
    // The keys are in the order in which they expire.
    for (const [old, known] of keys) {
      if (!isExpired(known, key)) break;
      keys.delete(old);
    }
    keys.delete(key.id);
    keys.set(key.id, { ...key, turnId: event.type === 'turn.requested' ? event.turnId : null });
    return;
  }
  const settled = outcomeOf(event);
  if (!settled) return;
  const { turnId, outcome } = settled;
  const turn = open?.turnId === turnId ? open : waiting.find((candidate) => candidate.turnId === turnId);
  const known = turn?.key === undefined ? undefined : keys.get(turn.key);
  if (known?.turnId === turnId) keys.set(known.id, { ...known, outcome });
}

/** The outcome of a turn, if the event ends one. */
export function outcomeOf(event: SessionEvent): { turnId: string; outcome: TurnOutcome } | undefined {
  switch (event.type) {
    case 'turn.completed': {
      const { turnId, content, finishReason } = event;
      return { turnId, outcome: { status: 'completed', content, ...(finishReason && { finishReason }) } };
    }
    case 'turn.failed':
      return { turnId: event.turnId, outcome: { status: 'failed', error: event.error } };
    case 'turn.cancelled':
      return { turnId: event.turnId, outcome: { status: 'cancelled', reason: event.reason } };
    default:
      return undefined;
  }
}

function waitingTurn(state: SessionState, turnId: string): WaitingTurn {
  const turn = state.waiting.find((waiting) => waiting.turnId === turnId);
  if (!turn) throw new Error(`turn ${turnId} started without having been requested`);
  return turn;
}

function openTurn(state: SessionState, event: { type: string; turnId: string }): OpenTurn {
  if (state.open?.turnId !== event.turnId)
    throw new Error(`${event.type} of turn ${event.turnId}, which is not open`);
  return state.open;
}
