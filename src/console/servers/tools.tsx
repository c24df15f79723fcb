import { useEffect, useState } from 'react';
import type { Tool } from '../../core/tool-call/tool.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { get } from '../service/api.ts';
import { errorText } from '../service/api-error.ts';
import { serverPath } from '../service/paths.ts';
import { Badge } from '../ui/badge.tsx';
import { quantity } from '../ui/quantity.ts';
import { RunTool } from './run-tool.tsx';
import style from './servers.module.css';

/** The tools of a server, each with a form to run it. */
export function Tools({ server }: { readonly server: McpServerRecord }) {
  const [tools, setTools] = useState<readonly Tool[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    get<{ tools: Tool[] }>(`${serverPath(server.id)}/tools`).then(
      (answer) => setTools(answer.tools),
      (error: unknown) => setProblem(errorText(error)),
    );
  }, [server.id]);
  return (
    <section aria-label={`Tools of ${server.name}`} className={style.tools}>
      <h2>
        {server.name} <span className={style.muted}>{quantity(tools?.length ?? 0, 'tool')}</span>
      </h2>
      {problem !== null && <p className={style.error}>{problem}</p>}
      {tools?.length === 0 && (
        <p className={style.empty}>
          {server.status === 'connected'
            ? 'The server offers no tools.'
            : 'The server is not connected, so it offers no tools.'}
        </p>
      )}
      {tools?.map((tool) => (
        <details key={tool.name} className={style.tool}>
          <summary>
            <code>{tool.name}</code>
            {tool.repeatable && <Badge>repeatable</Badge>}
            <span className={style.summary}>{tool.description}</span>
          </summary>
          <RunTool serverId={server.id} tool={tool} />
        </details>
      ))}
    </section>
  );
}
