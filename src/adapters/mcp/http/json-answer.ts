import { MAX_MESSAGE_BYTES, MessageTooLargeError } from '../message-limit.ts';
import { type ReceivedMessage, receivedMessage } from '../peer/received-message.ts';
import { InvalidAnswerError } from '../peer/rpc-errors.ts';
import { type RequestId, RpcMessage } from '../peer/rpc-message.ts';
import { boundedText } from './bounded-text.ts';

/** Reads the body of JSON that answers the request. Older revisions answer with several messages at once. */
export async function messagesOf(response: Response, about: RequestId): Promise<ReceivedMessage[]> {
  const { text, isCut } = await boundedText(response, MAX_MESSAGE_BYTES);
  if (isCut) throw new MessageTooLargeError();
  try {
    const body: unknown = JSON.parse(text);
    return (Array.isArray(body) ? body : [body]).map((message) => receivedMessage(message, about));
  } catch (error) {
    throw new InvalidAnswerError(error);
  }
}

/** The error of JSON-RPC in the body of an error of HTTP, if there is one. */
export function errorIn(text: string) {
  try {
    const message = RpcMessage.safeParse(JSON.parse(text));
    return message.success && 'error' in message.data ? message.data : undefined;
  } catch {
    return undefined;
  }
}
