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

/** Beyond this, a slow reader gets only the latest state of each machine. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/**
 * `GET /api/statecharts?session=`: the state of each running machine; as an event stream, also each later
 * state.
 */
export class Statecharts {
  readonly #bus: Bus;
  #streams = 0;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** Number of open event streams. */
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
        return (await acceptsEventStream(request)) ? this.#stream(filter) : this.#page(filter);
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
    /** Latest states that were not sent yet because the reader is slow, by machine. */
    const heldBack = new Map<string, MachineState>();
    let sink: EventSink | undefined;
    const onState = (state: MachineState): void => {
      // While states are held back, later ones are too: an older state must not follow a newer one.
      if (sink && heldBack.size === 0 && sink.bufferedBytes() <= MAX_BUFFERED_BYTES) sink.send(encode(state));
      else heldBack.set(state.id, state);
    };
    const sendHeldBack = (): void => {
      for (const state of heldBack.values()) sink?.send(encode(state));
      heldBack.clear();
    };
    const unwatch = this.#bus.onMachines(filter, onState);
    return serverSentEvents((opened) => {
      this.#streams += 1;
      sink = opened;
      sendHeldBack();
      const stop = (): void => {
        this.#streams -= 1;
        unwatch();
      };
      return { drained: sendHeldBack, stop };
    });
  }
}

function encode(state: MachineState): string {
  return `event: machine\ndata: ${JSON.stringify(state)}\n\n`;
}
