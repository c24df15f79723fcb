import type { ToolResult } from '../../core/tool-call/tool.ts';
import type { ToolProgress } from '../../core/tool-call/tool-progress.ts';
import { agentBase } from '../service/agent-base.ts';
import { afterRefusal } from '../service/api.ts';
import { ApiError, refused, unreachable } from '../service/api-error.ts';
import { headersOf, keptKey } from '../service/kept-key.ts';
import { toolPath } from '../service/paths.ts';
import { eventsOf } from '../service/server-sent-events.ts';

export interface FinishedRun {
  readonly data: ToolResult;
  /** In milliseconds. */
  readonly execution: { readonly duration: number };
}

export interface ToolRunOptions {
  /** Aborting cancels the request at the tool server. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ToolProgress) => void;
}

/** Runs a tool and follows its progress. Rejects with an `ApiError`, or with the reason of the signal. */
export async function runTool(
  tool: { readonly serverId: string; readonly name: string },
  args: unknown,
  { signal, onProgress }: ToolRunOptions,
): Promise<FinishedRun> {
  const key = keptKey();
  const told = (refusal: ApiError): ApiError => {
    void afterRefusal(refusal, key);
    return refusal;
  };
  const response = await fetch(`${agentBase}${toolPath(tool.serverId, tool.name)}/execute`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      ...headersOf(key),
    },
    body: JSON.stringify(args),
    signal,
  }).catch((cause: unknown) => {
    throw signal.aborted ? cause : unreachable(cause);
  });
  if (!response.ok) throw told(await refused(response));
  for await (const { event, data } of eventsOf(response, signal)) {
    if (event === 'progress') onProgress(JSON.parse(data));
    if (event === 'result') return JSON.parse(data);
    if (event === 'error') throw told(new ApiError(JSON.parse(data).error));
  }
  throw unreachable(new Error('the stream ended before the call'));
}
