import { assign, fromCallback, not, sendTo, setup } from 'xstate';
import type { SessionEventOf } from '../src/core/log/events.ts';
import { callIdsOf } from '../src/core/turn/step-parts.ts';
import type { TurnLimit, TurnLimits } from '../src/core/turn/turn-limits.ts';

/** Small, and free of message content: it is shown to whoever watches the statechart. */
export interface TurnContext extends TurnLimits {
  readonly turnId: string;
  readonly sessionId: string;
  /** The model call that runs, or ran last: 1, 2, 3 … */
  readonly step: number;
  /** Tool calls of this step that have no result yet. */
  readonly unsettled: readonly string[];
  /** Those of them that wait for approval. */
  readonly awaiting: readonly string[];
}

/** A new turn has made no step; a resumed one goes on where the log ends. */
export type TurnInput = TurnContext;

type Fact<T extends FactType> = SessionEventOf<T>;
type FactType =
  | 'step.completed'
  | 'approval.requested'
  | 'approval.granted'
  | 'tool-call.succeeded'
  | 'tool-call.failed'
  | 'tool-call.interrupted'
  | 'turn.completed'
  | 'turn.failed'
  | 'turn.cancelled';

/** Facts come from the log, after they were appended. The other four are signals of the moment. */
export type TurnEvent =
  | Fact<FactType>
  | { readonly type: 'turn.prepared' }
  | { readonly type: 'step.streaming' }
  | { readonly type: 'step.timedOut' }
  | { readonly type: 'CANCEL' };

/** Which session's calls the effect `toolCalls` runs. */
export type ToolCallsInput = { readonly sessionId: string };

/**
 * What a turn does next. What is true is decided by the session's decider and told to this machine as the
 * facts it waits for, so that a recorded turn drives it through the same states again.
 */
export const turnMachine = setup({
  types: {} as { context: TurnContext; input: TurnInput; events: TurnEvent },
  actors: {
    /**
     * Runs all unsettled tool calls in parallel, those that wait for approval when they have it; each outcome comes
     * back as a fact. Leaving the state that invoked it aborts them.
     */
    toolCalls: fromCallback<TurnEvent, ToolCallsInput>(notProvided),
  },
  actions: {
    /** Asks the session to record that the turn failed. */
    reportFailure: (_, _params: { readonly failure: TurnLimit }) => notProvided(),
    /**
     * Calls the model; `step.streaming` comes with the first text, `step.timedOut` when it takes too long, the reply
     * as a fact. Begun and ended by actions, its time-out too: an invoked actor and an `after` took half of all the
     * time that this machine takes.
     */
    startModelCall: () => notProvided(),
    /** Aborts the call if it still runs. */
    endModelCall: () => notProvided(),
    beginStep: assign({ step: ({ context }) => context.step + 1 }),
    awaitCalls: assign({
      unsettled: ({ context, event }) =>
        event.type === 'step.completed' ? callIdsOf(event.parts) : context.unsettled,
    }),
    awaitApproval: assign({
      awaiting: ({ context, event }) =>
        'callId' in event ? [...context.awaiting, event.callId] : context.awaiting,
    }),
    endWait: assign({ awaiting: ({ context, event }) => withoutCall(context.awaiting, event) }),
    settleCall: assign({
      unsettled: ({ context, event }) => withoutCall(context.unsettled, event),
      awaiting: ({ context, event }) => withoutCall(context.awaiting, event),
    }),
    beginCall: sendTo('toolCalls', ({ event }) => event),
  },
  guards: {
    asksForTools: ({ event }) =>
      event.type === 'step.completed' && event.parts.some(({ type }) => type === 'toolCall'),
    /** A resumed turn goes on as if its last step had just asked for its tools. */
    hasStepped: ({ context }) => context.step > 0,
    onlyApprovalsMissing: ({ context }) =>
      context.unsettled.length > 0 && context.awaiting.length === context.unsettled.length,
    allSettled: ({ context }) => context.unsettled.length === 0,
    stepLimitReached: ({ context }) => context.unsettled.length === 0 && context.step >= context.maxSteps,
  },
}).createMachine({
  id: 'turn',
  context: ({ input }) => input,
  initial: 'preparing',
  on: {
    'turn.completed': '.completed',
    'turn.failed': '.failed',
    'turn.cancelled': '.cancelled',
  },
  states: {
    /** Until the tool servers have made their first attempt to connect. Invokes nothing: it is over at once, except right after a start of the service. */
    preparing: {
      on: {
        'turn.prepared': [{ guard: 'hasStepped', target: 'executingTools' }, { target: 'callingModel' }],
        CANCEL: 'cancelling',
      },
    },
    callingModel: {
      entry: ['beginStep', 'startModelCall'],
      exit: 'endModelCall',
      initial: 'thinking',
      states: {
        thinking: { on: { 'step.streaming': 'streaming' } },
        streaming: {},
      },
      on: {
        'step.completed': { guard: 'asksForTools', target: 'executingTools', actions: 'awaitCalls' },
        'step.timedOut': {
          target: 'failing',
          actions: { type: 'reportFailure', params: { failure: 'step-timeout' } },
        },
        CANCEL: 'cancelling',
      },
    },
    executingTools: {
      invoke: { id: 'toolCalls', src: 'toolCalls', input: ({ context: { sessionId } }) => ({ sessionId }) },
      initial: 'running',
      states: {
        running: { always: { guard: 'onlyApprovalsMissing', target: 'awaitingApproval' } },
        /** Nothing goes on until somebody approves or denies a call. */
        awaitingApproval: { always: { guard: not('onlyApprovalsMissing'), target: 'running' } },
      },
      on: {
        'approval.requested': { actions: 'awaitApproval' },
        'approval.granted': { actions: ['endWait', 'beginCall'] },
        'tool-call.succeeded': { actions: 'settleCall' },
        'tool-call.failed': { actions: 'settleCall' },
        'tool-call.interrupted': { actions: 'settleCall' },
        CANCEL: 'cancelling',
      },
      always: [
        {
          guard: 'stepLimitReached',
          target: 'failing',
          actions: { type: 'reportFailure', params: { failure: 'step-limit' } },
        },
        { guard: 'allSettled', target: 'callingModel' },
      ],
    },
    /** Effects are aborted; the fact is on its way to the log. */
    cancelling: {},
    failing: {},
    completed: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

function withoutCall(callIds: readonly string[], event: TurnEvent): readonly string[] {
  return 'callId' in event ? callIds.filter((callId) => callId !== event.callId) : callIds;
}

function notProvided(): never {
  throw new Error('the turn machine was started without its effects');
}
