import { z } from 'zod';
import { CallId, SessionId } from '../../../core/ids.ts';
import { LOG_FORMAT } from '../../../core/log/event-codec.ts';
import { InputId } from '../../../core/tool-call/input-events.ts';
import { scopeOf } from '../../../ports/request-rules.ts';
import {
  ApprovalRequest,
  ApprovalsQuery,
  CallAnswerRequest,
  CancelRequest,
  EventsQuery,
  ForkRequest,
  ImagePath,
  InputRequest,
  RenameRequest,
  SessionQuery,
  SessionsQuery,
} from '../../../wire/requests.ts';
import {
  ApprovalResponse,
  ApprovalsResponse,
  CallAnswerResponse,
  CancelResponse,
  DeleteSessionResponse,
  EventsResponse,
  ForkResponse,
  ImageResponse,
  InputResponse,
  InputsResponse,
  RenameResponse,
  SessionResponse,
  SessionsResponse,
} from '../../../wire/responses.ts';
import { EXPORT_TYPE } from '../../routes/session-export.ts';
import { errorExamples } from './error-examples.ts';
import {
  EVENT_STREAM_TYPE,
  JSON_TYPE,
  KeyHeader,
  type Operation,
  type OperationExample,
  ok,
  EXAMPLE_TIME as timestamp,
  waitingApproval,
  waitingInput,
} from './operation.ts';

const path = '/api/sessions/:sessionId';
const InSession = z.object({ sessionId: SessionId });
const turnId = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';

const exportedMetadata = {
  version: 1,
  id: turnId,
  actor: { kind: 'client' },
  causationId: turnId,
  correlationId: turnId,
};
const exportedLines = [
  { type: 'turn.requested', turnId, text: 'hello' },
  { type: 'turn.started', turnId, agentVersion: '3f1d9c0b7a52' },
]
  .map((event, index) => ({
    v: LOG_FORMAT,
    sessionId: 'demo',
    seq: index + 1,
    time: Date.parse(timestamp),
    meta: exportedMetadata,
    event,
  }))
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('');

const unknownSession: OperationExample = {
  name: 'unknown',
  summary: 'There is no such session',
  parameters: { sessionId: 'nobody' },
  answer: { error: 'SESSION_NOT_FOUND', ...errorExamples.SESSION_NOT_FOUND },
};

const listSessions: Operation = {
  id: 'listSessions',
  scope: scopeOf('session.list'),
  method: 'GET',
  path: '/api/sessions',
  tag: 'Sessions',
  summary: 'List the sessions',
  description:
    'Sorted by id. For the next page, send the last id of this page as `after`. `query` searches ids and titles.',
  query: SessionsQuery,
  answers: { [JSON_TYPE]: SessionsResponse },
  errors: [],
  examples: [
    {
      name: 'page',
      summary: 'A page with one session',
      parameters: { after: 'careful', limit: 1 },
      answer: ok({
        sessions: [
          {
            sessionId: 'default',
            title: 'use get-sum {"a": 19, "b": 23}',
            status: 'idle',
            head: 8,
            createdAt: timestamp,
            updatedAt: timestamp,
          },
        ],
      }),
    },
    {
      name: 'badLimit',
      summary: 'A parameter that is not a number',
      parameters: { limit: 'many' },
      answer: {
        error: 'INVALID_REQUEST',
        message: 'The field limit is not valid: must be a whole number.',
        details: { field: 'limit', issue: 'must be a whole number' },
      },
    },
  ],
};

const viewSession: Operation = {
  id: 'viewSession',
  scope: scopeOf('session.view'),
  method: 'GET',
  path,
  tag: 'Sessions',
  summary: 'View a session as it is, or as it was after an event',
  pathParameters: InSession,
  query: SessionQuery,
  answers: { [JSON_TYPE]: SessionResponse },
  errors: ['SESSION_NOT_FOUND'],
  examples: [
    {
      name: 'past',
      summary: 'As it was after its first event',
      parameters: { sessionId: 'demo', at: 1 },
      answer: ok({
        session: {
          sessionId: 'demo',
          title: 'hello',
          status: 'idle',
          head: 4,
          at: 1,
          createdAt: timestamp,
          updatedAt: timestamp,
          turns: { requested: 1, completed: 0, failed: 0, cancelled: 0, waiting: 1 },
          toolCalls: 0,
          openTurnId: null,
          approvals: [],
          history: [],
        },
      }),
    },
    unknownSession,
  ],
};

const renameSession: Operation = {
  id: 'renameSession',
  scope: scopeOf('session.rename'),
  method: 'PATCH',
  path,
  tag: 'Sessions',
  summary: 'Rename a session',
  description: 'Without a name, the title of a session is made of its first message.',
  pathParameters: InSession,
  body: { schema: RenameRequest, required: true },
  answers: { [JSON_TYPE]: RenameResponse },
  errors: ['MISSING_FIELD', 'SESSION_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'renamed',
      summary: 'A title that says more than the first message',
      parameters: { sessionId: 'background' },
      body: { title: 'Greetings' },
      answer: ok({ status: 'renamed', sessionId: 'background', title: 'Greetings' }),
    },
    { ...unknownSession, body: { title: 'Greetings' } },
  ],
};

const deleteSession: Operation = {
  id: 'deleteSession',
  scope: scopeOf('session.delete'),
  method: 'DELETE',
  path,
  tag: 'Sessions',
  summary: 'Erase a session',
  description: 'Cancels the turns of the session and removes its events from the log.',
  pathParameters: InSession,
  answers: { [JSON_TYPE]: DeleteSessionResponse },
  errors: ['SESSION_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'erased',
      summary: 'A session that is not needed any more',
      parameters: { sessionId: 'old' },
      answer: ok({ status: 'deleted', sessionId: 'old' }),
    },
    unknownSession,
  ],
};

/** One transparent pixel. */
const image = {
  base64: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  mimeType: 'image/png',
};

const sessionImage: Operation = {
  id: 'getSessionImage',
  scope: scopeOf('session.events'),
  method: 'GET',
  path: `${path}/images/:seq`,
  tag: 'Sessions',
  summary: 'The image of a message',
  description: 'For the `seq` of a `message` event that has an `image`.',
  pathParameters: ImagePath,
  answers: { [JSON_TYPE]: ImageResponse },
  errors: [],
  examples: [
    {
      name: 'image',
      summary: 'A picture of one pixel',
      parameters: { sessionId: 'pictured', seq: 1 },
      answer: ok({ image }),
    },
    {
      name: 'noImage',
      summary: 'The event is no message with an image',
      parameters: { sessionId: 'demo', seq: 1 },
      answer: {
        error: 'INVALID_REQUEST',
        message: 'The field seq is not valid: this event has no image.',
        details: {
          field: 'seq',
          issue: 'event 1 is no message with an image',
          suggestion: 'Use the `seq` of a `message` event with `image`.',
        },
      },
    },
  ],
};

const forkSession: Operation = {
  id: 'forkSession',
  scope: scopeOf('session.fork'),
  method: 'POST',
  path: `${path}/fork`,
  tag: 'Sessions',
  summary: 'Fork a session',
  description:
    'Creates a session with copies of the events up to `at`, which is the last event if absent. Without `sessionId`, an id is generated.',
  pathParameters: InSession,
  body: { schema: ForkRequest, required: false },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: ForkResponse },
  errors: ['OUTCOME_UNKNOWN', 'SESSION_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'named',
      summary: 'At an event, with an id',
      parameters: { sessionId: 'demo' },
      body: { at: 4, sessionId: 'other' },
      answer: ok({ status: 'forked', sessionId: 'other', from: 'demo', at: 4, head: 5 }),
    },
    {
      name: 'taken',
      summary: 'The id is taken',
      parameters: { sessionId: 'demo' },
      body: { sessionId: 'background' },
      answer: {
        error: 'INVALID_REQUEST',
        message: 'There is a session background already.',
        details: {
          field: 'sessionId',
          issue: 'the session exists',
          suggestion: 'Choose another id, or leave it out.',
        },
      },
    },
    unknownSession,
  ],
};

const cancelTurn: Operation = {
  id: 'cancelTurn',
  scope: scopeOf('turn.cancel'),
  method: 'POST',
  path: `${path}/cancel`,
  tag: 'Sessions',
  summary: 'Cancel the running turn',
  pathParameters: InSession,
  body: { schema: CancelRequest, required: false },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: CancelResponse },
  errors: ['OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'running',
      summary: 'A turn is running',
      parameters: { sessionId: 'busy' },
      body: { reason: 'it takes too long' },
      answer: ok({ status: 'cancelled', sessionId: 'busy' }),
    },
    {
      name: 'idle',
      summary: 'No turn is running, and nothing changes',
      parameters: { sessionId: 'demo' },
      answer: ok({ status: 'idle', sessionId: 'demo' }),
    },
  ],
};

const listApprovals: Operation = {
  id: 'listApprovals',
  scope: scopeOf('approval.list'),
  method: 'GET',
  path: '/api/approvals',
  tag: 'Sessions',
  summary: 'List the tool calls of all sessions that wait for approval',
  description: 'Oldest first. `count` also counts those beyond `limit`.',
  query: ApprovalsQuery,
  answers: { [JSON_TYPE]: ApprovalsResponse },
  errors: [],
  examples: [
    {
      name: 'oldest',
      summary: 'The call that has waited longest',
      parameters: { limit: 1 },
      answer: ok({ approvals: [{ sessionId: 'careful', ...waitingApproval }], count: 2 }),
    },
  ],
};

const answerApproval: Operation = {
  id: 'answerApproval',
  scope: scopeOf('approval.answer'),
  method: 'POST',
  path: `${path}/approvals/:callId`,
  tag: 'Sessions',
  summary: 'Approve or deny a waiting tool call',
  pathParameters: InSession.extend({ callId: CallId }),
  body: { schema: ApprovalRequest, required: true },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: ApprovalResponse },
  errors: ['MISSING_FIELD', 'APPROVAL_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'approve',
      summary: 'Approve the call with exactly these arguments',
      parameters: { sessionId: 'careful', callId: 'call_1_1' },
      body: {
        decision: 'approve',
        argumentsHash: 'adbd982b8fe0bbd8477f09262028d3ac264001dc36e3c7579905e72c0b718755',
      },
      answer: ok({ status: 'approved', sessionId: 'careful', callId: 'call_1_1' }),
    },
    {
      name: 'deny',
      summary: 'Deny the call; the model gets the reason',
      parameters: { sessionId: 'wary', callId: 'call_1_1' },
      body: { decision: 'deny', reason: 'not today' },
      answer: ok({ status: 'denied', sessionId: 'wary', callId: 'call_1_1' }),
    },
    {
      name: 'unknown',
      summary: 'No such call is waiting',
      parameters: { sessionId: 'demo', callId: 'call_9_9' },
      body: { decision: 'approve' },
      answer: { error: 'APPROVAL_NOT_FOUND', ...errorExamples.APPROVAL_NOT_FOUND },
    },
  ],
};

const answerCall: Operation = {
  id: 'answerToolCall',
  scope: scopeOf('tool-call.answer'),
  method: 'POST',
  path: `${path}/calls/:callId`,
  tag: 'Sessions',
  summary: 'Answer a call of a tool that the client has lent',
  description:
    'For the calls of `clientTools`: the frame `clientToolCall` tells of them, and `clientCalls` of the session lists them. The turn goes on when all calls of its step have a result.',
  pathParameters: InSession.extend({ callId: CallId }),
  body: { schema: CallAnswerRequest, required: true },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: CallAnswerResponse },
  errors: ['MISSING_FIELD', 'CALL_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'answer',
      summary: 'The result of the call',
      parameters: { sessionId: 'painting', callId: 'call_1_1' },
      body: { content: 'green' },
      answer: ok({ status: 'answered', sessionId: 'painting', callId: 'call_1_1' }),
    },
    {
      name: 'noCall',
      summary: 'No such call is waiting',
      parameters: { sessionId: 'demo', callId: 'call_9_9' },
      body: { content: 'green' },
      answer: { error: 'CALL_NOT_FOUND', ...errorExamples.CALL_NOT_FOUND },
    },
  ],
};

const listInputs: Operation = {
  id: 'listInputs',
  scope: scopeOf('input.list'),
  method: 'GET',
  path: '/api/inputs',
  tag: 'Sessions',
  summary: 'List what tool servers ask in all sessions',
  description: 'Oldest first. `count` also counts those beyond `limit`.',
  query: ApprovalsQuery,
  answers: { [JSON_TYPE]: InputsResponse },
  errors: [],
  examples: [
    {
      name: 'oldestQuestion',
      summary: 'The question that has waited longest',
      parameters: { limit: 1 },
      answer: ok({ inputs: [{ sessionId: 'asked', ...waitingInput }], count: 2 }),
    },
  ],
};

const answerInput: Operation = {
  id: 'answerInput',
  scope: scopeOf('input.answer'),
  method: 'POST',
  path: `${path}/inputs/:inputId`,
  tag: 'Sessions',
  summary: 'Answer what a tool server asks',
  description:
    'A tool server may ask a person something while it works on a call: the frame `inputRequired` tells of it, and `inputs` of the session lists it. The `content` is checked against the form, and fields that are absent get their defaults. A question can be answered once.',
  pathParameters: InSession.extend({ inputId: InputId }),
  body: { schema: InputRequest, required: true },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: InputResponse },
  errors: ['MISSING_FIELD', 'INPUT_NOT_FOUND', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'accept',
      summary: 'The data that the form asks for',
      parameters: { sessionId: 'asked', inputId: 'call_1_1.1.1' },
      body: { action: 'accept', content: { size: 'large' } },
      answer: ok({ status: 'answered', sessionId: 'asked', inputId: 'call_1_1.1.1' }),
    },
    {
      name: 'decline',
      summary: 'Somebody does not want to answer',
      parameters: { sessionId: 'shy', inputId: 'call_1_1.1.1' },
      body: { action: 'decline' },
      answer: ok({ status: 'answered', sessionId: 'shy', inputId: 'call_1_1.1.1' }),
    },
    {
      name: 'noQuestion',
      summary: 'No such question waits',
      parameters: { sessionId: 'demo', inputId: 'call_9_9.1.1' },
      body: { action: 'decline' },
      answer: { error: 'INPUT_NOT_FOUND', ...errorExamples.INPUT_NOT_FOUND },
    },
  ],
};

const readEvents: Operation = {
  id: 'readEvents',
  scope: scopeOf('session.events'),
  method: 'GET',
  path: `${path}/events`,
  tag: 'Sessions',
  summary: 'Read the events of a session, or follow them',
  description:
    'A page of the log as JSON. A client that accepts `text/event-stream` gets the frames of the WebSocket as server-sent events, first from the log and then live. `Last-Event-ID` resumes after that event.',
  pathParameters: InSession,
  query: EventsQuery,
  headers: z.object({
    'Last-Event-ID': z
      .string()
      .optional()
      .describe('The last id that the client received: `SEQ`, or `SEQ.OFFSET` within a reply.'),
  }),
  answers: {
    [JSON_TYPE]: EventsResponse,
    [EVENT_STREAM_TYPE]: z
      .string()
      .describe('Each event is a frame of the WebSocket interface; see `/asyncapi.json`.'),
  },
  errors: [],
  examples: [
    {
      name: 'page',
      summary: 'The first event of the log',
      parameters: { sessionId: 'demo', limit: 1 },
      answer: ok({
        sessionId: 'demo',
        events: [
          {
            event: 'message',
            data: { content: 'hello' },
            seq: 1,
            turnId,
            actor: { kind: 'client' },
            time: timestamp,
          },
        ],
        after: 0,
        head: 4,
      }),
    },
    {
      name: 'stream',
      summary: 'The events after the third one',
      parameters: { sessionId: 'demo', 'Last-Event-ID': '3' },
      answer: {
        status: 200,
        mediaType: EVENT_STREAM_TYPE,
        body: `retry: 1000\ndata: {"event":"resumed","data":{"after":3,"head":4}}\n\nid: 4\ndata: {"event":"response","data":{"content":"Hello!"},"seq":4,"turnId":"${turnId}","actor":{"kind":"agent"}}\n\n`,
      },
    },
  ],
};

const exportSession: Operation = {
  id: 'exportSession',
  scope: scopeOf('session.events'),
  method: 'GET',
  path: `${path}/export`,
  tag: 'Sessions',
  summary: 'Export all events of a session',
  description:
    'JSON Lines, one event with its metadata a line, as `agent-service export` prints them and `agent-service import` reads them.',
  pathParameters: InSession,
  answers: { [EXPORT_TYPE]: z.string() },
  errors: ['SESSION_NOT_FOUND'],
  examples: [
    {
      name: 'lines',
      summary: 'The first two events',
      parameters: { sessionId: 'demo' },
      answer: { status: 200, mediaType: EXPORT_TYPE, body: exportedLines },
    },
    unknownSession,
  ],
};

/** Sessions: list, present and past state, events, and control of their turns. */
export const sessionOperations: readonly Operation[] = [
  listSessions,
  viewSession,
  readEvents,
  exportSession,
  sessionImage,
  forkSession,
  cancelTurn,
  listApprovals,
  answerApproval,
  answerCall,
  listInputs,
  answerInput,
  renameSession,
  deleteSession,
];
