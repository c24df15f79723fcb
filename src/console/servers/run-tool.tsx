// The index of the package would load a validator that compiles code, which the page's policy forbids.
import Form from '@rjsf/core/lib/components/Form.js';
import type { UiSchema } from '@rjsf/utils';
import { useRef, useState } from 'react';
import type { Tool } from '../../core/tool-call/tool.ts';
import type { ToolProgress } from '../../core/tool-call/tool-progress.ts';
import { useMay } from '../service/account.ts';
import { errorText } from '../service/api-error.ts';
import { Button } from '../ui/button.tsx';
import { span } from '../ui/time.ts';
import { ToolResultView } from '../ui/tool-result.tsx';
import { RunProgress } from './run-progress.tsx';
import { schemaValidator } from './schema-validator.ts';
import style from './servers.module.css';
import { type FinishedRun, runTool } from './tool-run.ts';

type Outcome =
  | { readonly kind: 'running'; readonly progress: ToolProgress | null; readonly cancel: () => void }
  | { readonly kind: 'done'; readonly run: FinishedRun }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'failed'; readonly error: string };

const uiSchema: UiSchema = { 'ui:submitButtonOptions': { norender: true }, 'ui:title': '' };

/** Runs a tool. The form for its arguments is generated from its schema. */
export function RunTool({ serverId, tool }: { readonly serverId: string; readonly tool: Tool }) {
  const mayRun = useMay('tools:execute');
  const [values, setValues] = useState<unknown>({});
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const runButton = useRef<HTMLButtonElement>(null);
  const isRunning = outcome?.kind === 'running';
  const run = async (): Promise<void> => {
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
      <Form
        schema={tool.inputSchema}
        uiSchema={uiSchema}
        validator={schemaValidator}
        formData={values}
        idPrefix={`${serverId}-${tool.name}`}
        onChange={({ formData }) => setValues(formData ?? {})}
        onSubmit={() => void (isRunning || !mayRun || run())}
        onError={() => setOutcome(null)}
        showErrorList={false}
        noHtml5Validate
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
      </Form>
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
