import { z } from 'zod';
import type { JsonObject } from '../../core/json-object.ts';
import type { JsonRpcAnswer } from '../../core/json-rpc.ts';
import { shorten } from '../../core/shorten.ts';
import type { CallableTool } from '../../core/tool-server/forwarded-request.ts';
import type { ServerQuestion } from '../../core/tool-server/server-question.ts';
import { visible } from '../../core/visible.ts';

const MAX_ARGUMENT_CHARACTERS = 2_000;

const Answer = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.object({ approve: z.boolean(), reason: z.string().optional() }).optional(),
});

/** Asks the client who calls a tool whether the call may be made. */
export function approvalQuestion({ serverId, toolName }: CallableTool, params: JsonObject): ServerQuestion {
  const args = visible(JSON.stringify(params.arguments ?? {}));
  const shown = shorten(args, MAX_ARGUMENT_CHARACTERS);
  return {
    method: 'elicitation/create',
    params: {
      mode: 'form',
      message: `Allow the tool ${toolName} of the server ${serverId} to run with these arguments? ${shown}`,
      requestedSchema: {
        type: 'object',
        properties: {
          approve: { type: 'boolean', title: 'Allow', description: 'Whether the tool may run.' },
          reason: { type: 'string', title: 'Reason', description: 'Why it may not.' },
        },
        required: ['approve'],
      },
    },
  };
}

/** What the client has decided. */
export function decisionOf(result: JsonObject): { approved: true } | { approved: false; reason: string } {
  const { data } = Answer.safeParse(result);
  if (data?.action === 'accept' && data.content?.approve === true) return { approved: true };
  return { approved: false, reason: notApproved(data?.content?.reason ?? 'no reason was given') };
}

export function notApproved(reason: string): string {
  return `The call was not approved: ${reason}.`;
}

/** A call that was not made, as a result that a model can read. */
export function refusedCall(text: string): JsonRpcAnswer {
  return { result: { content: [{ type: 'text', text }], isError: true } };
}
