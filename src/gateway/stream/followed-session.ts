import { ServiceError } from '../../core/errors.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RequestContext } from '../../core/request/request-context.ts';
import type { SessionSignal } from '../../core/session/session-signal.ts';
import type { Bus } from '../../ports/bus.ts';
import { type FrameSink, ResumingReader, type ResumingReaderDeps } from './resuming-reader.ts';
import type { SignalFanOut } from './signal-fan-out.ts';

export interface FollowDeps {
  readonly bus: Bus;
  readonly fanOut: SignalFanOut;
  readonly context: RequestContext;
}

/** Where to begin to read, and what to make of it. */
export interface Following
  extends Partial<Pick<ResumingReaderDeps, 'wantsReasoning' | 'takesKeptReasoning'>> {
  readonly sessionId: SessionId;
  readonly afterSeq: number;
  readonly sink: FrameSink;
  /** What the client gets first; empty if nothing. */
  readonly begin?: ResumingReaderDeps['encodeResumed'];
  /** What the client gets of it; empty if nothing. */
  readonly take: (signal: SessionSignal) => string;
  /** Whether nothing follows. */
  readonly isOver: () => boolean;
  /** Whether more may follow where it is over. Then the reader ends only after what happens at the same time. */
  readonly mayGoOn?: () => boolean;
  /** Called once, when nothing follows, unless one of those below is. */
  readonly onOver: () => void;
  /** The session was deleted before that. */
  readonly onDeleted: () => void;
  /** The log could not be read. */
  readonly onError: (error: unknown) => void;
  /** The service has given the open turn up: it does not go on by itself, and nothing follows. Without it, `take` gets this. */
  readonly onGivenUp?: (error: ServiceError) => void;
}

/** The reader of a client that is told a part of a session in another form. */
export interface FollowedSession {
  drained(): void;
  stop(): void;
}

/**
 * Reads a session up to where its reader has all that it wants: first what the log has, then what happens. The callbacks are
 * called later, never at once.
 */
export function followSession(
  { bus, fanOut, context }: FollowDeps,
  {
    sessionId,
    afterSeq,
    sink,
    begin = () => '',
    take,
    isOver,
    mayGoOn = () => false,
    onOver,
    onDeleted,
    onError,
    onGivenUp,
    ...wants
  }: Following,
): FollowedSession {
  const topic = bus.topicOf(sessionId, context);
  let hasEnded = false;
  const stop = (): void => {
    hasEnded = true;
    fanOut.leave(topic, reader);
    reader.close();
  };
  const end = (last: () => void): void => {
    if (hasEnded) return;
    stop();
    last();
  };
  const lookForEnd = (): void => {
    if (isOver()) end(onOver);
  };
  const send = (text: string): boolean => {
    if (hasEnded) return true;
    const isTaken = text === '' || sink.send(text);
    // The calls of one step ask one after the other, at once.
    if (mayGoOn()) setImmediate(lookForEnd);
    else lookForEnd();
    return isTaken;
  };
  const takeOrEnd = (signal: SessionSignal): string => {
    const error = onGivenUp && givenUpIn(signal);
    if (!error) return take(signal);
    end(() => onGivenUp(error));
    return '';
  };
  const reader = new ResumingReader(
    sessionId,
    { seq: afterSeq, offset: 0 },
    {
      bus,
      context: () => context,
      sink: { send, bufferedBytes: () => sink.bufferedBytes() },
      encode: takeOrEnd,
      encodeResumed: begin,
      wantsReasoning: false,
      ...wants,
      onEnd: () => end(onDeleted),
      onError: (error) => end(() => onError(error)),
    },
  );
  fanOut.join(topic, reader);
  reader.start();
  return { drained: () => reader.drained(), stop };
}

function givenUpIn(signal: SessionSignal): ServiceError | undefined {
  if ('event' in signal || signal.type !== 'session.fault') return undefined;
  return signal.error.details.continues === false ? ServiceError.of(signal.error) : undefined;
}
