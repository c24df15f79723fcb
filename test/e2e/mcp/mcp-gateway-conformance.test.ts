import { describe, expect } from 'vitest';
import { fixtureServer, startGateway } from '../../support/tools/gateway.ts';
import { conformance, NEXT_SUITE } from '../../support/tools/mcp/conformance-suite.ts';
import { verifies } from '../requirements.ts';

/** The scenarios that each revision requires. */
const REQUIRED = { '2025-11-25': 30, '2026-07-28': 37 };

describe('the conformance suite, with its fixtures behind the gateway', () => {
  for (const [revision, scenarios] of Object.entries(REQUIRED))
    verifies(
      'mcp.gateway-conformance',
      `every scenario that ${revision} requires`,
      async () => {
        await using service = await startGateway({ fixtures: fixtureServer('stateless') });
        const args = ['server', '--url', `${service.url}/mcp`, '--requirements', revision];
        // Exits with another code if a required scenario fails.
        const output = await conformance(args, NEXT_SUITE);
        const [, extensions = ''] = output.split('Not scored for');
        const passed = [...output.matchAll(/^✓ ([\w-]+): [1-9]/gm)].filter(
          ([, name]) => !extensions.includes(` ${name} (`),
        );
        expect(passed).toHaveLength(scenarios);
      },
      120_000,
    );
});
