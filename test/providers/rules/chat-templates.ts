import { type JsonObject, objectsIn, textIn } from './body-fields.ts';

/** What the servers of open models have in common: the chat template of the model decides which messages it takes. */

export function rolesOf(body: JsonObject): readonly string[] {
  return objectsIn(body, 'messages').map((message) => textIn(message, 'role'));
}

export function isGemma(body: JsonObject): boolean {
  return /gemma-?3/i.test(textIn(body, 'model'));
}

export function isDevstral(body: JsonObject): boolean {
  return /devstral|mistral-small/i.test(textIn(body, 'model'));
}

export function isQwen35OrLater(body: JsonObject): boolean {
  return /qwen3\.[5-9]/i.test(textIn(body, 'model'));
}

/** As the template of Qwen 3.5 demands: one system message at most, and nothing stands before it. */
export function beginsWithItsSystemMessage(body: JsonObject): boolean {
  return !rolesOf(body).slice(1).includes('system');
}

/** As the template of Gemma 3 demands: after a system message in front, user and assistant take turns. */
export function takesTurns(body: JsonObject): boolean {
  const roles = rolesOf(body);
  return inTurn(roles[0] === 'system' ? roles.slice(1) : roles);
}

/** As the template of Devstral demands: the same, but messages with tool calls and results do not count. */
export function takesTurnsBesideTools(body: JsonObject): boolean {
  const messages = objectsIn(body, 'messages');
  const spoken = (textIn(messages[0] ?? {}, 'role') === 'system' ? messages.slice(1) : messages).filter(
    (message) =>
      message.role === 'user' ||
      (message.role === 'assistant' && objectsIn(message, 'tool_calls').length === 0),
  );
  return inTurn(spoken.map((message) => textIn(message, 'role')));
}

/** The ids of all calls and results in the conversation. */
export function callIdsOf(body: JsonObject): readonly string[] {
  return objectsIn(body, 'messages').flatMap((message) => [
    ...objectsIn(message, 'tool_calls').map((call) => textIn(call, 'id')),
    ...(message.role === 'tool' ? [textIn(message, 'tool_call_id')] : []),
  ]);
}

export function isMistralId(id: string): boolean {
  return /^[a-zA-Z0-9]{9}$/.test(id);
}

function inTurn(roles: readonly string[]): boolean {
  return roles.every((role, place) => role === (place % 2 === 0 ? 'user' : 'assistant'));
}
