import { z } from 'zod';
import { SessionId } from '../../../core/ids.ts';
import { LOG_FORMAT } from '../../../core/log/event-codec.ts';
import { scopeOf } from '../../../ports/request-rules.ts';
import {
  CancelRequest,
  EventsQuery,
  ForkRequest,
  ImagePath,
  RenameRequest,
  SessionQuery,
  SessionsQuery,
} from '../../../wire/requests.ts';
import {
  CancelResponse,
  DeleteSessionResponse,
  EventsResponse,
  ForkResponse,
  ImageResponse,
  RenameResponse,
  SessionResponse,
  SessionsResponse,
} from '../../../wire/responses.ts';
import { JSON_LINES } from '../../http/json-lines.ts';
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
  errors: ['SESSION_NOT_FOUND'],
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
    { ...unknownSession, parameters: { sessionId: 'nobody', seq: 1 } },
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
  answers: { [JSON_LINES]: z.string() },
  errors: ['SESSION_NOT_FOUND'],
  examples: [
    {
      name: 'lines',
      summary: 'The first two events',
      parameters: { sessionId: 'demo' },
      answer: { status: 200, mediaType: JSON_LINES, body: exportedLines },
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
  renameSession,
  deleteSession,
];
