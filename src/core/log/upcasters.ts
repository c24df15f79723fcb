/**
 * Turns the JSON of an event of one version into that of the next. One event stays one event, because clients hold its
 * seq. The input is unchecked; the schemas of today parse what the last upcaster returns.
 */
export type Upcaster = (event: Readonly<Record<string, unknown>>) => Record<string, unknown>;

/** Version 2: a step is a list of parts. Version 1 knew its text and, beside it, the ids of its tool calls. */
const stepParts: Upcaster = (event) => {
  if (event.type !== 'step.completed') return { ...event };
  const { text, callIds, ...others } = event;
  const calls = Array.isArray(callIds) ? callIds : [];
  return {
    ...others,
    parts: [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((callId: unknown) => ({ type: 'toolCall', callId })),
    ],
    source: null,
  };
};

/**
 * The first one leads from version 1 to version 2, and so on. A change of the events' schemas that cannot read older
 * events adds one here, and with it a version. A new type or an optional field needs none.
 */
export const upcasters: readonly Upcaster[] = [stepParts];
