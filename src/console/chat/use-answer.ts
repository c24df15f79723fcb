import { useState } from 'react';
import { post } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { useChat } from './chat-context.ts';

/** An answer that is sent once, and again only if it was refused. */
export interface Answering {
  readonly isSent: boolean;
  /** Why the last answer was refused. */
  readonly problem: string | null;
  readonly send: (answer: object) => void;
}

/** @param path to which the answer is posted. */
export function useAnswer(path: string): Answering {
  const { focusComposer } = useChat();
  const [isSent, setSent] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const send = (answer: object): void => {
    if (isSent) return;
    setSent(true);
    setProblem(null);
    post(path, answer).then(focusComposer, (error: unknown) => {
      setSent(false);
      setProblem(errorText(error));
    });
  };
  return { isSent, problem, send };
}
