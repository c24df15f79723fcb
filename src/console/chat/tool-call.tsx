import type { ToolResult } from '../../contract/tool.ts';
import { useFeed } from '../service/use-session.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Json } from '../ui/json.tsx';
import { duration } from '../ui/time.ts';
import style from './chat.module.css';
import type { ToolCallView } from './conversation.ts';

const states: Readonly<Record<ToolCallView['state'], readonly [Tone, string]>> = {
  running: ['accent', 'running'],
  waiting: ['warn', 'needs approval'],
  succeeded: ['good', 'done'],
  failed: ['bad', 'failed'],
};

/** A tool call, folded; one that waits for approval is open, with the question. */
export function ToolCall({ call }: { readonly call: ToolCallView }) {
  const { toolName, serverId, state, startedAt, endedAt, result, error } = call;
  const [tone, word] = states[state];
  return (
    <details className={style.tool} open={state === 'waiting' || undefined}>
      <summary>
        <code>{toolName}</code>
        {serverId !== null && <span className={style.muted}>{serverId}</span>}
        <Badge tone={tone}>{word}</Badge>
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
          <Result result={result} />
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
      <Button kind="primary" onClick={() => feed.client?.approve(callId, argumentsHash)}>
        Approve
      </Button>
      <Button kind="danger" onClick={() => feed.client?.deny(callId)}>
        Deny
      </Button>
    </fieldset>
  );
}

function Result({ result: { content, structuredContent } }: { readonly result: ToolResult }) {
  return (
    <>
      {content.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name and never move
        <ContentBlock key={index} block={block} />
      ))}
      {structuredContent && <Json value={structuredContent} />}
    </>
  );
}

function ContentBlock({ block }: { readonly block: ToolResult['content'][number] }) {
  const { type, text, data, mimeType } = block;
  if (type === 'text' && typeof text === 'string') return <pre className={style.toolText}>{text}</pre>;
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return (
      <img className={style.toolImage} src={`data:${mimeType};base64,${data}`} alt="What the tool returned" />
    );
  return <Json value={block} />;
}
