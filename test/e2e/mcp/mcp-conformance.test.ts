import { afterAll, beforeAll, describe, expect } from 'vitest';
import { RunningService, SCRIPTED } from '../../support/service/running-service.ts';
import { type Check, conformance, serverChecks } from '../../support/tools/mcp/conformance-suite.ts';
import { verifies } from '../requirements.ts';

/** Those that ask for nothing but the protocol, and how many checks each makes. */
const applicable = {
  'server-initialize': 1,
  ping: 1,
  'tools-list': 1,
  'resources-list': 1,
  'server-sse-multiple-streams': 2,
  'dns-rebinding-protection': 2,
  'logging-set-level': 1,
  'resources-subscribe': 1,
  'resources-unsubscribe': 1,
};

/** Those that an agent cannot pass, by what they would need. */
const notApplicable = {
  'a tool, resource or prompt made for the scenario': [
    ...['tools-call-simple-text', 'tools-call-image', 'tools-call-audio', 'tools-call-embedded-resource'],
    ...[
      'tools-call-mixed-content',
      'tools-call-with-logging',
      'tools-call-error',
      'tools-call-with-progress',
    ],
    ...['tools-call-sampling', 'tools-call-elicitation', 'json-schema-2020-12'],
    ...['elicitation-sep1034-defaults', 'elicitation-sep1330-enums'],
    ...['resources-read-text', 'resources-read-binary', 'resources-templates-read'],
    ...[
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
    ],
  ],
  'prompts, which an agent does not offer': ['prompts-list'],
  'completion of arguments, which it does not offer': ['completion-complete'],
  'a tool that ends its own stream, so that the client comes back': ['server-sse-polling'],
};

/** The same by the suite of the next version of the protocol, in both eras. */
const applicableNext = {
  '2025-11-25': {
    'server-initialize': 3,
    'server-session-lifecycle': 3,
    'logging-set-level': 2,
    ping: 2,
    'tools-list': 3,
    'resources-list': 2,
    'resources-subscribe': 2,
    'resources-unsubscribe': 2,
    'server-sse-multiple-streams': 2,
    'dns-rebinding-protection': 2,
  },
  '2026-07-28': {
    'tools-list': 4,
    'resources-list': 2,
    'server-sse-multiple-streams': 1,
    'dns-rebinding-protection': 2,
    'http-header-validation': 14,
    'sep-2164-resource-not-found': 4,
    'input-required-result-unsupported-methods': 2,
  },
};

/** Each of the scenarios has made as many checks, and all have passed, without a warning. */
function expectPassed(found: Map<string, Check[]>, scenarios: Record<string, number>): void {
  for (const [scenario, count] of Object.entries(scenarios)) {
    const checks = found.get(scenario) ?? [];
    const bad = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    expect(bad, scenario).toEqual([]);
    const passed = checks.filter(({ status }) => status === 'SUCCESS');
    expect(passed, scenario).toHaveLength(count);
  }
}

describe('the conformance suite of the protocol', () => {
  let service: RunningService;
  beforeAll(async () => {
    const yaml = `${SCRIPTED}limits: { requestsPerMinute: false }\n`;
    service = await RunningService.start({ mode: 'mcp', yaml });
  });
  afterAll(() => service.close());

  verifies('mcp.conformance', async () => {
    expectPassed(await serverChecks(`${service.url}/mcp`), applicable);
  });

  for (const [version, scenarios] of Object.entries(applicableNext))
    verifies(
      'mcp.conformance',
      `the next suite passes at ${version}`,
      async () => expectPassed(await serverChecks(`${service.url}/mcp`, version), scenarios),
      120_000,
    );

  verifies('mcp.conformance', 'each scenario of the suite is run, or is known not to apply', async () => {
    const listed = await conformance(['list', '--server']);
    const scenarios = [...listed.matchAll(/^ +- (\S+)/gm)].map(([, name]) => name);
    const known = [...Object.keys(applicable), ...Object.values(notApplicable).flat()];
    expect(scenarios.sort()).toEqual(known.sort());
  });
});
