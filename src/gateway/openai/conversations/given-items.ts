import type { GivenMessage } from '../../../core/conversation/given-message.ts';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import type { ServedRequest } from '../../http/http-message.ts';
import { callsBefore } from '../calls-before.ts';
import { isInstruction } from '../chat/chat-request.ts';
import { givenHistory } from '../chat/given-conversation.ts';
import { inputMessages } from '../responses/input-messages.ts';
import { itemsInPlace } from '../responses/item-references.ts';
import type { InputItem } from '../responses/response-request.ts';
import type { ResponsesDeps } from '../responses/whole-response.ts';

/**
 * Items that a client adds to a conversation, as the service takes them.
 *
 * @param sessionId of a conversation that there is: the results may be of calls that were added to it before.
 */
export async function givenMessages(
  { bus, maxImageBytes }: ResponsesDeps,
  request: ServedRequest,
  items: readonly InputItem[],
  sessionId?: SessionId,
): Promise<readonly GivenMessage[]> {
  const field = 'items';
  const asker = { bus, context: request.context, agentId: request.context.agent };
  const messages = inputMessages(await itemsInPlace(asker, items, { field }), field);
  const calls =
    sessionId === undefined ? undefined : await callsBefore(bus, { sessionId, messages }, request.context);
  const { instructions, history } = givenHistory(messages, { maxImageBytes, ...(calls && { calls }) });
  if (instructions.length === 0) return history;
  const instruction = messages.find(({ message }) => isInstruction(message));
  throw new ServiceError('INVALID_REQUEST', 'A conversation has no messages of the system or a developer.', {
    field: instruction?.fields.whole ?? field,
    issue: 'its role is system or developer',
    suggestion: 'Send instructions with each response.',
  });
}
