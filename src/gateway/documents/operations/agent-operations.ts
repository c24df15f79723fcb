import { z } from 'zod';
import { AgentId } from '../../../core/agent-description.ts';
import { scopeOf } from '../../../ports/request-rules.ts';
import { AgentResponse, AgentsResponse, ReloadAgentResponse } from '../../../wire/responses.ts';
import { JSON_TYPE, type Operation, ok } from './operation.ts';

const support = {
  agentId: 'default',
  isDefault: true,
  name: 'agent-service',
  model: 'scripted offline',
  agentVersion: '3f1d9c0b7a52',
};

const agents: Operation = {
  id: 'listAgents',
  scope: scopeOf('agent.list'),
  method: 'GET',
  path: '/api/agents',
  tag: 'Service',
  summary: 'The agents of the service',
  description:
    'A service with `agents` in its service file has several. A request is for the agent in its path (`/agents/{agentId}/api/…`), else in its query (`?agent=`), else in its body (`agent`), else for the first one.',
  answers: { [JSON_TYPE]: AgentsResponse },
  errors: [],
  examples: [{ name: 'one', summary: 'A service with one agent', answer: ok({ agents: [support] }) }],
};

const reload: Operation = {
  id: 'reloadAgent',
  scope: scopeOf('agent.reload'),
  method: 'POST',
  path: '/api/agents/:agentId/reload',
  tag: 'Service',
  summary: 'Read the file of an agent again',
  description:
    'Turns that begin later run with what the file says then. Turns that run keep to what it said when they began. If the file is not valid, the agent stays as it was. SIGHUP does the same for all agents of a service that was started with `--config`.',
  pathParameters: z.object({ agentId: AgentId }),
  answers: { [JSON_TYPE]: ReloadAgentResponse },
  errors: ['AGENT_NOT_FOUND'],
  examples: [
    {
      name: 'unchanged',
      summary: 'The file is as it was',
      parameters: { agentId: 'default' },
      answer: ok({
        status: 'unchanged',
        agentId: 'default',
        agentVersion: '3f1d9c0b7a52',
        servers: { added: [], changed: [], removed: [] },
        needRestart: [],
      }),
    },
    {
      name: 'unknownAgent',
      summary: 'An agent that the service does not have',
      parameters: { agentId: 'nobody' },
      answer: {
        error: 'AGENT_NOT_FOUND',
        message: 'There is no agent nobody.',
        details: {
          agentId: 'nobody',
          available: ['default'],
          suggestion: 'GET /api/agents lists them.',
        },
      },
    },
  ],
};

const agent: Operation = {
  id: 'describeAgent',
  scope: scopeOf('agent.describe'),
  method: 'GET',
  path: '/api/agent',
  tag: 'Service',
  summary: 'The agent: its name, model, prompt, tools and suggestions',
  description: 'Without secrets. The prompt shows variables by their names.',
  answers: { [JSON_TYPE]: AgentResponse },
  errors: [],
  examples: [
    {
      name: 'offline',
      summary: 'An offline agent',
      answer: ok({
        name: 'agent-service',
        model: { provider: 'scripted', name: 'offline' },
        systemPrompt: 'You are a helpful assistant.',
        tools: [
          {
            serverId: 'everything',
            name: 'echo',
            policy: 'ask',
            description: 'Echoes back the input string',
          },
        ],
        suggestions: ['Hello!', 'What can you do?', 'Which tools do you have?'],
        maxImageBytes: 10 * 1024 * 1024,
      }),
    },
  ],
};

/** The agents of the service, and the one that a request is for. */
export const agentOperations: readonly Operation[] = [agents, reload, agent];
