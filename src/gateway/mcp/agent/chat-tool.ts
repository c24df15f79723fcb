import { z } from 'zod';
import { ServiceError } from '../../../core/errors.ts';
import type { SessionId } from '../../../core/ids.ts';
import { afterLeaving } from '../../../core/request/request-context.ts';
import type { ReplyChunk } from '../../../core/session/session-signal.ts';
import { checkImageSize } from '../../../core/size-limits.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { TurnMessage } from '../../../ports/service-requests.ts';
import { SentImage } from '../../../wire/requests.ts';
import { holdSession } from '../../security/held-session.ts';
import { turnCancelled } from '../../turns/turn-end.ts';
import { turnMessage } from '../../turns/turn-message.ts';
import type { McpCall } from '../mcp-call.ts';
import type { McpObject } from '../mcp-object.ts';
import { ToldText } from '../told-text.ts';
import type { AgentSurfaceDeps } from './agent-deps.ts';
import { beginTask, knowsTasks } from './agent-tasks.ts';
import { canBeAsked, keyOf, questionsOf, takeAnswer, turnOf } from './asked-question.ts';
import { callKey, conversationOf, keyIdOf } from './call-key.ts';
import { chatResult } from './chat-result.ts';
import { CHAT_TOOL_NAME } from './chat-tool-name.ts';
import { SessionArgument } from './conversation.ts';
import { failedCall } from './failed-call.ts';
import { FollowedTurn } from './followed-turn.ts';
import { OpenQuestions, tellOfQuestion } from './open-questions.ts';
import { openState, sealState } from './request-state.ts';
import { toolError } from './tool-result.ts';
import { type McpTurnPlace, placeOf, taskIdOf } from './turn-place.ts';

const CANCELLED = 'the MCP client cancelled the call';

export const ChatArguments = z.object({
  message: z.string().min(1).describe('What to say to the agent.'),
  imageData: SentImage.optional().describe('An image that the agent should see.'),
  sessionId: SessionArgument,
});

const ChatOutput = z.object({
  reply: z.string().describe('The full reply of the agent.'),
  sessionId: z.string().describe('The conversation. Give it with the next message to go on in it.'),
});

export const CHAT_TOOL = {
  name: CHAT_TOOL_NAME,
  title: 'Chat with the agent',
  description:
    'Sends a message to the agent and answers with its full reply. The agent remembers the conversation.',
  inputSchema: z.toJSONSchema(ChatArguments, { io: 'input' }),
  outputSchema: z.toJSONSchema(ChatOutput),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
} as const;

/**
 * Answers a message. A client that knows tasks gets one. The others wait: where a tool call needs approval, or its server asks
 * something, those that can ask their users do so.
 */
export async function chatWithAgent(
  deps: AgentSurfaceDeps,
  asked: z.output<typeof ChatArguments>,
  call: McpCall,
): Promise<McpObject> {
  const { state: brought } = call.input ?? {};
  const state = brought === undefined ? undefined : await openState(deps.secrets, brought, call);
  const place = state && placeOf(state.taskId);
  if (state && place) return goOn(deps, { place, leftOpen: state.leftOpen }, call);
  const sessionId = asked.sessionId ?? (await conversationOf(call));
  try {
    checkImageSize(asked.imageData, deps.maxRequestBytes);
    const message = await messageOf(asked, sessionId, call);
    // A cancellation that arrived together with the call was handled before it.
    if (call.signal.aborted) throw turnCancelled(CANCELLED);
    if (knowsTasks(call)) return await beginTask(deps, message, call);
    const chat = { place: { ...message, agentId: call.context.agent }, leftOpen: [] };
    return await following(deps, chat, call, async (turn) => {
      const { turnId, waitsFor = [] } = await deps.bus.send('turn.start', message, call.context);
      // The call was repeated: its turn has begun before.
      if (turnId !== message.turnId) return goOn(deps, { ...chat, place: { ...chat.place, turnId } }, call);
      for (const approval of waitsFor) tellOfQuestion(call, sessionId, { kind: 'approval', approval });
      return answerOf(deps, { ...chat, turn }, call);
    });
  } catch (thrown) {
    return failedCall(thrown, sessionId, deps.log);
  }
}

/** Without a key, a call that is repeated says its message again. */
async function messageOf(
  { message: text, imageData: image }: z.output<typeof ChatArguments>,
  sessionId: SessionId,
  call: McpCall,
): Promise<TurnMessage> {
  const keyId = keyIdOf(call);
  const key = keyId === undefined ? undefined : await callKey(keyId, { text, image });
  const message = turnMessage({ sessionId, text, image, key });
  // The stream of the call names its turn before the turn begins.
  return call.turnId === undefined ? message : { ...message, turnId: call.turnId };
}

interface Chat {
  readonly place: McpTurnPlace;
  /** The keys of the questions that the client left to others. */
  readonly leftOpen: readonly string[];
}

/** The client has come back with answers, perhaps to another node. */
async function goOn(deps: AgentSurfaceDeps, { place, leftOpen }: Chat, call: McpCall): Promise<McpObject> {
  try {
    return await following(deps, { place, leftOpen }, call, async (turn) => {
      if (!(await turn.catchUp(place, call.context)))
        return toolError('The conversation is no longer there.');
      const left = [...leftOpen, ...(await takeAnswers(deps.bus, { place, turn }, call))];
      return answerOf(deps, { place, leftOpen: left, turn }, call);
    });
  } catch (thrown) {
    return failedCall(thrown, place.sessionId, deps.log);
  }
}

/** @returns the keys of the questions that the client leaves to others. */
async function takeAnswers(
  bus: Bus,
  { place: { sessionId }, turn }: { readonly place: McpTurnPlace; readonly turn: FollowedTurn },
  call: McpCall,
): Promise<string[]> {
  const left: string[] = [];
  for (const question of turn.questions) {
    const key = keyOf(question);
    const answer = call.input?.responses[key];
    if (answer === undefined) continue;
    const taken = takeAnswer(bus, { sessionId, question, answer }, call);
    const outcome = await taken.catch(forbidden);
    if (outcome === 'forbidden') tellOfQuestion(call, sessionId, question);
    if (outcome === 'open' || outcome === 'forbidden') left.push(key);
  }
  return left;
}

/** In a session that is shared with the client, only its answer shows whether it may decide. */
function forbidden(thrown: unknown): 'forbidden' {
  if (thrown instanceof ServiceError && thrown.code === 'FORBIDDEN') return 'forbidden';
  throw thrown;
}

async function answerOf(
  { secrets }: AgentSurfaceDeps,
  { place, leftOpen, turn }: Chat & { readonly turn: FollowedTurn },
  call: McpCall,
): Promise<McpObject> {
  const asksInResult = call.era === 'modern';
  const stop = await turn.stop(
    (question) => asksInResult && canBeAsked(question, call) && !leftOpen.includes(keyOf(question)),
  );
  if ('outcome' in stop) return chatResult(stop.outcome, place.sessionId);
  const requestState = await sealState(secrets, { taskId: taskIdOf(place), leftOpen }, call);
  return { resultType: 'input_required', inputRequests: questionsOf(stop.questions), requestState };
}

/** Follows the turn while `use` is at it. A client that cancels the call cancels the turn. */
async function following<T>(
  { bus, log }: AgentSurfaceDeps,
  { place, leftOpen }: Chat,
  call: McpCall,
  use: (turn: FollowedTurn) => Promise<T>,
): Promise<T> {
  const { sessionId, turnId } = place;
  const cancel = (): void => {
    bus
      .send('turn.cancel', { sessionId, turnId, reason: CANCELLED }, afterLeaving(call.context))
      .catch((err: unknown) => {
        log.warn({ sessionId, turnId, err }, 'a turn could not be cancelled');
      });
  };
  holdSession(bus, sessionId, call);
  const questions = new OpenQuestions(bus, place, call);
  const turn = new FollowedTurn(bus, place, call.context, {
    onChunk: progressReporter(call),
    onQuestion: (question) => {
      const isForOthers = turnOf(question) !== turnId || leftOpen.includes(keyOf(question));
      if (isForOthers || !canBeAsked(question, call)) tellOfQuestion(call, sessionId, question);
      else questions.ask(question);
    },
  });
  // The client may have gone away before anything could be begun.
  if (call.signal.aborted) cancel();
  call.signal.addEventListener('abort', cancel, { once: true });
  try {
    return await use(turn);
  } finally {
    call.signal.removeEventListener('abort', cancel);
    turn[Symbol.dispose]();
    questions[Symbol.dispose]();
  }
}

/** Sends the pieces of the reply to a client that asked for progress. `progress` counts their characters. */
function progressReporter(call: McpCall): (chunk: ReplyChunk) => void {
  const text = new ToldText();
  return (chunk) => {
    const message = text.add(chunk);
    if (message !== '') call.progress({ progress: text.told, message });
  };
}
