import { scopeOf, scopesOfAll } from '../../../ports/request-rules.ts';
import { MessageRequest, MessageSyncRequest, ResetRequest } from '../../../wire/requests.ts';
import { MessageResponse, MessageSyncResponse, ResetResponse } from '../../../wire/responses.ts';
import { errorExamples } from './error-examples.ts';
import {
  JSON_TYPE,
  KeyHeader,
  type Operation,
  type OperationExample,
  ok,
  waitingApproval,
} from './operation.ts';

const withoutMessage: OperationExample = {
  name: 'missing',
  summary: 'A field is missing',
  body: {},
  answer: { error: 'MISSING_FIELD', ...errorExamples.MISSING_FIELD },
};

/** Messages to the agent, and the reset of its conversation. */
export const messageOperations: readonly Operation[] = [
  {
    id: 'sendMessageAndWait',
    scope: scopesOfAll('turn.start', 'session.events'),
    method: 'POST',
    path: '/api/message-sync',
    tag: 'Messages',
    summary: 'Send a message and wait for the reply',
    description:
      'Also waits while a tool call of its turn, or of a turn before it, waits for approval. With `whenBusy: reject` it is refused instead, and the error names the calls.',
    headers: KeyHeader,
    body: { schema: MessageSyncRequest, required: true },
    answers: { [JSON_TYPE]: MessageSyncResponse },
    errors: [
      'MISSING_FIELD',
      'SESSION_BUSY',
      'TURN_CANCELLED',
      'AGENT_ERROR',
      'OUTCOME_UNKNOWN',
      'SERVICE_UNAVAILABLE',
    ],
    examples: [
      {
        name: 'tool',
        summary: 'A reply that needs a tool',
        body: { message: 'use get-sum {"a": 19, "b": 23}' },
        answer: ok({
          success: true,
          response: 'I am calling `get-sum`.\n\nget-sum answered:\nThe sum of 19 and 23 is 42.',
        }),
      },
      {
        name: 'image',
        summary: 'With an image, a session, and a key that makes it safe to repeat',
        parameters: { 'Idempotency-Key': '4f1c6b8e-image' },
        body: {
          message: 'What is this?',
          imageData: {
            base64:
              'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
            mimeType: 'image/png',
          },
          sessionId: 'pictures',
        },
        answer: ok({ success: true, response: 'What a nice picture.' }),
      },
      withoutMessage,
      {
        name: 'agentFailure',
        summary: 'The model failed',
        body: { message: 'fail', sessionId: 'failing' },
        answer: { error: 'AGENT_ERROR', ...errorExamples.AGENT_ERROR },
      },
      {
        name: 'busy',
        summary: 'The session is busy, and the message asks not to wait',
        body: { message: 'hello', sessionId: 'busy', whenBusy: 'reject' },
        answer: { error: 'SESSION_BUSY', ...errorExamples.SESSION_BUSY },
      },
    ],
  },
  {
    id: 'sendMessage',
    scope: scopeOf('turn.start'),
    method: 'POST',
    path: '/api/message',
    tag: 'Messages',
    summary: 'Send a message; the reply arrives as events',
    description:
      'Answered when the message is in the log. The reply arrives over WebSocket and as server-sent events. The message is text only.',
    headers: KeyHeader,
    body: { schema: MessageRequest, required: true },
    answers: { [JSON_TYPE]: MessageResponse },
    errors: ['MISSING_FIELD', 'SESSION_BUSY', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
    examples: [
      {
        name: 'text',
        summary: 'A message',
        body: { message: 'hello', sessionId: 'background' },
        answer: ok({ status: 'processing' }),
      },
      {
        name: 'queued',
        summary: 'The session waits for approval, so the message waits, too',
        body: { message: 'hello', sessionId: 'careful' },
        answer: ok({
          status: 'processing',
          queued: {
            message:
              'The message waits behind a turn that needs approval. echo (call call_1_1) waits: approve or deny it in the console, or with POST /api/sessions/careful/approvals/call_1_1.',
            approvals: [waitingApproval],
          },
        }),
      },
      withoutMessage,
    ],
  },
  {
    id: 'resetConversation',
    scope: scopeOf('session.reset'),
    method: 'POST',
    path: '/api/reset',
    tag: 'Messages',
    summary: 'Reset the conversation',
    description:
      'Clears the conversation for the model, and cancels running and waiting turns. The log keeps the earlier events.',
    headers: KeyHeader,
    body: { schema: ResetRequest, required: false },
    answers: { [JSON_TYPE]: ResetResponse },
    errors: ['OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'],
    examples: [
      {
        name: 'session',
        summary: 'A named session',
        body: { sessionId: 'background' },
        answer: ok({ status: 'reset initiated' }),
      },
      {
        name: 'default',
        summary: 'The default session, without a body',
        answer: ok({ status: 'reset initiated' }),
      },
    ],
  },
];
