import { useRef, useState } from 'react';
import type { Tool } from '../../core/tool-call/tool.ts';
import type { ToolProgress } from '../../core/tool-call/tool-progress.ts';
import { useMay } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';
import { SchemaForm } from '../ui/schema-form.tsx';
import { span } from '../ui/time.ts';
import { ToolResultView } from '../ui/tool-result.tsx';
import { RunProgress } from './run-progress.tsx';
import style from './servers.module.css';
import { type FinishedRun, runTool } from './tool-run.ts';

type Outcome =
  | { readonly kind: 'running'; readonly progress: ToolProgress | null; readonly cancel: () => void }
  | { readonly kind: 'done'; readonly run: FinishedRun }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: string };

/** Runs a tool. The form for its arguments is generated from its schema. */
export function RunTool({ serverId, tool }: { readonly serverId: string; readonly tool: Tool }) {
  const mayRun = useMay('tools:execute');
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const runButton = useRef<HTMLButtonElement>(null);
  const isRunning = outcome?.kind === 'running';
  const run = async (values: unknown): Promise<void> => {
    const abort = new AbortController();
    const { signal } = abort;
    // The button that has the focus is about to disappear.
    const cancel = (): void => {
      runButton.current?.focus();
      abort.abort();
    };
    const onProgress = (progress: ToolProgress) => setOutcome({ kind: 'running', progress, cancel });
    setOutcome({ kind: 'running', progress: null, cancel });
    try {
      const finished = await runTool({ serverId, name: tool.name }, values, { signal, onProgress });
      setOutcome({ kind: 'done', run: finished });
    } catch (error) {
      setOutcome(signal.aborted ? { kind: 'cancelled' } : { kind: 'failed', error: errorText(error) });
    }
  };
  return (
    <div className={style.run}>
      <p className={style.muted}>{tool.description}</p>
      <SchemaForm
        schema={tool.inputSchema}
        idPrefix={`${serverId}-${tool.name}`}
        onSubmit={(values) => void (isRunning || !mayRun || run(values))}
        onError={() => setOutcome(null)}
      >
        {mayRun ? (
          <div className={style.actions}>
            {/* Not `disabled` while the tool runs: the button would lose the focus. */}
            <Button kind="primary" type="submit" ref={runButton} aria-disabled={isRunning}>
              Run
            </Button>
            {isRunning && <Button onClick={outcome.cancel}>Cancel</Button>}
          </div>
        ) : (
          <p className={style.muted}>
            To run it, your key needs the scope <code>tools:execute</code>.
          </p>
        )}
      </SchemaForm>
      {isRunning && <RunProgress progress={outcome.progress} />}
      <div aria-live="polite">{outcome && <Ended outcome={outcome} />}</div>
    </div>
  );
}

function Ended({ outcome }: { readonly outcome: Outcome }) {
  switch (outcome.kind) {
    case 'running':
      return null;
    case 'cancelled':
      return <p className={style.muted}>Cancelled. The server was told to stop.</p>;
    case 'failed':
      return <p className={style.error}>{outcome.error}</p>;
    case 'done':
      return (
        <>
          <p className={style.muted}>Answered in {span(outcome.run.execution.duration)}</p>
          <ToolResultView result={outcome.run.data} />
        </>
      );
    default:
      return outcome satisfies never;
  }
}
