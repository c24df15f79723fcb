import { lazy, Suspense } from 'react';
import { visible } from '../../core/visible.ts';
import { useMay } from '../service/account.ts';
import { sessionPath } from '../service/paths.ts';
import { useFeed } from '../service/use-session.ts';
import { useSessionAccess } from '../sharing/session-access.ts';
import { Button } from '../ui/button.tsx';
import type { QuestionView } from './conversation.ts';
import type { QuestionReply } from './question-reply.ts';
import style from './tool-call.module.css';
import { useAnswer } from './use-answer.ts';

/** Forms are large, and most conversations have none. */
const QuestionForm = lazy(async () => ({ default: (await import('./question-form.tsx')).QuestionForm }));

/** What a tool server asks, with the form for the answer. */
export function ServerQuestion({ question }: { readonly question: QuestionView }) {
  const { sessionId } = useFeed();
  const { isKnown, mayTalk } = useSessionAccess(sessionId);
  const hasScope = useMay('sessions:write');
  const mayAnswer = hasScope && mayTalk;
  const path = `${sessionPath(sessionId)}/inputs/${encodeURIComponent(question.inputId)}`;
  const { isSent, problem, send } = useAnswer(path);
  return (
    <fieldset className={style.approval}>
      <legend>The tool server asks: {question.message}</legend>
      {mayAnswer ? (
        <Suspense fallback={<p className={style.muted}>…</p>}>
          <Answer question={question} isSent={isSent} onReply={send} />
        </Suspense>
      ) : (
        (isKnown || !hasScope) && <p>Somebody else answers.</p>
      )}
      {problem !== null && <p role="alert">{problem}</p>}
    </fieldset>
  );
}

interface AnswerProps {
  readonly question: QuestionView;
  readonly isSent: boolean;
  readonly onReply: (reply: QuestionReply) => void;
}

function Answer({ question: { inputId, question }, isSent, onReply }: AnswerProps) {
  const decline = (
    <Button kind="danger" disabled={isSent} onClick={() => onReply({ action: 'decline' })}>
      Decline
    </Button>
  );
  if (question.mode === 'form')
    return (
      <QuestionForm schema={question.schema} idPrefix={inputId} isSent={isSent} onReply={onReply}>
        {decline}
      </QuestionForm>
    );
  return (
    <>
      {question.mode === 'url' && (
        <p>
          <a href={question.url} target="_blank" rel="noreferrer">
            {visible(question.url)}
          </a>
        </p>
      )}
      {question.mode === 'sampling' && <Prompt {...question} />}
      <Button kind="primary" disabled={isSent} onClick={() => onReply({ action: 'accept' })}>
        Accept
      </Button>
      {decline}
    </>
  );
}

interface PromptProps {
  readonly systemPrompt?: string | undefined;
  readonly prompt: string;
}

function Prompt({ systemPrompt, prompt }: PromptProps) {
  return (
    <>
      {systemPrompt !== undefined && <pre className={style.muted}>{visible(systemPrompt)}</pre>}
      <pre>{visible(prompt)}</pre>
    </>
  );
}
