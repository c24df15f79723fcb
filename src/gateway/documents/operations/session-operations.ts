import { z } from 'zod';
import { CallId, SessionId } from '../../../core/ids.ts';
import {
  ApprovalRequest,
  CancelRequest,
  EventsQuery,
  ForkRequest,
  SessionQuery,
  SessionsQuery,
} from '../../../wire/requests.ts';
import {
  ApprovalResponse,
  CancelResponse,
  DeleteSessionResponse,
  EventsResponse,
  ForkResponse,
  SessionResponse,
  SessionsResponse,
} from '../../../wire/responses.ts';
import { errorExamples } from './error-examples.ts';
import {
  EVENT_STREAM_TYPE,
  JSON_TYPE,
  KeyHeader,
  type Operation,
  type OperationExample,
  ok,
  EXAMPLE_TIME as timestamp,
} from './operation.ts';

const path = '/api/sessions/:sessionId';
const InSession = z.object({ sessionId: SessionId });
const turnId = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';

const unknownSession: OperationExample = {
  name: 'unknown',
  summary: 'There is no such session',
  parameters: { sessionId: 'nobody' },
  answer: { error: 'SESSION_NOT_FOUND', ...errorExamples.SESSION_NOT_FOUND },
};

const listSessions: Operation = {
  id: 'listSessions',
  method: 'GET',
  path: '/api/sessions',
  tag: 'Sessions',
  summary: 'List the sessions',
  description: 'In the order of their ids. The next page is after the last id of this one.',
  query: SessionsQuery,
  answers: { [JSON_TYPE]: SessionsResponse },
  errors: [],
  examples: [
    {
      name: 'page',
      summary: 'One session, behind another one',
      parameters: { after: 'careful', limit: 1 },
      answer: ok({
        sessions: [
          { sessionId: 'default', status: 'idle', head: 8, createdAt: timestamp, updatedAt: timestamp },
        ],
      }),
    },
    {
      name: 'badLimit',
      summary: 'A parameter that is no number',
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
  method: 'GET',
  path,
  tag: 'Sessions',
  summary: 'Look at a session, now or at a moment of its past',
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

const deleteSession: Operation = {
  id: 'deleteSession',
  method: 'DELETE',
  path,
  tag: 'Sessions',
  summary: 'Erase a session',
  description: 'What runs in it is cancelled, and its events are removed from the log.',
  pathParameters: InSession,
  answers: { [JSON_TYPE]: DeleteSessionResponse },
  errors: ['SESSION_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'erased',
      summary: 'A session that nobody needs any more',
      parameters: { sessionId: 'old' },
      answer: ok({ status: 'deleted', sessionId: 'old' }),
    },
    unknownSession,
  ],
};

const forkSession: Operation = {
  id: 'forkSession',
  method: 'POST',
  path: `${path}/fork`,
  tag: 'Sessions',
  summary: 'Begin a session with the past of another one',
  description: 'Both share the events up to `at`. Left out, it is the last event; a `sessionId` is made.',
  pathParameters: InSession,
  body: { schema: ForkRequest, required: false },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: ForkResponse },
  errors: ['OUTCOME_UNKNOWN', 'SESSION_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'named',
      summary: 'From a moment, with a name',
      parameters: { sessionId: 'demo' },
      body: { at: 4, sessionId: 'other' },
      answer: ok({ status: 'forked', sessionId: 'other', from: 'demo', at: 4, head: 5 }),
    },
    {
      name: 'taken',
      summary: 'The name is taken',
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
  method: 'POST',
  path: `${path}/cancel`,
  tag: 'Sessions',
  summary: 'Cancel the running turn',
  pathParameters: InSession,
  body: { schema: CancelRequest, required: false },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: CancelResponse },
  errors: ['SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'running',
      summary: 'A turn runs',
      parameters: { sessionId: 'busy' },
      body: { reason: 'it takes too long' },
      answer: ok({ status: 'cancelled', sessionId: 'busy' }),
    },
    {
      name: 'idle',
      summary: 'Nothing runs, and nothing is changed',
      parameters: { sessionId: 'demo' },
      answer: ok({ status: 'idle', sessionId: 'demo' }),
    },
  ],
};

const answerApproval: Operation = {
  id: 'answerApproval',
  method: 'POST',
  path: `${path}/approvals/:callId`,
  tag: 'Sessions',
  summary: 'Approve or deny a tool call that waits for it',
  pathParameters: InSession.extend({ callId: CallId }),
  body: { schema: ApprovalRequest, required: true },
  headers: KeyHeader,
  answers: { [JSON_TYPE]: ApprovalResponse },
  errors: ['MISSING_FIELD', 'APPROVAL_NOT_FOUND', 'SERVICE_UNAVAILABLE'],
  examples: [
    {
      name: 'approve',
      summary: 'It may be run, with exactly these arguments',
      parameters: { sessionId: 'careful', callId: 'call_1_1' },
      body: {
        decision: 'approve',
        argumentsHash: 'adbd982b8fe0bbd8477f09262028d3ac264001dc36e3c7579905e72c0b718755',
      },
      answer: ok({ status: 'approved', sessionId: 'careful', callId: 'call_1_1' }),
    },
    {
      name: 'deny',
      summary: 'It is not to be run, and the model is told why',
      parameters: { sessionId: 'wary', callId: 'call_1_1' },
      body: { decision: 'deny', reason: 'not today' },
      answer: ok({ status: 'denied', sessionId: 'wary', callId: 'call_1_1' }),
    },
    {
      name: 'unknown',
      summary: 'No such call waits',
      parameters: { sessionId: 'demo', callId: 'call_9_9' },
      body: { decision: 'approve' },
      answer: { error: 'APPROVAL_NOT_FOUND', ...errorExamples.APPROVAL_NOT_FOUND },
    },
  ],
};

const readEvents: Operation = {
  id: 'readEvents',
  method: 'GET',
  path: `${path}/events`,
  tag: 'Sessions',
  summary: 'Read the events of a session, or follow them',
  description:
    'As JSON a page of the log. A client that accepts `text/event-stream` gets the frames of the WebSocket as server-sent events, and what follows as it happens; `Last-Event-ID` goes on where the client was.',
  pathParameters: InSession,
  query: EventsQuery,
  headers: z.object({
    'Last-Event-ID': z
      .string()
      .optional()
      .describe('The last id that was received: `SEQ`, or `SEQ.OFFSET` within a reply.'),
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
        events: [{ event: 'message', data: { content: 'hello' }, seq: 1, turnId, time: timestamp }],
        after: 0,
        head: 4,
      }),
    },
    {
      name: 'stream',
      summary: 'What follows the third event',
      parameters: { sessionId: 'demo', 'Last-Event-ID': '3' },
      answer: {
        status: 200,
        mediaType: EVENT_STREAM_TYPE,
        body: `retry: 1000\ndata: {"event":"resumed","data":{"after":3,"head":4}}\n\nid: 4\ndata: {"event":"response","data":{"content":"Hello!"},"seq":4,"turnId":"${turnId}"}\n\n`,
      },
    },
  ],
};

/** Sessions: which there are, how they look and looked, their events, and control of their turns. */
export const sessionOperations: readonly Operation[] = [
  listSessions,
  viewSession,
  readEvents,
  forkSession,
  cancelTurn,
  answerApproval,
  deleteSession,
];
