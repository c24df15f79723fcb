import type { Tool } from '../../core/tool-call/tool.ts';
import type { McpServerRecord } from '../../core/tool-server/mcp-server-record.ts';
import { errorText } from '../service/api-error.ts';
import { serverPath } from '../service/paths.ts';
import { useLoaded } from '../service/use-loaded.ts';
import { Badge } from '../ui/badge.tsx';
import { quantity } from '../ui/quantity.ts';
import { RunTool } from './run-tool.tsx';
import style from './servers.module.css';

/** The tools of a server, each with a form to run it. */
export function Tools({ server }: { readonly server: McpServerRecord }) {
  const { answer, error } = useLoaded<{ tools: Tool[] }>(`${serverPath(server.id)}/tools`);
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
