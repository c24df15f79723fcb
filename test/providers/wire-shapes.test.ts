import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { RunningService } from '../support/service/running-service.ts';
import { allShapes } from './all-shapes.ts';
import { readWithSdk } from './official-sdk.ts';
import { ShapeServer } from './shape-server.ts';
import type { ExpectedFailure, ExpectedReply, ProviderShapes, WireShape } from './wire-shape.ts';

const KEY = 'sk-wire-5d41402abc';

const lists = await allShapes();

describe('the collection of wire shapes', () => {
  it('has more than 150, each with a source of its own to look it up', () => {
    const shapes = lists.flatMap(({ shapes: list }) => list.shapes);
    expect(shapes.length).toBeGreaterThan(150);
    for (const { source } of shapes) expect(source).toMatch(/^https:\/\/\S+$/);
  });
});

describe.each(lists)('$shapes.provider over $shapes.api ($file)', ({ shapes: list }) => {
  let server: ShapeServer;
  const services = new Map<string, Promise<RunningService>>();
  beforeAll(async () => {
    server = await ShapeServer.listen(list);
  });
  afterAll(async () => {
    for (const service of services.values()) await (await service).close();
    await server[Symbol.asyncDispose]();
  });

  /** One service for all shapes that need the same settings. */
  function serviceFor({ llm = {} }: WireShape): Promise<RunningService> {
    const key = JSON.stringify(llm);
    const service = services.get(key) ?? RunningService.start(agentOf(list, server.baseURL, llm));
    services.set(key, service);
    return service;
  }

  for (const [number, shape] of list.shapes.entries()) {
    it(shape.name, async () => {
      const service = await serviceFor(shape);
      const [rest, socket] = await Promise.all([overRest(service, number), overWebSocket(service, number)]);
      if ('failure' in shape.expected) expectFailure(rest, socket, shape.expected);
      else expectReply(rest, socket, shape.expected);
    });

    if (shape.sdk !== undefined) {
      it(`${shape.name}: the official SDK ${shape.sdk === 'agrees' ? 'agrees' : 'does not'}`, async () => {
        const read = await readWithSdk(list.api, server.baseURL, number);
        if (shape.sdk === 'agrees') expect(read).toEqual(sdkExpectation(shape.expected));
        else expect(read).not.toEqual(sdkExpectation(shape.expected));
      });
    }
  }
});

function agentOf({ provider, api }: ProviderShapes, baseURL: string, llm: object) {
  const yaml = JSON.stringify({
    llm: { provider, api, model: 'wire-model', baseURL, apiKey: '$WIRE_KEY', maxRetries: 0, ...llm },
    limits: { requestsPerMinute: false, messagesPerMinute: false, connectionsPerAddress: false },
    server: { drainTimeoutMs: 0 },
  });
  return { yaml, environment: { WIRE_KEY: KEY } };
}

const RestAnswer = z.union([
  z.object({ success: z.literal(true), response: z.string(), finishReason: z.string().optional() }),
  z.object({ success: z.literal(false), error: z.object({ details: z.object({ reason: z.string() }) }) }),
]);
type RestAnswer = z.infer<typeof RestAnswer>;

async function overRest(service: RunningService, number: number): Promise<RestAnswer> {
  const response = await service.post('/api/message-sync', {
    message: `shape ${number}`,
    sessionId: `rest-${number}`,
  });
  return RestAnswer.parse(await response.json());
}

/** What a client of the resumable stream was told of the turn. */
interface Heard {
  /** Of the first model call. */
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: { name: string; arguments: unknown; error: unknown }[];
  readonly finishReason: string | undefined;
  readonly usage: unknown;
  readonly reason: string | undefined;
}

async function overWebSocket({ port }: RunningService, number: number): Promise<Heard> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?session=ws-${number}&after=0&reasoning=1`);
  const frames: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ type: 'message', content: `shape ${number}` })),
    );
    socket.addEventListener('message', ({ data }) => {
      const frame = Frame.parse(JSON.parse(String(data)));
      frames.push(frame);
      if (frame.event === 'response' || frame.event === 'error') resolve();
    });
    socket.addEventListener('close', () => reject(new Error('the socket was closed')));
  });
  socket.close();
  return heardIn(frames);
}

const Frame = z.looseObject({
  event: z.string(),
  step: z.int().optional(),
  data: z.looseObject({
    content: z.string().optional(),
    reasoning: z.string().optional(),
    toolName: z.string().optional(),
    error: z.unknown().optional(),
    arguments: z.unknown().optional(),
    finishReason: z.string().optional(),
    usage: z.unknown().optional(),
    step: z.int().optional(),
    details: z.looseObject({ reason: z.string().optional() }).optional(),
  }),
});

function heardIn(all: readonly unknown[]): Heard {
  const frames = all.map((frame) => Frame.parse(frame));
  const ofFirst = frames.filter(({ step }) => step === 1);
  const textOf = (pieces: readonly (string | undefined)[]): string => pieces.join('');
  const completed = frames.find(({ event, data }) => event === 'stepCompleted' && data.step === 1);
  const calls = frames.filter(({ event }) => event === 'toolCall');
  const results = frames.filter(({ event }) => event === 'toolResult');
  return {
    text: textOf(ofFirst.filter(({ event }) => event === 'chunk').map(({ data }) => data.content)),
    reasoning: textOf(ofFirst.filter(({ event }) => event === 'thinking').map(({ data }) => data.reasoning)),
    toolCalls: calls.map(({ data }, index) => ({
      name: data.toolName ?? '',
      arguments: data.arguments,
      error: results[index]?.data.error,
    })),
    finishReason: completed?.data.finishReason,
    usage: completed?.data.usage,
    reason: frames.find(({ event }) => event === 'error')?.data.details?.reason,
  };
}

function expectReply(rest: RestAnswer, heard: Heard, expected: ExpectedReply): void {
  expect(heard.reason).toBeUndefined();
  const { text, toolCalls = [], reasoning = '', finishReason, usage } = expected;
  expect(heard.text).toBe(text);
  expect(heard.reasoning).toBe(reasoning);
  expect(
    heard.toolCalls.map(({ name, arguments: args, error }) => ({ name, arguments: args, error })),
  ).toEqual(
    toolCalls.map(({ name, arguments: args }) => ({
      name,
      // What is no JSON object is told to the model as a problem of its call.
      arguments: typeof args === 'string' ? {} : args,
      error: expect.any(String),
    })),
  );
  expect(heard.finishReason).toBe(finishReason);
  if (usage) expect(heard.usage).toEqual(usage);
  const whole = toolCalls.length === 0 ? text : text === '' ? 'done' : `${text}\n\ndone`;
  expect(rest).toEqual({
    success: true,
    response: whole,
    ...(toolCalls.length === 0 && finishReason && { finishReason }),
  });
}

function expectFailure(rest: RestAnswer, heard: Heard, { failure, text = '' }: ExpectedFailure): void {
  expect(heard.text).toBe(text);
  expect(heard.reason).toMatch(failure);
  expect(rest.success).toBe(false);
  if (!rest.success) expect(rest.error.details.reason).toMatch(failure);
  expect(JSON.stringify([rest, heard])).not.toContain(KEY);
}

function sdkExpectation(expected: ExpectedReply | ExpectedFailure): unknown {
  if ('failure' in expected) return { threw: true };
  const { text, toolCalls = [] } = expected;
  return { text, toolCalls: toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args })) };
}
