import type { MaxBytes } from '../../core/size-limits.ts';
import type { Bus } from '../../ports/bus.ts';
import type { HttpResponse } from '../../ports/web-server.ts';
import type { ServedRequest } from '../http/http-message.ts';
import { readJsonObject } from '../http/request-body.ts';
import { checkBodySize } from '../requests/message-size.ts';
import { parseForeign } from '../requests/request-fields.ts';
import { holdSession } from '../security/held-session.ts';
import { serverSentEvents } from '../sse/server-sent-events.ts';
import type { SignalFanOut } from '../stream/signal-fan-out.ts';
import { encodeEvent, runError } from './ag-ui-events.ts';
import { beginRun } from './begin-run.ts';
import { filesLength } from './given-thread.ts';
import { runFeed } from './run-feed.ts';
import { RunInput } from './run-input.ts';

export interface AgUiDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly maxImageBytes: MaxBytes;
}

/** A run of the agent. What cannot be run is refused before the events begin, as the protocol asks. */
export async function runAgent(deps: AgUiDeps, request: ServedRequest): Promise<HttpResponse> {
  const { bus, maxImageBytes } = deps;
  const { context, use } = request;
  const input = parseForeign(RunInput, await readJsonObject(request));
  await checkBodySize(request, maxImageBytes, () => filesLength(input.messages));
  const sessionId = input.threadId;
  const plan = await beginRun({ bus, context, sessionId, input, maxImageBytes, use });
  holdSession(bus, sessionId, request);
  return serverSentEvents((sink) => runFeed({ ...deps, context }, { input, plan }, sink), {
    ...request,
    encodeError: ({ body }) => encodeEvent(runError(body)),
  });
}
