import { z } from 'zod';
import { CallId, SessionId } from '../../../core/ids.ts';
import { InputId } from '../../../core/tool-call/input-events.ts';
import { scopeOf } from '../../../ports/request-rules.ts';
import {
  ApprovalRequest,
  ApprovalsQuery,
  CallAnswerRequest,
  InputRequest,
  InputsQuery,
} from '../../../wire/requests.ts';
import {
  ApprovalResponse,
  ApprovalsResponse,
  CallAnswerResponse,
  InputResponse,
  InputsResponse,
} from '../../../wire/responses.ts';
import { errorExamples } from './error-examples.ts';
import { JSON_TYPE, KeyHeader, type Operation, ok, waitingApproval, waitingInput } from './operation.ts';

const path = '/api/sessions/:sessionId';
const InSession = z.object({ sessionId: SessionId });

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
  query: InputsQuery,
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

/** Tool calls that wait for somebody: for approval, for the client that lent the tool, or for an answer. */
export const waitingCallOperations: readonly Operation[] = [
  listApprovals,
  answerApproval,
  answerCall,
  listInputs,
  answerInput,
];
