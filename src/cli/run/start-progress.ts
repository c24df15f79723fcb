import type { Agent } from '../../app/agent.ts';
import { progressLine, toolServerLine } from './welcome.ts';
import { whenSlow } from './when-slow.ts';

/** Prints the outcome of each tool server's first attempt, and a line if the search for unfinished turns takes long. */
export async function reportProgress(
  { toolServers, recovered }: Agent,
  tell: (text: string) => void,
): Promise<void> {
  const servers = toolServers.map(async ({ name, settled }) => {
    const starting = () => tell(progressLine('tools', `${name} is starting`));
    const { record, tools } = await whenSlow(settled, starting);
    tell(toolServerLine(record, tools));
  });
  const turns = whenSlow(recovered, () => tell(progressLine('sessions', 'looking for unfinished turns')));
  await Promise.all([...servers, turns]);
}
