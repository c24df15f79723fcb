import { mcpServerMachine } from '../../../machines/mcp-server.machine.ts';
import { turnMachine } from '../../../machines/turn.machine.ts';
import { mermaid } from './mermaid.ts';

const machines = [turnMachine, mcpServerMachine];

/** The same text with the statecharts between its markers drawn from the machines as they are now. */
export function withCharts(markdown: string): string {
  return machines.reduce((text, machine) => {
    const [begin, end] = [`<!-- chart: ${machine.id} -->`, `<!-- /chart: ${machine.id} -->`];
    const [before, rest] = splitOnce(text, begin);
    const [, after] = splitOnce(rest, end);
    return `${before}${begin}\n\n\`\`\`mermaid\n${mermaid(machine)}\n\`\`\`\n\n${end}${after}`;
  }, markdown);
}

function splitOnce(text: string, marker: string): [string, string] {
  const at = text.indexOf(marker);
  if (at === -1) throw new Error(`the marker ${marker} is missing`);
  return [text.slice(0, at), text.slice(at + marker.length)];
}
