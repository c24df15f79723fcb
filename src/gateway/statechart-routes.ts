import type { MachineState } from '../contract/machine-state.ts';
import { StatechartsQuery } from '../contract/requests.ts';
import type { StatechartsResponse } from '../contract/responses.ts';
import type { Bus } from '../runtime/bus.ts';
import { EVENT_STREAM_HEADERS, HEARTBEAT_MS } from './event-stream.ts';
import { type HttpResponse, jsonResponse, now } from './http-message.ts';
import { acceptsEventStream, parseQuery } from './request-query.ts';
import type { Route } from './router.ts';

/** Beyond it a reader is told only of the last state of each machine. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** `GET /api/statecharts?session=`: where each running machine is; as an event stream also wherever it goes. */
export function statechartRoute(bus: Bus): Route {
  return {
    method: 'GET',
    path: '/api/statecharts',
    handler: async (request) => {
      const { session } = parseQuery(StatechartsQuery, request);
      const filter = session === undefined ? {} : { sessionId: session };
      return acceptsEventStream(request) ? stream(bus, filter) : page(bus, filter);
    },
  };
}

type Filter = { readonly sessionId?: string };

async function page(bus: Bus, filter: Filter): Promise<HttpResponse> {
  const machines: MachineState[] = [];
  const stop = await bus.send('machine.watch', { ...filter, onState: (state) => machines.push(state) });
  stop();
  return jsonResponse<StatechartsResponse>({ machines, timestamp: now() });
}

async function stream(bus: Bus, filter: Filter): Promise<HttpResponse> {
  /** The last state of each machine that the reader has not been told of, because it is slow. */
  const missed = new Map<string, MachineState>();
  let tell = (state: MachineState): unknown => missed.set(state.id, state);
  const unwatch = await bus.send('machine.watch', { ...filter, onState: (state) => tell(state) });
  let heartbeat: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string): void => controller.enqueue(Buffer.from(text));
        for (const state of missed.values()) send(encode(state));
        missed.clear();
        tell = (state) => {
          const isSlow = (controller.desiredSize ?? 0) < -MAX_BUFFERED_BYTES;
          return isSlow ? missed.set(state.id, state) : send(encode(state));
        };
        heartbeat = setInterval(() => send(':\n\n'), HEARTBEAT_MS);
      },
      pull(controller) {
        for (const state of missed.values()) controller.enqueue(Buffer.from(encode(state)));
        missed.clear();
      },
      cancel() {
        clearInterval(heartbeat);
        unwatch();
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  return { status: 200, headers: EVENT_STREAM_HEADERS, body };
}

function encode(state: MachineState): string {
  return `event: machine\ndata: ${JSON.stringify(state)}\n\n`;
}
