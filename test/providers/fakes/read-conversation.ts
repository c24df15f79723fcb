import { isJsonObject, type JsonObject, objectsIn, textIn } from '../rules/body-fields.ts';

/** One thing of a conversation, in no provider's format. `from` is the object of the request that it stood in. */
export type Item = { readonly from: JsonObject } & (
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'call'; readonly id: string }
  | { readonly kind: 'result'; readonly id: string; readonly text: string }
  | { readonly kind: 'assistant' }
);

export type Api = 'chat' | 'responses' | 'messages';

/** Where the interface is served, behind `llm.baseURL`. */
export const paths: Readonly<Record<Api, string>> = {
  chat: '/chat/completions',
  responses: '/responses',
  messages: '/messages',
};

export function readConversation(api: Api, body: JsonObject): readonly Item[] {
  switch (api) {
    case 'chat':
      return objectsIn(body, 'messages').flatMap(chatItems);
    case 'responses':
      return objectsIn(body, 'input').map(responsesItem);
    case 'messages':
      return objectsIn(body, 'messages').flatMap(messagesItems);
    default:
      return api satisfies never;
  }
}

function chatItems(from: JsonObject): readonly Item[] {
  switch (from.role) {
    case 'user':
      return [{ kind: 'user', text: textOf(from), from }];
    case 'tool':
      return [{ kind: 'result', id: textIn(from, 'tool_call_id'), text: textOf(from), from }];
    case 'assistant':
      return [
        { kind: 'assistant', from },
        ...objectsIn(from, 'tool_calls').map((call) => callItem(textIn(call, 'id'), call)),
      ];
    default:
      return [];
  }
}

function responsesItem(from: JsonObject): Item {
  if (from.role === 'user') return { kind: 'user', text: textOf(from), from };
  const id = textIn(from, 'call_id');
  switch (from.type) {
    case 'function_call':
      return callItem(id, from);
    case 'function_call_output':
      return { kind: 'result', id, text: textIn(from, 'output'), from };
    default:
      return { kind: 'assistant', from };
  }
}

function messagesItems(from: JsonObject): readonly Item[] {
  const blocks = objectsIn(from, 'content');
  if (from.role === 'assistant') {
    return blocks.map((block) =>
      block.type === 'tool_use' ? callItem(textIn(block, 'id'), block) : { kind: 'assistant', from: block },
    );
  }
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const said = results.length < blocks.length;
  return [
    ...results.map(
      (block): Item => ({
        kind: 'result',
        id: textIn(block, 'tool_use_id'),
        text: textOf(block),
        from: block,
      }),
    ),
    ...(said ? [{ kind: 'user', text: textOf(from), from } as const] : []),
  ];
}

function callItem(id: string, from: JsonObject): Item {
  return { kind: 'call', id, from };
}

/** Content is a text, or parts of which some are texts. */
function textOf(from: JsonObject): string {
  const parts = objectsIn(from, 'content').map((part) => textIn(part, 'text'));
  return textIn(from, 'content') || parts.filter((text) => text !== '').join('\n');
}

/** What came since the user spoke last, and what that was. */
export function newestTurn(items: readonly Item[]): { said: string; since: readonly Item[] } {
  const place = items.findLastIndex(({ kind }) => kind === 'user');
  const newest = items[place];
  return { said: newest?.kind === 'user' ? newest.text : '', since: items.slice(place + 1) };
}

/** Whether an object in here, however deep, has all of these fields with exactly these values. */
export function hasObject(value: unknown, fields: JsonObject): boolean {
  if (Array.isArray(value)) return value.some((one) => hasObject(one, fields));
  if (!isJsonObject(value)) return false;
  const isIt = Object.entries(fields).every(([name, wanted]) => canonical(value[name]) === canonical(wanted));
  return isIt || Object.values(value).some((one) => hasObject(one, fields));
}

/** As text in which the order of fields makes no difference. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    isJsonObject(one) ? Object.fromEntries(Object.entries(one).sort(byName)) : one,
  );
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
