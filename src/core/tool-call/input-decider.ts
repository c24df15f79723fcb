import { ServiceError } from '../errors.ts';
import type { SessionEvent, SessionEventOf } from '../log/events.ts';
import type { OpenTurn } from '../session/session-state.ts';
import type {
  AnswerInput,
  ExpireInput,
  RecordSampling,
  RequestInput,
  WithdrawInput,
} from './input-commands.ts';
import type { InputEndCause } from './input-events.ts';
import { filledForm, type InputContent } from './input-form.ts';

/* The part of the session's decider that decides about what tool servers ask. */

type InputRequest = SessionEventOf<'input.requested'>;

/** Returns no events if the call is settled already: then its server does not wait for an answer. */
export function requestInput(open: OpenTurn | undefined, command: RequestInput): SessionEvent[] {
  const { callId, inputId, message, question, expiresAfterMs } = command;
  const call = open?.unsettled.get(callId);
  if (!call) return [];
  const expiry = expiresAfterMs !== undefined && { expiresAfterMs };
  return [{ type: 'input.requested', ...refOf(call), inputId, message, question, ...expiry }];
}

/** Throws if no question of that id waits, or if the answer does not fit it. */
export function answerInput(open: OpenTurn | null, command: AnswerInput): SessionEvent[] {
  const { inputId, action } = command;
  const asked = open?.asked?.get(inputId);
  if (!asked) throw inputNotFound(inputId);
  const content = contentOf(asked, command);
  const answer = { inputId, action, ...(content && { content }) };
  return [{ type: 'input.answered', ...refOf(asked), ...answer, cause: { kind: 'answered' } }];
}

function contentOf({ question }: InputRequest, { action, content }: AnswerInput): InputContent | undefined {
  if (question.mode === 'form' && action === 'accept') return filledForm(question.schema, content ?? {});
  if (content === undefined) return undefined;
  const issue =
    question.mode === 'form'
      ? `it comes with accept only, and the action is ${action}`
      : 'the question asks for no data';
  throw new ServiceError('INVALID_REQUEST', 'The field content is not valid here.', {
    field: 'content',
    issue,
  });
}

/** Returns no events if the question does not wait any more, or waits for ever. */
export function expireInput(open: OpenTurn | undefined, { inputId }: ExpireInput): SessionEvent[] {
  const asked = open?.asked?.get(inputId);
  const { expiresAfterMs: afterMs } = asked ?? {};
  if (!asked || afterMs === undefined) return [];
  return [endInput(asked, { kind: 'input-expired', afterMs })];
}

/** Returns no events if the question does not wait any more. */
export function withdrawInput(open: OpenTurn | undefined, { inputId }: WithdrawInput): SessionEvent[] {
  const asked = open?.asked?.get(inputId);
  return asked ? [endInput(asked, { kind: 'input-withdrawn' })] : [];
}

/** Ends what the servers of these calls still ask. */
export function endInputs(
  { asked }: OpenTurn,
  kind: Exclude<InputEndCause['kind'], 'answered' | 'input-expired'>,
  which: (callId: string) => boolean = () => true,
): SessionEvent[] {
  if (!asked) return [];
  return [...asked.values()].filter(({ callId }) => which(callId)).map((one) => endInput(one, { kind }));
}

function endInput(asked: InputRequest, cause: InputEndCause): SessionEvent {
  return { type: 'input.answered', ...refOf(asked), inputId: asked.inputId, action: 'cancel', cause };
}

/** Returns no events if the call is settled already. */
export function recordSampling(open: OpenTurn | undefined, command: RecordSampling): SessionEvent[] {
  const { callId, source, finishReason, usage } = command;
  const call = open?.unsettled.get(callId);
  if (!call) return [];
  const more = { ...(finishReason && { finishReason }), ...(usage && { usage }) };
  return [{ type: 'sampling.completed', ...refOf(call), source, ...more }];
}

function inputNotFound(inputId: string): ServiceError {
  return new ServiceError('INPUT_NOT_FOUND', 'No question of that id waits for an answer.', {
    inputId,
    reason: 'it was answered, has expired or was withdrawn before, or there is no such question',
  });
}

type CallRef = Pick<InputRequest, 'turnId' | 'callId' | 'toolName' | 'serverId'>;

function refOf({ turnId, callId, toolName, serverId }: CallRef): CallRef {
  return { turnId, callId, toolName, serverId };
}
