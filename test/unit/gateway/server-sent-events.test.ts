import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/core/errors.ts';
import { type EventSink, serverSentEvents } from '../../../src/gateway/sse/server-sent-events.ts';

/** A response and what writes it. */
function opened() {
  const sinks: EventSink[] = [];
  let stops = 0;
  const { body } = serverSentEvents(
    (sink) => {
      sinks.push(sink);
      return {
        drained: () => undefined,
        stop: () => {
          stops += 1;
        },
      };
    },
    { method: 'GET' },
  );
  const [sink] = sinks;
  if (!sink || !(body instanceof ReadableStream)) throw new Error('nothing was opened');
  return { sink, reader: body.getReader(), stops: () => stops };
}

function useAfterwards(sink: EventSink): void {
  expect(sink.send('data: late\n\n')).toBe(true);
  sink.end();
  sink.refuse(new ServiceError('INTERNAL_ERROR', 'late'));
  sink.fail(new Error('late'));
}

describe('the sink of an event stream', () => {
  it('takes what comes after the client has gone', async () => {
    const { sink, reader, stops } = opened();
    await reader.cancel();
    useAfterwards(sink);
    expect(stops()).toBe(1);
    expect(await reader.read()).toEqual({ done: true, value: undefined });
  });

  it('stops its source once, also when the client goes before it has read everything', async () => {
    const { sink, reader, stops } = opened();
    sink.send('data: unread\n\n');
    sink.end();
    await reader.cancel();
    expect(stops()).toBe(1);
  });

  it('takes what comes after the end', async () => {
    const { sink, reader, stops } = opened();
    sink.send('data: first\n\n');
    sink.end();
    useAfterwards(sink);
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('data: first\n\n');
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    expect(stops()).toBe(1);
  });
});
