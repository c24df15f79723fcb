import { useState } from 'react';
import { useMay } from '../service/account.ts';
import { sessionPath } from '../service/paths.ts';
import { useFeed } from '../service/use-session.ts';
import { useSessionAccess } from '../sharing/session-access.ts';
import { Button } from '../ui/button.tsx';
import style from './tool-call.module.css';
import { useAnswer } from './use-answer.ts';

/** A call of a tool that a client has lent. Whoever may talk in the session may answer in the place of that client. */
export function ClientCall({ callId }: { readonly callId: string }) {
  const { sessionId } = useFeed();
  const { mayTalk } = useSessionAccess(sessionId);
  const mayAnswer = useMay('sessions:write') && mayTalk;
  const { isSent, problem, send } = useAnswer(
    `${sessionPath(sessionId)}/calls/${encodeURIComponent(callId)}`,
  );
  const [content, setContent] = useState('');
  if (!mayAnswer) return <p>The client that lent this tool runs it.</p>;
  return (
    <fieldset className={style.approval}>
      <legend>The client that lent this tool runs it. You can answer in its place.</legend>
      <textarea
        aria-label="Result of the call"
        placeholder="What came of the call? The agent reads it"
        rows={3}
        value={content}
        disabled={isSent}
        onChange={({ target }) => setContent(target.value)}
      />
      <Button kind="primary" disabled={isSent} onClick={() => send({ content })}>
        Send result
      </Button>
      <Button kind="danger" disabled={isSent} onClick={() => send({ content, isError: true })}>
        Send as error
      </Button>
      {problem !== null && <p role="alert">{problem}</p>}
    </fieldset>
  );
}
