import { z } from 'zod';
import { InvalidAnswerError } from './rpc-errors.ts';
import { RequestId, RpcMessage } from './rpc-message.ts';

/** An answer that breaks the rules of JSON-RPC or MCP, such as an error whose code is a text, or a result of null. */
export interface InvalidAnswer {
  /** Missing if it says of no request that it is the answer to it. */
  readonly id?: RequestId | undefined;
  readonly invalid: InvalidAnswerError;
}

export type ReceivedMessage = RpcMessage | InvalidAnswer;

const AnswerHead = z.object({ id: RequestId.optional().catch(undefined) });
const ErrorText = z.union([
  z.string(),
  z.object({ message: z.string() }).transform(({ message }) => message),
]);

/**
 * Reads what the other end sent, parsed as JSON. An answer that is not valid settles its request, too: nothing else will.
 *
 * @param about the request that it came for, where the transport knows. An answer that names no request is for this one.
 * @throws if it is no message at all.
 */
export function receivedMessage(value: unknown, about?: RequestId): ReceivedMessage {
  const parsed = RpcMessage.safeParse(value);
  const message = parsed.success ? parsed.data : invalidAnswer(value, parsed.error);
  const isNameless = !('method' in message) && (message.id ?? undefined) === undefined;
  return isNameless && about !== undefined ? { ...message, id: about } : message;
}

/** Lines of a log may be objects with an id, too. */
function invalidAnswer(value: unknown, cause: Error): InvalidAnswer {
  const isObject = typeof value === 'object' && value !== null && !('method' in value);
  if (!isObject || !('result' in value || 'error' in value)) throw cause;
  const said = 'error' in value ? ErrorText.safeParse(value.error).data : undefined;
  return { ...AnswerHead.parse(value), invalid: new InvalidAnswerError(cause, said) };
}
