import { useState } from 'react';
import type { Tool } from '../../core/tool-call/tool.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { ErrorBoundary } from '../app/error-boundary.tsx';
import { errorText } from '../service/api-error.ts';
import { serverPath } from '../service/paths.ts';
import { useLoaded } from '../service/use-loaded.ts';
import { useMachines } from '../service/use-machines.ts';
import { Badge } from '../ui/badge.tsx';
import { quantity } from '../ui/quantity.ts';
import { RunTool } from './run-tool.tsx';
import style from './servers.module.css';

/** The tools of a server, each with a form to run it. They are loaded again when a server changes what it offers. */
export function Tools({ server }: { readonly server: McpServerRecord }) {
  const { serverChanges } = useMachines();
  const { answer, error } = useLoaded<{ tools: Tool[] }>(`${serverPath(server.id)}/tools`, serverChanges);
  const tools = answer?.tools;
  return (
    <section aria-label={`Tools of ${server.name}`} className={style.tools}>
      <h2>
        {server.name} <span className={style.muted}>{quantity(tools?.length ?? 0, 'tool')}</span>
      </h2>
      {error !== null && <p className={style.error}>{errorText(error)}</p>}
      {tools?.length === 0 && (
        <p className={style.empty}>
          {server.status === 'connected'
            ? 'The server offers no tools.'
            : 'The server is not connected, so it offers no tools.'}
        </p>
      )}
      {tools?.map((tool) => (
        <FoldedTool key={tool.name} serverId={server.id} tool={tool} />
      ))}
    </section>
  );
}

/** The form is made when the reader asks for it: one that cannot be made says so in its place alone. */
function FoldedTool({ serverId, tool }: { readonly serverId: string; readonly tool: Tool }) {
  const [wasOpened, setOpened] = useState(false);
  return (
    <details className={style.tool} onToggle={() => setOpened(true)}>
      <summary>
        <code>{tool.name}</code>
        {tool.repeatable && <Badge>repeatable</Badge>}
        <span className={style.summary}>{tool.description}</span>
      </summary>
      {wasOpened && (
        <ErrorBoundary
          fallback={({ message }) => (
            <p className={style.error}>There is no form for the arguments of this tool: {message}</p>
          )}
        >
          <RunTool serverId={serverId} tool={tool} />
        </ErrorBoundary>
      )}
    </details>
  );
}
