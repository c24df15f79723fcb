import { withUserText } from '../../core/conversation/model-conversation.ts';
import type { ModelReply, ModelRequest } from '../../ports/language-model.ts';
import { EmptyReply } from '../failures/empty-reply.ts';

const GO_ON =
  'Your last reply was empty, so the user has seen nothing. Go on, or say in a sentence how the task ended.';

/**
 * Makes a request. A model that answers nothing is asked once more, with a request to go on that no log keeps. After the
 * results of tools, some models take the turn for finished, and answer nothing however often the same request is sent.
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons#empty-responses-with-end-turn
 * https://github.com/google-gemini/gemini-cli/issues/28351
 */
export async function askedToGoOn(
  request: ModelRequest,
  call: (request: ModelRequest) => Promise<ModelReply>,
): Promise<ModelReply> {
  try {
    return await call(request);
  } catch (error) {
    if (!(error instanceof EmptyReply)) throw error;
    const reply = await call({ ...request, messages: withUserText(request.messages, GO_ON) });
    return error.thoughts.length === 0 ? reply : { ...reply, parts: [...error.thoughts, ...reply.parts] };
  }
}
