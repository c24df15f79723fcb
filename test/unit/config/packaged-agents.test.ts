import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPackageRoot } from '../../../src/app/package-root.ts';
import { exportAgentYaml } from '../../../src/config/export/export-agent.ts';
import { loadAgentFile } from '../../../src/config/reading/agent-file.ts';
import { approvalPolicy } from '../../../src/core/tool-call/approval-policy.ts';

const folder = join(findPackageRoot(), 'agents');
const load = (name: string, environment: Record<string, string> = {}) =>
  loadAgentFile(join(folder, name), environment);

describe('the agents that come with the package', () => {
  it.each(readdirSync(folder))('%s loads, and is exported without a problem', (name) => {
    const { config, raw } = load(name, { OPENAI_API_KEY: 'a-key' });
    expect(config.systemPrompt).not.toBe('');
    expect(exportAgentYaml(raw, { removed: new Set(), added: {} })).not.toContain('a-key');
  });

  it('default needs no environment', () => {
    const { config } = load('default.yml');
    expect(config.llm).toMatchObject({ provider: 'scripted', model: 'offline' });
    expect(config.mcpServers).toMatchObject({
      everything: { type: 'stdio', command: 'agent-service', args: ['example-tools'] },
    });
  });

  it('openai takes its key from the environment, and says so when there is none', () => {
    expect(load('openai.yml', { OPENAI_API_KEY: 'a-key' }).config.llm.apiKey).toBe('a-key');
    expect(() => load('openai.yml')).toThrow('llm.apiKey: the variable OPENAI_API_KEY is not set');
  });

  it('careful asks before most get- tools and never offers the one that shows the environment', () => {
    const { approval } = load('careful.yml').config;
    const policyOf = (toolName: string) => approvalPolicy(approval, { serverId: 'everything', toolName });
    expect(['get-sum', 'get-env', 'echo'].map(policyOf)).toEqual(['ask', 'deny', 'auto']);
  });

  it('ollama has defaults for all it reads', () => {
    expect(load('ollama.yml').config.llm).toMatchObject({
      provider: 'ollama',
      model: 'llama3.2',
      baseURL: 'http://127.0.0.1:11434/v1',
      temperature: 0.2,
    });
    expect(load('ollama.yml', { OLLAMA_MODEL: 'qwen3' }).config.llm.model).toBe('qwen3');
  });

  it('orchestrator finds the researcher where the researcher listens', () => {
    const researcher = load('researcher.yml').config;
    const orchestrator = load('orchestrator.yml').config;
    expect(orchestrator.mcpServers).toMatchObject({
      researcher: { type: 'http', baseUrl: `http://127.0.0.1:${researcher.server.port}/mcp` },
    });
    expect(orchestrator.server.dataDir).not.toBe(researcher.server.dataDir);
  });

  it('orchestrator passes on what it is asked', () => {
    const rule = load('orchestrator.yml').config.llm.script[0];
    expect(rule?.toolCalls).toEqual([{ tool: 'chat_with_agent', arguments: { message: '$1' } }]);
    const groups = new RegExp(rule?.when ?? '', 'iu').exec('ask what is the weather in Chicago?');
    expect(groups?.[1]).toBe('what is the weather in Chicago?');
  });

  it('researcher looks up the weather and answers everything else', () => {
    const { script } = load('researcher.yml').config.llm;
    const answers = (text: string) => script.find((rule) => new RegExp(rule.when, 'iu').test(text));
    expect(answers('what is the weather in chicago?')?.toolCalls[0]?.arguments).toEqual({
      location: 'Chicago',
    });
    expect(answers('state machines')?.reply).toContain('I have read all');
  });
});
