import type { MachineState } from '../../core/machine-state.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { Bus, MachineFilter } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import { StatechartsQuery } from '../../wire/requests.ts';
import type { StatechartsResponse } from '../../wire/responses.ts';
import { acceptsEventStream } from '../http/content-negotiation.ts';
import { jsonResponse, now, type ServedRequest } from '../http/http-message.ts';
import { parseQuery } from '../http/request-query.ts';
import type { Route } from '../http/router.ts';
import { holdSession } from '../security/held-session.ts';
import { MachineReader } from '../stream/machine-reader.ts';
import { serverSentEvents } from './server-sent-events.ts';

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
      access: 'sessions:read',
      handler: async (request) => {
        const { session } = parseQuery(StatechartsQuery, request);
        const filter = session === undefined ? {} : { sessionId: session };
        return (await acceptsEventStream(request))
          ? this.#stream(filter, request)
          : this.#page(filter, request.context);
      },
    };
  }

  async #page(filter: MachineFilter, context: RequestContext): Promise<HttpResponse> {
    const machines = [...(await this.#bus.listMachines(filter, context))];
    return jsonResponse<StatechartsResponse>({ machines, timestamp: now() });
  }

  #stream(filter: MachineFilter, request: ServedRequest): HttpResponse {
    const { context } = request;
    if (filter.sessionId !== undefined) {
      // Throws if the client may not see the session.
      this.#bus.recheck(filter.sessionId, context);
      holdSession(this.#bus, filter.sessionId, request);
    }
    const client = { ...request, resumes: true };
    return serverSentEvents((sink) => {
      this.#streams += 1;
      const reader = new MachineReader({ bus: this.#bus, context, filter, sink, encode });
      const stop = (): void => {
        this.#streams -= 1;
        reader.close();
      };
      return { drained: () => reader.drained(), stop };
    }, client);
  }
}

function encode(state: MachineState): string {
  return `event: machine\ndata: ${JSON.stringify(state)}\n\n`;
}
