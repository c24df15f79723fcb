import { z } from 'zod';
import { JsonRpcError, MCP_CODES, RPC } from '../../../core/json-rpc.ts';
import { isoTime } from '../../../core/session/view-session.ts';
import type { TurnMessage } from '../../../ports/service-requests.ts';
import { recordedTurn } from '../../turns/recorded-turn.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import { TASKS_EXTENSION, type TaskParams } from '../mcp-surface.ts';
import type { AgentSurfaceDeps } from './agent-deps.ts';
import { canBeAsked, describeQuestions, keyOf, questionsOf, takeAnswer } from './asked-question.ts';
import { chatResult } from './chat-result.ts';
import { ifNoSession } from './no-session.ts';
import { type McpTurnPlace, placeOf, taskIdOf } from './turn-place.ts';
import { McpTurnState } from './turn-state.ts';

/* A task is a turn of the agent. Everything about it is read from the log. */

const POLL_INTERVAL_MS = 1_000;
const Extensions = z.object({ [TASKS_EXTENSION]: z.looseObject({}) });

export function knowsTasks({ clientCapabilities, era }: McpCall): boolean {
  return era === 'modern' && Extensions.safeParse(clientCapabilities.extensions).success;
}

/** Starts a turn, and answers when its message is in the log. */
export async function beginTask(
  { bus }: AgentSurfaceDeps,
  message: TurnMessage,
  call: McpCall,
): Promise<McpObject> {
  const { turnId } = await bus.send('turn.start', message, call.context);
  const place = { sessionId: message.sessionId, turnId, agentId: call.context.agent };
  const { task } = await taskAt({ bus }, place, call);
  // What is asked of the client is told by `tasks/get` alone.
  return { resultType: 'task', ...task, status: 'working' };
}

export async function getTask(
  deps: AgentSurfaceDeps,
  { taskId }: TaskParams,
  call: McpCall,
): Promise<McpObject> {
  const place = requirePlace(taskId, call);
  const { task, state } = await taskAt(deps, place, call);
  const { outcome, questions } = state;
  if (outcome?.status === 'cancelled') return { ...task, status: 'cancelled', statusMessage: outcome.reason };
  // That the turn failed is a result of the tool: the status `failed` is for errors of the protocol.
  if (outcome) return { ...task, status: 'completed', result: chatResult(outcome, place.sessionId) };
  if (questions.length === 0) return { ...task, status: 'working' };
  const statusMessage = describeQuestions({ ...place, agentPath: call.context.agentPath }, questions);
  const asked = questions.filter((question) => canBeAsked(question, call));
  if (asked.length === 0) return { ...task, status: 'working', statusMessage };
  return { ...task, status: 'input_required', statusMessage, inputRequests: questionsOf(asked) };
}

/** Takes the answers to what `tasks/get` asked. Those that nobody waits for are ignored. */
export async function updateTask(
  deps: AgentSurfaceDeps,
  { taskId }: TaskParams,
  call: McpCall,
): Promise<McpObject> {
  const place = requirePlace(taskId, call);
  const { state } = await taskAt(deps, place, call);
  const { sessionId } = place;
  for (const question of state.questions) {
    const answer = call.input?.responses[keyOf(question)];
    if (answer !== undefined) await takeAnswer(deps.bus, { sessionId, question, answer }, call);
  }
  return {};
}

export async function cancelTask(
  deps: AgentSurfaceDeps,
  { taskId }: TaskParams,
  call: McpCall,
): Promise<McpObject> {
  const place = requirePlace(taskId, call);
  await taskAt(deps, place, call);
  const { sessionId, turnId } = place;
  const reason = 'the MCP client cancelled the task';
  await deps.bus.send('turn.cancel', { sessionId, turnId, reason }, call.context);
  return {};
}

interface FoundTask {
  readonly task: McpObject;
  readonly state: McpTurnState;
}

async function taskAt(
  { bus }: Pick<AgentSurfaceDeps, 'bus'>,
  place: McpTurnPlace,
  { context }: McpCall,
): Promise<FoundTask> {
  const taskId = taskIdOf(place);
  const recorded = await recordedTurn(bus, place, context).catch(ifNoSession);
  const [first] = recorded?.since ?? [];
  if (!recorded || !first) throw noTask(taskId);
  const state = new McpTurnState(place.turnId);
  for (const envelope of recorded.since) state.note(envelope);
  const times = { createdAt: isoTime(first.time), lastUpdatedAt: isoTime(state.changedAt) };
  return { task: { taskId, ...times, ttlMs: null, pollIntervalMs: POLL_INTERVAL_MS }, state };
}

function requirePlace(taskId: string, call: McpCall): McpTurnPlace {
  if (!knowsTasks(call))
    throw new JsonRpcError(MCP_CODES.missingCapability, 'Missing required client capability', {
      requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
    });
  const place = placeOf(taskId);
  if (place?.agentId !== call.context.agent) throw noTask(taskId);
  return place;
}

function noTask(taskId: string): JsonRpcError {
  return new JsonRpcError(RPC.invalidParams, 'Task not found', { taskId });
}
