import type { MachineState } from '../../core/machine-state.ts';
import type { Bus, MachineFilter } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { StatechartsQuery } from '../../wire/requests.ts';
import type { StatechartsResponse } from '../../wire/responses.ts';
import { acceptsEventStream } from '../http/content-negotiation.ts';
import { jsonResponse, now } from '../http/http-message.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Route } from '../http/router.ts';
import { type EventSink, serverSentEvents } from './server-sent-events.ts';

/** Beyond it a reader is told only of the last state of each machine. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** `GET /api/statecharts?session=`: where each running machine is; as an event stream also wherever it goes. */
export class Statecharts {
  readonly #bus: Bus;
  #streams = 0;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** How many event streams are open. */
  get streams(): number {
    return this.#streams;
  }

  route(): Route {
    return {
      method: 'GET',
      path: '/api/statecharts',
      handler: async (request) => {
        const { session } = parseQuery(StatechartsQuery, request);
        const filter = session === undefined ? {} : { sessionId: session };
        return acceptsEventStream(request) ? this.#stream(filter) : this.#page(filter);
      },
    };
  }

  #page(filter: MachineFilter): HttpResponse {
    const machines: MachineState[] = [];
    const stop = this.#bus.onMachines(filter, (state) => machines.push(state));
    stop();
    return jsonResponse<StatechartsResponse>({ machines, timestamp: now() });
  }

  #stream(filter: MachineFilter): HttpResponse {
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
    const unwatch = this.#bus.onMachines(filter, onState);
    return serverSentEvents((opened) => {
      this.#streams += 1;
      sink = opened;
      tellMissed();
      const stop = (): void => {
        this.#streams -= 1;
        unwatch();
      };
      return { drained: tellMissed, stop };
    });
  }
}

function encode(state: MachineState): string {
  return `event: machine\ndata: ${JSON.stringify(state)}\n\n`;
}
