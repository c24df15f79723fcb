import { expect, test } from 'vitest';
import { ajvSchemaCheck } from '../../../src/adapters/ajv/ajv-schema-check.ts';
import { callResult, toolOutcome } from '../../../src/adapters/mcp/tools/call-result.ts';
import { OutputCheck } from '../../../src/adapters/mcp/tools/output-check.ts';
import { recordingLog } from '../../support/telemetry/recording-log.ts';

const check = new OutputCheck(new Map(), {
  schemas: ajvSchemaCheck(recordingLog()),
  onUnusable: () => undefined,
});
const outcomeOf = (structuredContent: unknown) =>
  toolOutcome('t', callResult({ content: [], structuredContent }), check);

test.each([[[1]], ['text'], [''], [0], [false], [{}]])('takes %j for a structured result', async (value) => {
  expect(await outcomeOf(value)).toEqual({
    status: 'succeeded',
    result: { content: [], structuredContent: value },
  });
});

test.each([[null], [undefined]])('takes %j for none', async (value) => {
  expect(await outcomeOf(value)).toEqual({ status: 'succeeded', result: { content: [] } });
});
