import { assign, emit, not, setup } from 'xstate';
import type { SessionEventOf } from '../src/core/log/events.ts';
import { callIdsOf } from '../src/core/turn/step-parts.ts';
import type { TurnLimit, TurnLimits } from '../src/core/turn/turn-limits.ts';

/**
 * Everybody who watches the statechart sees this, so it is small and holds no message content. The session's state
 * says which calls are open. `unsettled`, `awaiting`, `delegated` and `asking` repeat that, from the same events, for guards
 * and chart.
 */
export interface TurnContext extends TurnLimits {
  readonly turnId: string;
  readonly sessionId: string;
  /** The running step, or the latest: 1, 2, 3 …; 0 before the first. */
  readonly step: number;
  /** Tool calls of this step that have no result yet. */
  readonly unsettled: readonly string[];
  /** Unsettled calls that wait for approval. */
  readonly awaiting: readonly string[];
  /** Unsettled calls that wait for the client that lent the tool. */
  readonly delegated: readonly string[];
  /** Unsettled calls whose server waits for an answer, once for each question. */
  readonly asking: readonly string[];
  /** A resumed turn had told the model that its reply does not have the form that the client wants. Absent in others. */
  readonly isAskedAgain?: true;
}

/** In a new turn, `step` is 0. A resumed turn continues where the log ends. */
export type TurnInput = TurnContext;

type Fact<T extends FactType> = SessionEventOf<T>;
type FactType =
  | 'step.completed'
  | 'output.rejected'
  | 'approval.requested'
  | 'approval.granted'
  | 'tool-call.delegated'
  | 'input.requested'
  | 'input.answered'
  | 'tool-call.succeeded'
  | 'tool-call.failed'
  | 'tool-call.interrupted'
  | 'turn.completed'
  | 'turn.failed'
  | 'turn.cancelled';

/** Facts are events of the log, sent to the machine after they were appended. The others are ephemeral. */
export type TurnEvent =
  | Fact<FactType>
  | { readonly type: 'turn.prepared' }
  | { readonly type: 'step.streaming' }
  | { readonly type: 'step.timedOut' }
  | { readonly type: 'CANCEL' };

/**
 * What the machine asks the runtime to do. Effects are emitted and not invoked as actors, because invoked actors took
 * half of the machine's time.
 */
export type TurnEffect =
  /** Call the model. Send `step.streaming` at the first text, and `step.timedOut` when the call takes too long. */
  | { readonly type: 'model-call.begin'; readonly step: number }
  /** Abort the model call if it still runs. */
  | { readonly type: 'model-call.end' }
  /** Run all unsettled tool calls in parallel, except those that wait for approval or for their client. */
  | { readonly type: 'tool-calls.begin' }
  /** Run a tool call that was approved. */
  | { readonly type: 'tool-call.begin'; readonly callId: string }
  /** Abort the tool calls that still run. */
  | { readonly type: 'tool-calls.end' }
  /** Record that the turn failed at a limit. */
  | { readonly type: 'turn.fail'; readonly limit: TurnLimit };

/**
 * Decides what a turn does next. What is true is decided by the session's decider. The machine only reacts to those
 * facts, so a recorded turn drives it through the same states again.
 */
export const turnMachine = setup({
  types: {} as { context: TurnContext; input: TurnInput; events: TurnEvent; emitted: TurnEffect },
  actions: {
    startModelCall: emit(({ context }) => ({ type: 'model-call.begin', step: context.step })),
    endModelCall: emit({ type: 'model-call.end' }),
    startToolCalls: emit({ type: 'tool-calls.begin' }),
    startApprovedCall: emit(({ event }) => ({
      type: 'tool-call.begin',
      callId: 'callId' in event ? event.callId : '',
    })),
    endToolCalls: emit({ type: 'tool-calls.end' }),
    reportFailure: emit((_, { limit }: { readonly limit: TurnLimit }) => ({ type: 'turn.fail', limit })),
    beginStep: assign({ step: ({ context }) => context.step + 1 }),
    awaitCalls: assign({
      unsettled: ({ context, event }) =>
        event.type === 'step.completed' ? callIdsOf(event.parts) : context.unsettled,
    }),
    awaitApproval: assign({
      awaiting: ({ context, event }) =>
        'callId' in event ? [...context.awaiting, event.callId] : context.awaiting,
    }),
    awaitClient: assign({
      delegated: ({ context, event }) =>
        'callId' in event ? [...context.delegated, event.callId] : context.delegated,
    }),
    awaitInput: assign({
      asking: ({ context, event }) =>
        'callId' in event ? [...context.asking, event.callId] : context.asking,
    }),
    endQuestion: assign({ asking: ({ context, event }) => withoutQuestion(context.asking, event) }),
    endWait: assign({ awaiting: ({ context, event }) => withoutCall(context.awaiting, event) }),
    settleCall: assign({
      unsettled: ({ context, event }) => withoutCall(context.unsettled, event),
      awaiting: ({ context, event }) => withoutCall(context.awaiting, event),
      delegated: ({ context, event }) => withoutCall(context.delegated, event),
      asking: ({ context, event }) => withoutCall(context.asking, event),
    }),
  },
  guards: {
    asksForTools: ({ event }) =>
      event.type === 'step.completed' && event.parts.some(({ type }) => type === 'toolCall'),
    /** A resumed turn continues as if its last step had just asked for its tools, unless that step was refused. */
    hasStepped: ({ context }) => context.step > 0 && !context.isAskedAgain,
    awaitsApproval: ({ context }) => awaitsSomebody(context) && context.awaiting.length > 0,
    awaitsClient: ({ context }) =>
      awaitsSomebody(context) && context.awaiting.length === 0 && context.delegated.length > 0,
    awaitsInput: ({ context }) =>
      awaitsSomebody(context) && context.awaiting.length + context.delegated.length === 0,
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
    preparing: {
      description:
        'The turn has begun. It waits until the service has tried each tool server once, which takes time only right after a start.',
      on: {
        'turn.prepared': [{ guard: 'hasStepped', target: 'executingTools' }, { target: 'callingModel' }],
        // What a resumed turn waited for may come before it is prepared.
        'approval.granted': { actions: 'endWait' },
        'input.answered': { actions: 'endQuestion' },
        'tool-call.succeeded': { actions: 'settleCall' },
        'tool-call.failed': { actions: 'settleCall' },
        'tool-call.interrupted': { actions: 'settleCall' },
        CANCEL: 'cancelling',
      },
    },
    callingModel: {
      description: 'The model has the conversation and works on its reply.',
      entry: ['beginStep', 'startModelCall'],
      exit: 'endModelCall',
      initial: 'thinking',
      states: {
        thinking: {
          description: 'The model has the conversation and has not written any text yet.',
          on: { 'step.streaming': 'streaming' },
        },
        streaming: { description: 'The model writes its reply, piece by piece.' },
      },
      on: {
        'step.completed': { guard: 'asksForTools', target: 'executingTools', actions: 'awaitCalls' },
        'output.rejected': 'askingAgain',
        'step.timedOut': {
          target: 'failing',
          actions: { type: 'reportFailure', params: { limit: 'step-timeout' } },
        },
        CANCEL: 'cancelling',
      },
    },
    askingAgain: {
      description:
        'The reply does not have the form that the client wants. The model is told, and asked once more.',
      always: 'callingModel',
    },
    executingTools: {
      description: 'The model asked for tools. The turn continues when each tool call has a result.',
      entry: 'startToolCalls',
      exit: 'endToolCalls',
      initial: 'running',
      states: {
        running: {
          description: 'At least one tool call runs. Several calls run at the same time.',
          always: [
            { guard: 'awaitsApproval', target: 'awaitingApproval' },
            { guard: 'awaitsClient', target: 'awaitingClient' },
            { guard: 'awaitsInput', target: 'awaitingInput' },
          ],
        },
        awaitingApproval: {
          description: 'The turn waits until somebody approves or denies a tool call.',
          always: { guard: not('awaitsApproval'), target: 'running' },
        },
        awaitingClient: {
          description: 'The turn waits until the client that lent a tool says what came of the call.',
          always: { guard: not('awaitsClient'), target: 'running' },
        },
        awaitingInput: {
          description: 'The turn waits until somebody answers what a tool server asks.',
          always: { guard: not('awaitsInput'), target: 'running' },
        },
      },
      on: {
        'approval.requested': { actions: 'awaitApproval' },
        'approval.granted': { actions: ['endWait', 'startApprovedCall'] },
        'tool-call.delegated': { actions: 'awaitClient' },
        'input.requested': { actions: 'awaitInput' },
        'input.answered': { actions: 'endQuestion' },
        'tool-call.succeeded': { actions: 'settleCall' },
        'tool-call.failed': { actions: 'settleCall' },
        'tool-call.interrupted': { actions: 'settleCall' },
        CANCEL: 'cancelling',
      },
      always: [
        {
          guard: 'stepLimitReached',
          target: 'failing',
          actions: { type: 'reportFailure', params: { limit: 'step-limit' } },
        },
        { guard: 'allSettled', target: 'callingModel' },
      ],
    },
    cancelling: {
      description: 'Somebody cancelled the turn. Its work is stopped, and the log is about to say so.',
    },
    failing: {
      description: 'The turn reached a limit. Its work is stopped, and the log is about to say so.',
    },
    completed: { type: 'final', description: 'The reply is complete and stored.' },
    failed: { type: 'final', description: 'The turn ended with an error. The log has the reason.' },
    cancelled: {
      type: 'final',
      description: 'The turn was cancelled. The log keeps what the model had written until then.',
    },
  },
});

function awaitsSomebody({ unsettled, awaiting, delegated, asking }: TurnContext): boolean {
  const asked = asking.length > 0 ? new Set(asking).size : 0;
  return unsettled.length > 0 && awaiting.length + delegated.length + asked === unsettled.length;
}

function withoutQuestion(asking: readonly string[], event: TurnEvent): readonly string[] {
  const index = 'callId' in event ? asking.indexOf(event.callId) : -1;
  return index === -1 ? asking : asking.toSpliced(index, 1);
}

function withoutCall(callIds: readonly string[], event: TurnEvent): readonly string[] {
  return 'callId' in event ? callIds.filter((callId) => callId !== event.callId) : callIds;
}
