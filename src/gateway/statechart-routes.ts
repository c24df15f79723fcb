import type { MachineState } from '../contract/machine-state.ts';
import { StatechartsQuery } from '../contract/requests.ts';
import type { StatechartsResponse } from '../contract/responses.ts';
import type { Bus } from '../runtime/bus.ts';
import { type HttpResponse, jsonResponse, now } from './http-message.ts';
import { acceptsEventStream, parseQuery } from './request-query.ts';
import type { Route } from './router.ts';
import { type EventSink, serverSentEvents } from './server-sent-events.ts';

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
  let sink: EventSink | undefined;
  const onState = (state: MachineState): void => {
    // Once something is missed, all that follows is: an older state must not come after a newer one.
    if (sink && missed.size === 0 && sink.bufferedBytes() <= MAX_BUFFERED_BYTES) sink.send(encode(state));
    else missed.set(state.id, state);
  };
  const tellMissed = (): void => {
    for (const state of missed.values()) sink?.send(encode(state));
    missed.clear();
  };
  const unwatch = await bus.send('machine.watch', { ...filter, onState });
  return serverSentEvents((opened) => {
    sink = opened;
    tellMissed();
    return { drained: tellMissed, stop: unwatch };
  });
}

function encode(state: MachineState): string {
  return `event: machine\ndata: ${JSON.stringify(state)}\n\n`;
}
