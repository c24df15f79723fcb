import { useState } from 'react';
import { useMay } from '../service/account.ts';
import type { SessionRemote } from '../service/session-remote.ts';
import { useFeed } from '../service/use-session.ts';
import { useSessionAccess } from '../sharing/session-access.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Decision } from '../ui/decision.tsx';
import { Json } from '../ui/json.tsx';
import { duration } from '../ui/time.ts';
import { ToolResultView } from '../ui/tool-result.tsx';
import { useChat } from './chat-context.ts';
import { ClientCall } from './client-call.tsx';
import { isForPeople, type ToolCallView } from './conversation.ts';
import { ServerQuestion } from './server-question.tsx';
import style from './tool-call.module.css';
import { argumentsLine, resultLine } from './tool-line.ts';

const states: Readonly<Record<ToolCallView['state'], readonly [Tone, string]>> = {
  running: ['accent', 'running'],
  waiting: ['warn', 'needs approval'],
  succeeded: ['good', 'done'],
  failed: ['bad', 'failed'],
  denied: ['warn', 'denied'],
  cancelled: ['neutral', 'cancelled'],
  interrupted: ['warn', 'interrupted'],
};

const ANSWERABLE: readonly [Tone, string] = ['warn', 'needs an answer'];

/** A folded tool call: one line of its arguments and its result. A call that waits for somebody's answer is open. */
export function ToolCall({ call }: { readonly call: ToolCallView }) {
  const { callId, state, isClients, result, error, questions = [] } = call;
  return (
    <details className={style.tool} open={isForPeople(call) || undefined}>
      <Summary call={call} />
      <div className={style.body}>
        <h3>Arguments</h3>
        <Json value={call.arguments} />
        {state === 'waiting' && <Approval call={call} />}
        {isClients && state === 'running' && <ClientCall callId={callId} />}
        {questions.map((question) => (
          <ServerQuestion key={question.inputId} question={question} />
        ))}
        {error !== undefined && (
          <>
            <h3>{state === 'failed' ? 'Error' : 'What the model was told'}</h3>
            <p className={state === 'failed' ? style.error : ''}>{error}</p>
          </>
        )}
        {result && (
          <>
            <h3>Result</h3>
            <ToolResultView result={result} />
          </>
        )}
      </div>
    </details>
  );
}

function Summary({ call }: { readonly call: ToolCallView }) {
  const { toolName, serverId, state, decision, startedAt, endedAt } = call;
  const [tone, word] = state === 'running' && isForPeople(call) ? ANSWERABLE : states[state];
  const args = argumentsLine(call.arguments);
  const result = state === 'succeeded' || state === 'failed' ? resultLine(call) : '';
  return (
    <summary>
      <span className={style.head}>
        <code>{toolName}</code>
        {serverId !== null && <span className={style.muted}>{serverId}</span>}
        <Badge tone={tone}>{word}</Badge>
        {decision !== undefined && <span className={style.muted}>{decision}</span>}
        {endedAt && <span className={`${style.muted} ${style.time}`}>{duration(startedAt, endedAt)}</span>}
      </span>
      {(args !== '' || result !== '') && (
        <span className={style.lines}>
          {args !== '' && <span className={style.line}>{args}</span>}
          {result !== '' && <span className={style.line}>→ {result}</span>}
        </span>
      )}
    </summary>
  );
}

function Approval({ call: { callId, argumentsHash } }: { readonly call: ToolCallView }) {
  const feed = useFeed();
  const { focusComposer } = useChat();
  const { isKnown, mayApprove } = useSessionAccess(feed.sessionId);
  const hasScope = useMay('approvals:decide');
  const [isSent, setSent] = useState(false);
  if (hasScope && !isKnown) return null;
  if (!hasScope || !mayApprove) return <p>Somebody else decides whether the agent may run this tool.</p>;
  // Without a connection, the answer waits for the next one. A second answer would come too late.
  const answer = async (decide: (client: SessionRemote) => Promise<unknown>): Promise<void> => {
    setSent(true);
    focusComposer();
    if (!(await feed.do(decide))) setSent(false);
  };
  return (
    <fieldset className={style.approval}>
      <legend>The agent asks to run this tool with exactly these arguments.</legend>
      <Decision
        isSent={isSent}
        onApprove={() => void answer((client) => client.approve(callId, argumentsHash))}
        onDeny={(reason) => void answer((client) => client.deny(callId, reason))}
      />
    </fieldset>
  );
}
