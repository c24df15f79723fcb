import { z } from 'zod';
import { scopesOfAll } from '../../../ports/request-rules.ts';
import { RunInput } from '../../ag-ui/run-input.ts';
import { EVENT_STREAM_TYPE, type Operation } from './operation.ts';

const threadId = 'page-7c2e';
const runId = 'run-1';
const turnId = '0b9f6a1c-6f0e-4a53-9d51-0d2f3f1c7f0e';
const input = {
  threadId,
  runId,
  messages: [{ id: 'message-1', role: 'user', content: 'hello' }],
};
const session = { id: threadId, turnId, status: 'queued', head: 0, approvals: [], inputs: [] };
const stream = [
  { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' },
  { type: 'STATE_SNAPSHOT', snapshot: { session } },
  { type: 'STEP_STARTED', stepName: 'step-1' },
];

/** AG-UI. */
export const agUiOperations: readonly Operation[] = [
  {
    id: 'runAgent',
    scope: scopesOfAll('turn.start', 'session.events'),
    method: 'POST',
    path: '/ag-ui',
    tag: 'AG-UI',
    summary: 'Run the agent for a page',
    description:
      'A run answers the newest message, goes on where interrupts or calls of the client’s tools are answered, or shows the thread and follows what happens in it. The answer is a stream of the events of AG-UI 1.0. To decide about calls that wait for approval also needs the scope `approvals:decide`.',
    body: { schema: RunInput, required: true },
    answers: { [EVENT_STREAM_TYPE]: z.string().describe('The data of each event is an event of AG-UI 1.0.') },
    errors: [
      ...(['MISSING_FIELD', 'APPROVAL_NOT_FOUND', 'INPUT_NOT_FOUND'] as const),
      ...(['CALL_NOT_FOUND', 'SESSION_NOT_FOUND'] as const),
      ...(['SESSION_BUSY', 'IDEMPOTENCY_KEY_REUSED', 'OUTCOME_UNKNOWN', 'SERVICE_UNAVAILABLE'] as const),
    ],
    examples: [
      {
        name: 'hello',
        summary: 'A message in a new thread',
        body: input,
        answer: {
          status: 200,
          mediaType: EVENT_STREAM_TYPE,
          body: stream.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
        },
      },
      {
        name: 'stale',
        summary: 'Nothing waits for the answer',
        body: {
          ...input,
          resume: [{ interruptId: 'call_9_9', status: 'resolved', payload: { approved: true } }],
        },
        answer: {
          error: 'APPROVAL_NOT_FOUND',
          message: 'The thread has no interrupt with that id.',
          details: {
            field: 'resume',
            interruptId: 'call_9_9',
            suggestion:
              'The interrupts are in the outcome of RUN_FINISHED. To let go of one that is over, send its entry with the status cancelled.',
          },
        },
      },
    ],
  },
];
