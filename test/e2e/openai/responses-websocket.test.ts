import OpenAI from 'openai';
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { describe, expect } from 'vitest';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService, type ServiceOptions } from '../../support/service/running-service.ts';
import { tempDirectory } from '../../support/service/temp-directory.ts';
import { MetricValues } from '../../support/telemetry/metric-values.ts';
import { verifies } from '../requirements.ts';

const SETTINGS = {
  llm: { provider: 'scripted', model: 'offline' },
  server: { drainTimeoutMs: 0 },
  limits: { requestsPerMinute: false },
};
const YAML = JSON.stringify(SETTINGS);
const model = 'default';

async function start(options: ServiceOptions = {}) {
  const directed = new DirectedModel();
  const service = await RunningService.start({ yaml: YAML, adapters: { model: directed }, ...options });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${service.port}/v1`, apiKey: 'none' });
  return { model: directed, service, client, [Symbol.asyncDispose]: () => service.close() };
}

/** A socket of the SDK, and what came over it. */
class Socket {
  readonly ws: ResponsesWS;
  readonly #came: { type: string }[] = [];
  #arrived = Promise.withResolvers<void>();

  constructor(client: OpenAI) {
    this.ws = new ResponsesWS(client);
    // Without a listener, the SDK throws.
    this.ws.on('error', () => undefined);
    this.ws.on('event', (event) => {
      this.#came.push(event);
      this.#arrived.resolve();
    });
  }

  ask(body: object): void {
    this.ws.send({ type: 'response.create', model, ...body });
  }

  async next(): Promise<{ type: string }> {
    for (;;) {
      const event = this.#came.shift();
      if (event) return event;
      this.#arrived = Promise.withResolvers<void>();
      await this.#arrived.promise;
    }
  }

  /** All events of the response that comes next. */
  async response(): Promise<ResponseStreamEvent[]> {
    const events: ResponseStreamEvent[] = [];
    for (;;) {
      const event = (await this.next()) as ResponseStreamEvent;
      events.push(event);
      if (/^response\.(completed|incomplete|failed)$/.test(event.type)) return events;
    }
  }

  [Symbol.dispose](): void {
    this.ws.close();
  }
}

const accumulated = (events: readonly ResponseStreamEvent[]) =>
  events.reduce<OpenAI.Responses.Response | undefined>(
    (response, event) => accumulateResponse(event, response),
    undefined,
  );

describe("OpenAI's responses over WebSocket", () => {
  verifies('openai.responses-websocket', async () => {
    await using rig = await start();
    using socket = new Socket(rig.client);
    socket.ask({ input: 'Remember 7.', metadata: { a: 'b' } });
    (await rig.model.call(0)).answer('I will, ', 'of course.');
    const first = await socket.response();
    const response = accumulated(first);
    expect(response).toMatchObject({ status: 'completed', output_text: 'I will, of course.' });
    const stream = await rig.client.responses.retrieve(response?.id ?? '', { stream: true });
    const same: ResponseStreamEvent[] = [];
    for await (const event of stream) same.push(event);
    expect(first).toEqual(same);
    socket.ask({ input: 'Which?', previous_response_id: response?.id });
    const second = await rig.model.call(1);
    expect(second.request.messages).toHaveLength(3);
    second.answer('7.');
    expect(accumulated(await socket.response())).toMatchObject({
      output_text: '7.',
      previous_response_id: response?.id,
    });
    const metrics = await MetricValues.at(rig.service.url);
    expect(metrics.value('agent_sockets{kind=websocket}')).toBe(1);
  });

  verifies('limits.image', 'of responses over WebSocket', async () => {
    const bytes = 3000;
    await using rig = await start({
      yaml: JSON.stringify({ ...SETTINGS, limits: { requestBytes: bytes } }),
    });
    using socket = new Socket(rig.client);
    const image_url = `data:image/png;base64,${Buffer.alloc(bytes, 7).toString('base64')}`;
    const ask = (text: string) => {
      const content = [
        { type: 'input_text', text },
        { type: 'input_image', image_url },
      ];
      socket.ask({ input: [{ role: 'user', content }] });
    };
    ask('x'.repeat(bytes));
    expect(await socket.next()).toMatchObject({ type: 'error', status: 429 });
    ask('look');
    const call = await rig.model.call(0);
    expect(call.request.messages).toMatchObject([{ text: 'look', images: [{ mimeType: 'image/png' }] }]);
    call.answer('A square.');
    expect(accumulated(await socket.response())).toMatchObject({ output_text: 'A square.' });
  });

  verifies('openai.responses-websocket-errors', async () => {
    await using rig = await start();
    using socket = new Socket(rig.client);
    const refused = async (body: object) => {
      socket.ask({ input: 'hello', ...body });
      return socket.next();
    };
    const error = (status: number, param: string) => ({ type: 'error', status, error: { param } });
    expect(await refused({ model: 'nobody' })).toMatchObject(error(404, 'model'));
    expect(await refused({ type: 'response.steer' })).toMatchObject(error(400, 'type'));
    expect(await refused({ background: true })).toMatchObject(error(400, 'background'));
    expect(await refused({ stream_id: 'a' })).toMatchObject(error(400, 'stream_id'));
    expect(await refused({ generate: false })).toMatchObject(error(400, 'generate'));
    expect(await refused({ input: [] })).toMatchObject(error(400, 'input'));
    socket.ws.sendRaw('{');
    expect(await socket.next()).toMatchObject({ type: 'error', status: 400 });
    socket.ask({ input: 'hello' });
    const call = await rig.model.call(0);
    expect(await socket.next()).toMatchObject({ type: 'response.created' });
    expect(await socket.next()).toMatchObject({ type: 'response.in_progress' });
    socket.ask({ input: 'too early' });
    expect(await socket.next()).toMatchObject({
      type: 'error',
      status: 409,
      error: { code: 'session_busy' },
    });
    call.fail(new Error('gone'));
    expect((await socket.response()).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { error: { code: 'server_error' } },
    });
    expect(rig.model.calls).toHaveLength(1);
  });

  verifies('openai.responses-websocket-left', async () => {
    await using folder = await tempDirectory();
    let id = '';
    {
      await using rig = await start({ dataDir: folder.path });
      const leaving = new Socket(rig.client);
      leaving.ask({ input: 'talk' });
      const call = await rig.model.call(0);
      call.say('I talk ', 'on');
      await leaving.next();
      leaving.ws.close();
      await call.aborted;
      const staying = new Socket(rig.client);
      staying.ask({ input: 'stay' });
      (await rig.model.call(1)).say('I stay ', 'here');
      const created = (await staying.next()) as ResponseStreamEvent;
      if (created.type !== 'response.created') throw new Error('the first event is another one');
      ({ id } = created.response);
    }
    await using rig = await start({ dataDir: folder.path });
    (await rig.model.call(0)).answer('Here again.');
    const stream = await rig.client.responses.retrieve(id, { stream: true });
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    expect(accumulated(events)).toMatchObject({ status: 'completed', output_text: 'Here again.' });
  });

  verifies('openai.responses-websocket-key', async () => {
    await using rig = await start({ apiKeys: true });
    const error = await new Promise((resolve) => new ResponsesWS(rig.client).on('error', resolve));
    expect(String(error)).toContain('401');
  });
});
