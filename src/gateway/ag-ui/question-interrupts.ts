import type { TurnId } from '../../core/ids.ts';
import type { PendingInput } from '../../core/session/session-view.ts';
import type { InputQuestion } from '../../core/tool-call/input-events.ts';
import type { Interrupt } from './ag-ui-events.ts';

const PREFIX = 'input~';

/** The id of an approval begins with that of its turn, and is never taken for one of these. */
export function questionId({ turnId, inputId }: Pick<PendingInput, 'turnId' | 'inputId'>): string {
  return `${PREFIX}${turnId}~${inputId}`;
}

export function isQuestionId(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** Whether the id is one of a question that was asked in this turn. */
export function isAskedIn(id: string, turnId: TurnId): boolean {
  return id.startsWith(questionId({ turnId, inputId: '' }));
}

/** What the server of a call asks, as an interrupt of the run. */
export function questionInterrupt(asked: PendingInput): Interrupt {
  const { callId, toolName, serverId, inputId, question, since, expiresAt } = asked;
  return {
    id: questionId(asked),
    reason: 'input_required',
    message: messageFor(asked),
    toolCallId: callId,
    responseSchema: responseSchemaFor(question),
    ...(expiresAt !== undefined && { expiresAt }),
    metadata: { toolName, serverId, inputId, question, since },
  };
}

/** Some pages show nothing but the message, and nobody should agree to visit an address that is not shown. */
function messageFor({ toolName, message, question }: PendingInput): string {
  const address = question.mode === 'url' ? ` ${question.url}` : '';
  return `The tool ${toolName} asks: ${message}${address}`;
}

function responseSchemaFor(question: InputQuestion): object {
  switch (question.mode) {
    case 'form':
      return question.schema;
    case 'url':
      return consentTo('Whether somebody visits the address.');
    case 'sampling':
      return consentTo('Whether the server may ask the model of the agent.');
    default:
      return question satisfies never;
  }
}

/** The field is called as it is for approvals. */
function consentTo(description: string): object {
  return {
    type: 'object',
    properties: { approved: { type: 'boolean', description } },
    required: ['approved'],
  };
}
