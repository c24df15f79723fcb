import { describe, expect } from 'vitest';
import type { ServerFrame } from '../../../src/wire/frames.ts';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { RawWebSocket, type WholeStream } from '../../support/sockets/raw-websocket.ts';
import { ResumingSocket } from '../../support/sockets/resuming-socket.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { verifies } from '../requirements.ts';

const WATCHERS = 20;
const YAML = `${SCRIPTED}limits: { connectionsPerAddress: false }\nserver: { drainTimeoutMs: 0 }\n`;

const hasChunks =
  (count: number) =>
  (frames: readonly { event: string }[]): boolean =>
    frames.filter(({ event }) => event === 'chunk').length >= count;

const isError = (text: string): boolean => text.startsWith('{"event":"error"');
const textOf = (frames: readonly ServerFrame[]): string[] => frames.map((frame) => JSON.stringify(frame));

/** Clients that read all the time, byte for byte; with those that leave too early, none waits for an end. */
async function openWatchers(service: RunningService, count: number) {
  const sockets = await Promise.all(Array.from({ length: count }, () => RawWebSocket.open(service.port)));
  return sockets.map((socket) => ({ socket, stream: socket.readToEnd() }));
}

describe('many clients of one session', () => {
  verifies('ws.watchers', async () => {
    const model = new DirectedModel();
    await using service = await RunningService.start({ yaml: YAML, adapters: { model } });
    // At first it is alone, and in the middle of a turn when the others come.
    using first = await service.connect();
    first.say('hello');
    const call = await model.call(0);
    call.say('alone ');
    await first.until(hasChunks(1));
    const watchers = await openWatchers(service, WATCHERS);
    using resuming = new ResumingSocket(`ws://127.0.0.1:${service.port}/?after=0`);
    await resuming.until(hasChunks(1));
    call.say('together ', 'é ', '"quoted" ');
    await first.until(hasChunks(4));
    // Half of them leave, one way or the other, and one is told of a mistake of its own.
    const leaving = watchers.splice(0, WATCHERS / 2);
    for (const { socket } of leaving) socket[Symbol.dispose]();
    await watchers[0]?.socket.send('no JSON');
    using late = await service.connect();
    call.say('x'.repeat(20_000), ' and');
    await first.until(hasChunks(6));
    call.answer(' on');
    await first.settled();
    await resuming.settled();
    await service.close();

    const [scolded, ...others] = await Promise.all(watchers.map(({ stream }) => stream));
    const all = textOf(first.frames);
    expect(all).toHaveLength(9);
    // The thinking and the first chunk were before their time.
    const seen = all.slice(2);
    for (const { texts, close } of others) {
      expect(texts).toEqual(seen);
      expect(close?.code).toBe(1012);
    }
    expect(scolded?.texts.filter(isError)).toHaveLength(1);
    expect(scolded?.texts.filter((text) => !isError(text))).toEqual(seen);
    expect(textOf(late.frames)).toEqual(seen.slice(3));
    const left: WholeStream[] = await Promise.all(leaving.map(({ stream }) => stream));
    for (const { texts } of left) expect(texts).toEqual(seen.slice(0, texts.length));
    const resumed = resuming.frames.filter(({ event }) => event === 'chunk');
    expect(resumed.map(({ data }) => data)).toEqual(
      first.frames.filter(({ event }) => event === 'chunk').map(({ data }) => data),
    );
  });

  verifies('ws.slow-reader', 'also among many, who miss nothing', async () => {
    const model = new DirectedModel();
    await using service = await RunningService.start({ yaml: YAML, adapters: { model } });
    using slow = await RawWebSocket.open(service.port);
    using reader = await service.connect();
    const watchers = await openWatchers(service, 2);
    reader.say('tell me everything');
    const call = await model.call(0);
    const piece = 'x'.repeat(64 * 1024);
    const pieces = 384;
    let said = 0;
    const say = async () => {
      call.say(piece, piece, piece, piece);
      said += 4;
      // No faster than the one who reads.
      await reader.until(hasChunks(said));
    };
    let metrics = await MetricValues.at(service.url);
    while (said < pieces && metrics.value('agent_slow_readers_closed_total') === 0) {
      await say();
      metrics = await MetricValues.at(service.url);
    }
    // At once: uWebSockets.js keeps what waits for a few seconds.
    const reading = slow.readToEnd();
    expect(metrics.value('agent_slow_readers_closed_total')).toBe(1);
    expect(metrics.value('agent_sockets{kind=websocket}')).toBe(3);
    while (said < pieces) await say();
    call.answer();
    await reader.settled();

    const { texts, close } = await reading;
    expect(close).toEqual({ code: 1013, reason: expect.stringMatching(/^slow-reader/) });
    const all = textOf(reader.frames);
    // What it was sent is whole and without a gap, and it was sent nothing after it was given up.
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.length).toBeLessThan(0.7 * pieces);
    expect(texts).toEqual(all.slice(0, texts.length));
    await service.close();
    const streams = await Promise.all(watchers.map(({ stream }) => stream));
    for (const stream of streams) expect(stream).toMatchObject({ texts: all, close: { code: 1012 } });
  });
});
