import { memo } from 'react';
import type { RunningStep } from '../service/running-step.ts';
import { Badge } from '../ui/badge.tsx';
import style from './chat.module.css';
import { isForPeople, type StepView, type TurnView } from './conversation.ts';
import { IsGrowing } from './growing.ts';
import { Markdown } from './markdown.tsx';
import { ThoughtView } from './thought.tsx';
import { ToolCall } from './tool-call.tsx';
import { TurnFooter } from './turn-footer.tsx';
import { UserMessage } from './user-message.tsx';

interface TurnProps {
  readonly turn: TurnView;
  /** The step that is streaming and not yet in the log. */
  readonly running: RunningStep | null;
}

/** One message and its reply: steps, tool calls, and how the turn ended. */
export const Turn = memo(function Turn({ turn, running }: TurnProps) {
  const { message, status, error, isCut } = turn;
  // The running step is in the same list, so that what the reader has opened stays open when the step ends.
  const steps = running ? [...turn.steps, { ...running, calls: [] }] : turn.steps;
  return (
    <article className={style.turn} aria-label={`Turn: ${message.slice(0, 60)}`}>
      <UserMessage turn={turn} />
      <div className={style.reply}>
        {steps.map((step) => (
          <IsGrowing key={step.step} value={step.step === running?.step}>
            <Step step={step} isThinking={step.step === running?.step && step.text === ''} />
          </IsGrowing>
        ))}
        {status === 'waiting' && <p className={style.muted}>Waiting for its turn…</p>}
        {status === 'running' && !running && <Working turn={turn} />}
        {isCut && <CutNote />}
        {error && <Ending error={error} />}
      </div>
      <TurnFooter turn={turn} />
    </article>
  );
});

function Step({ step, isThinking }: { readonly step: StepView; readonly isThinking: boolean }) {
  const { text, thought, calls, issue } = step;
  return (
    <div className={style.step}>
      {thought && <ThoughtView thought={thought} isThinking={isThinking} />}
      <Markdown text={text} />
      {issue !== undefined && (
        <p className={style.ending}>
          <Badge tone="warn">asked for again</Badge> The reply does not fit its schema: {issue}
        </p>
      )}
      {calls.map((call) => (
        <ToolCall key={call.callId} call={call} />
      ))}
    </div>
  );
}

function Working({ turn }: { readonly turn: TurnView }) {
  const isWaiting = turn.steps.at(-1)?.calls.some(isForPeople);
  return <p className={style.muted}>{isWaiting ? 'Waiting for your answer…' : 'Working…'}</p>;
}

function Ending({ error }: { readonly error: NonNullable<TurnView['error']> }) {
  const isCancelled = error.code === 'TURN_CANCELLED';
  const { reason } = error.details;
  return (
    <p className={style.ending}>
      <Badge tone={isCancelled ? 'warn' : 'bad'}>{isCancelled ? 'cancelled' : 'failed'}</Badge>{' '}
      {typeof reason === 'string' ? reason : error.message}
    </p>
  );
}

function CutNote() {
  return (
    <p className={style.ending}>
      <Badge tone="warn">cut off</Badge>{' '}
      <span>The reply ended at the token limit. Raise llm.maxTokens, or ask to continue.</span>
    </p>
  );
}
