import { useFeed } from '../service/use-session.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Json } from '../ui/json.tsx';
import { duration } from '../ui/time.ts';
import { ToolResultView } from '../ui/tool-result.tsx';
import style from './chat.module.css';
import type { ToolCallView } from './conversation.ts';

const states: Readonly<Record<ToolCallView['state'], readonly [Tone, string]>> = {
  running: ['accent', 'running'],
  waiting: ['warn', 'needs approval'],
  succeeded: ['good', 'done'],
  failed: ['bad', 'failed'],
};

/** A folded tool call. A call that waits for approval is open, with buttons for the answer. */
export function ToolCall({ call }: { readonly call: ToolCallView }) {
  const { toolName, serverId, state, decision, startedAt, endedAt, result, error } = call;
  const [tone, word] = states[state];
  return (
    <details className={style.tool} open={state === 'waiting' || undefined}>
      <summary>
        <code>{toolName}</code>
        {serverId !== null && <span className={style.muted}>{serverId}</span>}
        <Badge tone={tone}>{word}</Badge>
        {decision !== undefined && <span className={style.muted}>{decision}</span>}
        {endedAt && <span className={style.muted}>{duration(startedAt, endedAt)}</span>}
      </summary>
      <h3>Arguments</h3>
      <Json value={call.arguments} />
      {state === 'waiting' && <Approval call={call} />}
      {error !== undefined && (
        <>
          <h3>Error</h3>
          <p className={style.toolError}>{error}</p>
        </>
      )}
      {result && (
        <>
          <h3>Result</h3>
          <ToolResultView result={result} />
        </>
      )}
    </details>
  );
}

function Approval({ call: { callId, argumentsHash } }: { readonly call: ToolCallView }) {
  const feed = useFeed();
  return (
    <fieldset className={style.approval}>
      <legend>The agent asks to run this tool with exactly these arguments.</legend>
      <Button kind="primary" onClick={() => feed.do((client) => client.approve(callId, argumentsHash))}>
        Approve
      </Button>
      <Button kind="danger" onClick={() => feed.do((client) => client.deny(callId))}>
        Deny
      </Button>
    </fieldset>
  );
}
