import { describe, expect } from 'vitest';
import { z } from 'zod';
import { DirectedModel } from '../../support/models/directed-model.ts';
import { RunningService } from '../../support/service/running-service.ts';
import { verifies } from '../requirements.ts';

const Frame = z.looseObject({
  event: z.string(),
  seq: z.int().optional(),
  step: z.int().optional(),
  offset: z.int().optional(),
  data: z.looseObject({ content: z.string().optional(), reasoning: z.string().optional() }),
});
type Frame = z.infer<typeof Frame>;

/** A socket of any kind of client: its frames as they come. */
class Frames implements Disposable {
  readonly all: Frame[] = [];
  readonly #socket: WebSocket;
  #onFrame: () => void = () => undefined;

  constructor({ port }: RunningService, query: string) {
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}/?session=s${query}`);
    this.#socket.addEventListener('message', ({ data }) => {
      this.all.push(Frame.parse(JSON.parse(String(data))));
      this.#onFrame();
    });
  }

  async say(content: string): Promise<void> {
    await this.opened();
    this.#socket.send(JSON.stringify({ type: 'message', content }));
  }

  async opened(): Promise<void> {
    if (this.#socket.readyState === WebSocket.OPEN) return;
    await new Promise((resolve) => this.#socket.addEventListener('open', resolve, { once: true }));
  }

  async until(done: (frames: readonly Frame[]) => boolean): Promise<readonly Frame[]> {
    while (!done(this.all)) await new Promise<void>((resolve) => (this.#onFrame = resolve));
    return this.all;
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

const isOver = (frames: readonly Frame[]): boolean => frames.some(({ event }) => event === 'response');
const reasoningIn = (frames: readonly Frame[]): string =>
  frames.map(({ data }) => data.reasoning ?? '').join('');
const textIn = (frames: readonly Frame[]): string =>
  frames.map(({ event, data }) => (event === 'chunk' ? data.content : '')).join('');

async function serve(keepReasoning = false) {
  const model = new DirectedModel();
  const yaml = JSON.stringify({ llm: { provider: 'scripted', model: 'x', keepReasoning } });
  const service = await RunningService.start({ yaml, adapters: { model } });
  return { model, service, [Symbol.asyncDispose]: () => service.close() };
}

describe('what a model thinks aloud', () => {
  verifies('model.reasoning', async () => {
    await using served = await serve();
    const { model, service } = served;
    using asking = new Frames(service, '&reasoning=1');
    using resuming = new Frames(service, '&after=0&reasoning=1');
    using plain = new Frames(service, '');
    using silent = new Frames(service, '&after=0');
    await Promise.all([asking, resuming, plain, silent].map((client) => client.opened()));
    await asking.say('why?');
    const call = await model.call(0);
    call.think('First ', 'this, ');
    call.say('Because');
    call.think('then that.');
    call.answer(' so.');
    for (const client of [asking, resuming, plain, silent]) await client.until(isOver);
    for (const client of [asking, resuming]) expect(reasoningIn(client.all)).toBe('First this, then that.');
    for (const client of [plain, silent]) expect(JSON.stringify(client.all)).not.toContain('reasoning');
    for (const client of [asking, resuming, plain, silent]) expect(textIn(client.all)).toBe('Because so.');
    const thoughts = resuming.all.filter(({ data }) => data.reasoning !== undefined);
    expect(thoughts.map(({ event, step, offset }) => [event, step, offset])).toEqual([
      ['thinking', 1, 0],
      ['thinking', 1, 6],
      ['thinking', 1, 12],
    ]);
  });

  verifies('model.reasoning-joined', async () => {
    await using served = await serve();
    const { model, service } = served;
    using first = new Frames(service, '');
    await first.say('why?');
    const call = await model.call(0);
    call.think('First this, ');
    using late = new Frames(service, '&after=2&reasoning=1');
    await late.until((frames) => reasoningIn(frames) !== '');
    call.think('then that.');
    call.answer('Because.');
    await late.until(isOver);
    expect(reasoningIn(late.all)).toBe('First this, then that.');
  });

  verifies('model.reasoning', 'over server-sent events', async () => {
    await using served = await serve();
    const { model, service } = served;
    const headers = { Accept: 'text/event-stream' };
    const stream = await service.fetch('/api/sessions/s/events?reasoning=1', { headers });
    await service.post('/api/message', { message: 'why?', sessionId: 's' });
    const call = await model.call(0);
    call.think('Hm.');
    call.answer('Because.');
    let text = '';
    for await (const piece of stream.body ?? []) {
      text += new TextDecoder().decode(piece);
      if (text.includes('"event":"response"')) break;
    }
    expect(text).toContain('"reasoning":"Hm."');
  });

  for (const keepReasoning of [false, true]) {
    verifies('model.reasoning-log', `keepReasoning: ${keepReasoning}`, async () => {
      const kept = keepReasoning ? 'First this.' : undefined;
      await using served = await serve(keepReasoning);
      const { model, service } = served;
      const answer = service.post('/api/message-sync', { message: 'why?', sessionId: 's' });
      const call = await model.call(0);
      call.think('First this.');
      call.answer('Because.');
      expect(await (await answer).json()).toMatchObject({ response: 'Because.' });
      const page = await (await service.fetch('/api/sessions/s/events')).text();
      expect(page.includes('First this.')).toBe(keepReasoning);
      const view = z
        .object({
          session: z.object({ history: z.array(z.looseObject({ reasoning: z.string().optional() })) }),
        })
        .parse(await (await service.fetch('/api/sessions/s')).json());
      expect(view.session.history.at(-1)?.reasoning).toBe(kept);
      const again = service.post('/api/message-sync', { message: 'and?', sessionId: 's' });
      const next = await model.call(1);
      expect(JSON.stringify(next.request.messages)).not.toContain('First this.');
      next.answer('So.');
      await again;
    });
  }

  for (const value of ['2', 'yes', '']) {
    verifies('model.reasoning-query', `reasoning=${value}`, async () => {
      await using served = await serve();
      const response = await served.service.fetch(`/api/sessions/s/events?reasoning=${value}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { details: { field: 'reasoning' } } });
    });
  }
});
