/** The first `count` events of a stream of server-sent events, with their ids; the stream is left then. */
export async function firstEvents(response: Response, count: number): Promise<unknown[]> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) throw new Error('there is no body');
  let text = '';
  for (;;) {
    const events = eventsIn(text);
    if (events.length >= count) {
      await reader.cancel();
      return events.slice(0, count);
    }
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended after ${text}`);
    text += value;
  }
}

/** Whole events only. */
export function eventsIn(text: string): unknown[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const fields = new Map(
        block
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const data = fields.get('data');
      return data === undefined
        ? []
        : [{ id: fields.get('id') ?? null, data: data === '[DONE]' ? data : JSON.parse(data) }];
    });
}
