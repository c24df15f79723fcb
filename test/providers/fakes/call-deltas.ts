import { halves, type NamedCall } from './voice.ts';

/** How providers stream tool calls over chat completions: as deltas of a choice. */

function functionOf({ name, arguments: args }: NamedCall): object {
  return { name, arguments: JSON.stringify(args) };
}

/** As OpenAI does: a call begins with its name and no arguments, which follow in pieces under its index. */
export function inPieces(calls: readonly NamedCall[], more: object = {}): readonly object[] {
  return calls.flatMap((call, index) => [
    opened({ index, id: call.id, type: 'function' }, call.name),
    ...halves(JSON.stringify(call.arguments)).map((piece) => ({
      tool_calls: [{ index, ...more, function: { arguments: piece } }],
    })),
  ]);
}

function opened(fields: object, name: string): object {
  return { tool_calls: [{ ...fields, function: { name, arguments: '' } }] };
}

/** Each call whole, in a delta of its own. @param fieldsOf beside its function. */
export function oneByOne(
  calls: readonly NamedCall[],
  fieldsOf: (call: NamedCall, index: number) => object,
): readonly object[] {
  return calls.map((call, index) => ({
    tool_calls: [{ ...fieldsOf(call, index), function: functionOf(call) }],
  }));
}

/** Numbered, as they should be. */
export function whole(calls: readonly NamedCall[]): readonly object[] {
  return oneByOne(calls, ({ id }, index) => ({ id, type: 'function', index }));
}

/** Ollama and others number parallel calls all 0. */
export function allNumberedZero(calls: readonly NamedCall[]): readonly object[] {
  return oneByOne(calls, ({ id }) => ({ id, index: 0, type: 'function' }));
}

/** Moonshot numbers no call: the arguments follow in the order of the names. */
export function namesFirst(calls: readonly NamedCall[]): readonly object[] {
  return [
    {
      tool_calls: calls.map(({ id, name }) => ({ id, type: 'function', function: { name, arguments: '' } })),
    },
    { tool_calls: calls.map(({ arguments: args }) => ({ function: { arguments: JSON.stringify(args) } })) },
  ];
}

/** Qwen repeats a call with an empty id, LM Studio with an empty name. */
export function repeating(
  calls: readonly NamedCall[],
  empty: { readonly id?: ''; readonly name?: '' },
): readonly object[] {
  const { id: emptyId, ...emptyName } = empty;
  return calls.flatMap(({ id, name, arguments: args }, index) => [
    opened({ index, id, type: 'function' }, name),
    ...halves(JSON.stringify(args)).map((piece) => ({
      tool_calls: [
        {
          index,
          ...(emptyId !== undefined && { id: emptyId }),
          type: 'function',
          function: { ...emptyName, arguments: piece },
        },
      ],
    })),
  ]);
}

/** All calls whole in one delta, without index and type, as Mistral sends them. */
export function together(calls: readonly NamedCall[]): object {
  return { tool_calls: calls.map((call) => ({ id: call.id, function: functionOf(call) })) };
}
