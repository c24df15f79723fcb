import { describe, expect, it } from 'vitest';
import { ANYONE } from '../../../src/core/request/request-context.ts';
import type { SchemaVerdict } from '../../../src/ports/schema-check.ts';
import { UsableTools } from '../../../src/runtime/requests/usable-tools.ts';

const tool = (name: string, inputSchema: Record<string, unknown>) => ({ name, description: '', inputSchema });

/** Tools whose schemas are unusable if they say so, and how many schemas were looked at. */
function checkedTools() {
  const checked: unknown[] = [];
  const ofClient = async (schema: object): Promise<SchemaVerdict> => {
    checked.push(schema);
    return 'broken' in schema ? { unusable: 'it is broken' } : { issue: 'it lacks a field' };
  };
  return { tools: new UsableTools({ ofClient }), checked };
}

describe('the tools that a client lends', () => {
  it('are refused if the schema of one cannot be used', async () => {
    const { tools } = checkedTools();
    const clientTools = [tool('good', {}), tool('bad', { broken: true })];
    const details = { field: 'clientTools.1.inputSchema', issue: 'it is broken', toolName: 'bad' };
    for (let time = 1; time <= 2; time += 1)
      await expect(tools.require({ clientTools }, ANYONE)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
        details,
      });
  });

  it('are checked once, as long as their schemas stay the same', async () => {
    const { tools, checked } = checkedTools();
    await tools.require({ clientTools: [tool('a', { title: 'one' })] }, ANYONE);
    await tools.require({ clientTools: [tool('b', { title: 'one' })] }, ANYONE);
    expect(checked).toHaveLength(1);
    await tools.require({ clientTools: [tool('a', { title: 'two' })] }, ANYONE);
    expect(checked).toHaveLength(2);
  });

  it('cost nothing where there are none', () => {
    expect(checkedTools().tools.require(undefined, ANYONE)).toBeUndefined();
    expect(checkedTools().tools.require({}, ANYONE)).toBeUndefined();
  });
});
