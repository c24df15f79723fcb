import { ServiceError } from '../../../core/errors.ts';
import type { TurnOptions } from '../../../core/turn/turn-options.ts';
import { recordedTurn } from '../../turns/recorded-turn.ts';
import { startTurn } from '../../turns/started-turn.ts';
import { turnMessage } from '../../turns/turn-message.ts';
import { askedOptions } from '../asked-options.ts';
import { callsBefore } from '../calls-before.ts';
import { givenConversation } from '../chat/given-conversation.ts';
import type { PlacedMessage } from '../chat/placed-message.ts';
import { answersBeforeMessage, behindResults, toolAnswers } from '../chat/tool-answers.ts';
import { withSchemaNamed } from '../output-format.ts';
import { type AskedResponse, type BegunResponse, isUnstored } from './asked-response.ts';
import { continued, noOutput } from './continued-response.ts';
import { inputMessages } from './input-messages.ts';
import { itemsInPlace } from './item-references.ts';
import { type ResponsePlace, responsePlace } from './response-id.ts';
import type { ResponseNote } from './response-object.ts';
import type { ResponseRequest } from './response-request.ts';
import { forgetFork, type Start, startOf } from './response-start.ts';

/** How often a turn is looked at again after another message came first. */
const LOOKS = 3;

/** Answers the calls that a turn waits for, or starts a turn: in the session of the response that it follows, or in a new one. */
export async function beginResponse(asked: AskedResponse): Promise<BegunResponse> {
  const { body } = asked;
  if (body.previous_response_id !== undefined && body.conversation !== undefined) throw twoPlaces();
  const previous = previousPlace(asked);
  const goal = { field: 'input', knownIn: previous?.sessionId ?? body.conversation };
  const items = typeof body.input === 'string' ? body.input : await itemsInPlace(asked, body.input, goal);
  const input = inputMessages(items);
  const answers = toolAnswers(input);
  const goesOn = answers && (await continued(asked, answers, previous));
  if (goesOn) return goesOn;
  const before = answersBeforeMessage(input);
  const said = before ? behindResults(input) : input;
  // Before anything is answered.
  if (before) givenConversation(said, { maxImageBytes: asked.maxImageBytes });
  for (let look = 1; ; look += 1) {
    try {
      const start = await startOf(asked, previous, before);
      return await startedOrForgotten(asked, start.knowsResults ? said : input, start);
    } catch (error) {
      const isOvertaken = error instanceof ServiceError && error.code === 'SESSION_BUSY';
      if (!isOvertaken || look === LOOKS) throw error;
    }
  }
}

function previousPlace({ body, agentId }: AskedResponse): ResponsePlace | null {
  const id = body.previous_response_id;
  if (id === undefined) return null;
  const place = responsePlace(id, 'previous_response_id');
  if (place.agentId === agentId) return place;
  throw new ServiceError('INVALID_REQUEST', 'A response can only follow one of the same agent.', {
    field: 'previous_response_id',
    issue: `it is of ${place.agentId}, and the model is ${agentId}`,
  });
}

/** Leaves no copy of a conversation behind if the turn is refused. */
async function startedOrForgotten(
  asked: AskedResponse,
  input: readonly PlacedMessage[],
  start: Start,
): Promise<BegunResponse> {
  try {
    return await started(asked, input, start);
  } catch (error) {
    // What the client must hear is why it was refused.
    await forgetFork(asked, start).catch(() => undefined);
    throw error;
  }
}

async function started(
  { bus, context, body, agentId, key, maxImageBytes }: AskedResponse,
  messages: readonly PlacedMessage[],
  { sessionId, afterSeq, before, follows, isAlone, isNewSession, interrupts }: Start,
): Promise<BegunResponse> {
  const calls = isNewSession ? undefined : await callsBefore(bus, { sessionId, messages }, context);
  const conversation = givenConversation(messages, {
    maxImageBytes,
    ...(before && { before }),
    ...(calls && { calls }),
  });
  const { instructions, history: given, newest } = conversation;
  const message = turnMessage({
    sessionId,
    ...newest,
    key,
    isNewSession,
    ...(interrupts && { whenBusy: 'interrupt' as const }),
    ...(given.length > 0 && { given }),
    options: {
      ...optionsOf(body, instructions),
      ...(isUnstored(body) && { ephemeral: true as const }),
      note: noteOf(body, isAlone),
    },
  });
  // Throws. Whoever may not read the reply begins nothing.
  bus.topicOf(sessionId, context);
  const { turnId } = await withSchemaNamed('text.format.schema', () =>
    startTurn(bus, { ...message, ...(follows && { follows }) }, context, noOutput),
  );
  const place = { agentId, sessionId, turnId, firstStep: 1 };
  const begun = { place, isUnstored: isUnstored(body) };
  if (turnId === message.turnId) return { ...begun, afterSeq };
  // The message was repeated.
  const turn = await recordedTurn(bus, place, context);
  return { ...begun, isRepeated: true, afterSeq: (turn?.begin ?? 1) - 1 };
}

function noteOf(body: ResponseRequest, isAlone: true | undefined): Partial<ResponseNote> {
  const {
    metadata,
    background,
    store,
    previous_response_id,
    conversation,
    text,
    reasoning,
    tools = [],
  } = body;
  const strictTools = tools.flatMap(({ name, strict }) => (strict ? [name] : []));
  return {
    ...(metadata && { metadata }),
    ...(background && { background }),
    ...(store === false && { store }),
    ...(previous_response_id !== undefined && { previous_response_id }),
    ...(conversation !== undefined && { conversation }),
    ...(isAlone && { isAlone }),
    ...(text?.format?.type === 'json_object' && { format: text.format.type }),
    ...(strictTools.length > 0 && { strictTools }),
    ...(reasoning?.summary && { summary: reasoning.summary }),
  };
}

function optionsOf(body: ResponseRequest, said: string | undefined): TurnOptions {
  const { max_output_tokens: maxTokens, temperature, top_p: topP, text, reasoning } = body;
  const { tools = [], tool_choice: choice, parallel_tool_calls: parallel } = body;
  return {
    ...askedOptions({
      maxTokens,
      temperature,
      topP,
      tools,
      parallel,
      instructions: [body.instructions, said].filter((one) => one !== undefined).join('\n\n'),
      format: text?.format,
      choice: typeof choice === 'object' ? { name: choice.name } : choice,
    }),
    ...(reasoning?.summary !== undefined && { keepReasoning: true as const }),
  };
}

function twoPlaces(): ServiceError {
  return new ServiceError('INVALID_REQUEST', 'A response goes on in one place.', {
    field: 'conversation',
    issue: 'there is a previous_response_id, too',
    suggestion: 'Send one of the two.',
  });
}
