import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { PendingInput } from '../../../core/session/session-view.ts';
import type { AnswerInput } from '../../../core/tool-call/input-commands.ts';
import { InputAction, type InputQuestion } from '../../../core/tool-call/input-events.ts';
import { knowsAddresses, knowsForms } from '../../../core/tool-server/elicitation.ts';
import { visible } from '../../../core/visible.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import type { Answered } from './asked-client.ts';

/* What a tool server asks, passed on to the MCP client (elicitation). */

const Answer = z.object({ action: InputAction, content: z.record(z.string(), z.unknown()).nullish() });
type Answer = z.infer<typeof Answer>;
const Consent = z.object({ approve: z.boolean() });

/** Whether the client can ask its user, who may answer. */
export function canAnswer({ question }: PendingInput, { clientCapabilities, context }: McpCall): boolean {
  const isKnown =
    question.mode === 'url' ? knowsAddresses(clientCapabilities) : knowsForms(clientCapabilities);
  return isKnown && (context.rights?.scopes.has('sessions:write') ?? true);
}

export function inputQuestion({ inputId, toolName, message, question }: PendingInput): McpObject {
  const said = `The tool ${toolName} asks: ${message}`;
  switch (question.mode) {
    case 'form':
      return { message: said, requestedSchema: question.schema };
    case 'url':
      return { mode: 'url', message: said, url: question.url, elicitationId: inputId };
    case 'sampling':
      return {
        message: `${said}\n\n${visible(question.prompt)}`,
        requestedSchema: {
          type: 'object',
          properties: {
            approve: {
              type: 'boolean',
              title: 'Approve',
              description: 'Whether the model may be asked this.',
            },
          },
          required: ['approve'],
        },
      };
    default:
      return question satisfies never;
  }
}

/** Does what the client answered. The service checks the data; if they are wrong, the question waits on. */
export async function answerInput(
  bus: Bus,
  { sessionId, input: { inputId, question }, answer }: ClientInput,
  { context }: Pick<McpCall, 'context'>,
): Promise<Answered> {
  const { data } = Answer.safeParse(answer);
  if (!data) return 'unreadable';
  try {
    await bus.send('input.answer', { sessionId, inputId, ...givenTo(question, data) }, context);
  } catch (thrown) {
    if (thrown instanceof ServiceError && thrown.code === 'INVALID_REQUEST') return 'unreadable';
    // Somebody else was first, or the server does not wait any more.
    if (!(thrown instanceof ServiceError && thrown.code === 'INPUT_NOT_FOUND')) throw thrown;
  }
  return 'answered';
}

/** Only a form that is filled in has data for the server. For sampling, one that is filled in with no is a no. */
function givenTo(
  { mode }: InputQuestion,
  { action, content }: Answer,
): Pick<AnswerInput, 'action' | 'content'> {
  if (action !== 'accept' || mode === 'url') return { action };
  if (mode === 'form') return { action, content: content ?? undefined };
  return { action: Consent.safeParse(content).data?.approve === true ? 'accept' : 'decline' };
}

interface ClientInput {
  readonly sessionId: SessionId;
  readonly input: PendingInput;
  readonly answer: unknown;
}
