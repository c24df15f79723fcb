import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { projectRoot } from '../project/source-imports.ts';

type IsGenuine = (agentUrl: string, headers: IncomingHttpHeaders, body: string) => Promise<boolean>;

/** The function that docs/a2a.md shows to receivers of push notifications, as it stands there. */
export const isGenuine: IsGenuine = await documented();

async function documented(): Promise<IsGenuine> {
  const page = readFileSync(join(projectRoot, 'docs/a2a.md'), 'utf8');
  const code = page
    .split('```js\n')
    .find((block) => block.includes('isGenuine'))
    ?.split('```')[0];
  if (code === undefined) throw new Error('docs/a2a.md shows no isGenuine');
  const { isGenuine: shown } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return shown;
}
