// The index of the package would load a validator that compiles code, which the page's policy forbids.
import Form from '@rjsf/core/lib/components/Form.js';
import type { UiSchema } from '@rjsf/utils';
import { useState } from 'react';
import type { Tool, ToolResult } from '../../core/tool-call/tool.ts';
import { errorText, post } from '../service/api.ts';
import { serverPath } from '../service/paths.ts';
import { Button } from '../ui/button.tsx';
import { span } from '../ui/time.ts';
import { ToolResultView } from '../ui/tool-result.tsx';
import { schemaValidator } from './schema-validator.ts';
import style from './servers.module.css';

type Outcome =
  | { readonly kind: 'running' }
  | { readonly kind: 'done'; readonly result: ToolResult; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly error: string };

const uiSchema: UiSchema = { 'ui:submitButtonOptions': { norender: true }, 'ui:title': '' };

/** Runs a tool. The form for its arguments is generated from its schema. */
export function RunTool({ serverId, tool }: { readonly serverId: string; readonly tool: Tool }) {
  const [values, setValues] = useState<unknown>({});
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const run = async (): Promise<void> => {
    setOutcome({ kind: 'running' });
    const path = `${serverPath(serverId)}/tools/${encodeURIComponent(tool.name)}/execute`;
    try {
      const { data, execution } = await post<{ data: ToolResult; execution: { duration: number } }>(
        path,
        values,
      );
      setOutcome({ kind: 'done', result: data, durationMs: execution.duration });
    } catch (error) {
      setOutcome({ kind: 'failed', error: errorText(error) });
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
        onSubmit={() => void run()}
        onError={() => setOutcome(null)}
        showErrorList={false}
        noHtml5Validate
      >
        <Button kind="primary" type="submit" disabled={outcome?.kind === 'running'}>
          {outcome?.kind === 'running' ? 'Running…' : 'Run'}
        </Button>
      </Form>
      <div aria-live="polite">
        {outcome?.kind === 'failed' && <p className={style.error}>{outcome.error}</p>}
        {outcome?.kind === 'done' && (
          <>
            <p className={style.muted}>Answered in {span(outcome.durationMs)}</p>
            <ToolResultView result={outcome.result} />
          </>
        )}
      </div>
    </div>
  );
}
