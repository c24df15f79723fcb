import { connect, type SessionStatus } from '../../client/session-client.ts';
import { counted } from '../../core/counted.ts';
import type { SessionId } from '../../core/ids.ts';
import type { RemoteService } from '../service/remote-service.ts';
import { listSessions } from '../service/session-resources.ts';
import { Chat } from './chat.ts';
import type { ChatOptions } from './chat-command.ts';
import { type ChatService, ListedSession, showSaid } from './chat-commands.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { LineInput } from './line-input.ts';
import { type Opening, readOpening } from './opening.ts';
import { Screen } from './screen.ts';

/** Talks to a running service. @returns the exit code. */
export async function runChat({ service: remote, session: name, reasoning }: ChatOptions): Promise<number> {
  const { url, token } = remote;
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
  const opening = await readOpening(remote, name);
  const hasColours = isTerminal && (env.NO_COLOR ?? '') === '';
  const notes = isTerminal ? stdout : stderr;
  const columns = (): number | undefined => (isTerminal ? stdout.columns : undefined);
  const screen = new Screen({ replies: stdout, notes, isTerminal, hasColours, columns });
  const said = opening.history.filter(({ role }) => role === 'user').map(({ content }) => content);
  const lines = new LineInput({
    input: stdin,
    terminal: isTerminal ? stdout : null,
    history: said.toReversed(),
  });
  const watch = new ConnectionWatch(screen, {
    isPatient: isTerminal,
    standing: () => (isTerminal ? chat.standing : ''),
    onReport: () => lines.refresh(),
  });
  const position = { seq: opening.head, turnId: null, step: null, offset: 0 };
  const onStatus = (status: SessionStatus): void => watch.note(status);
  const session = connect({ url, token, session: name, position, reasoning, onStatus });
  const service = isTerminal ? chatService(remote, name) : null;
  const chat = new Chat({ session, lines, screen, opening, service });
  process.on('SIGINT', () => chat.interrupt());
  if (isTerminal) {
    screen.note({ text: greeting(url, name, said.length), style: 'dim' });
    showSaid(screen, lastExchange(opening.history));
  }
  try {
    return await Promise.race([chat.run(), watch.gaveUp]);
  } finally {
    session.close();
    lines.close();
  }
}

function chatService(remote: RemoteService, sessionId: SessionId): ChatService {
  return {
    sessionId,
    sessions: async () => {
      const sessions: ListedSession[] = [];
      for await (const session of listSessions(remote, ListedSession)) sessions.push(session);
      return sessions;
    },
    history: async () => (await readOpening(remote, sessionId)).history,
  };
}

/** The last message of the person, and what came of it. */
function lastExchange(history: Opening['history']): Opening['history'] {
  const last = history.findLastIndex(({ role }) => role === 'user');
  return last === -1 ? [] : history.slice(last);
}

function greeting(url: string, session: string, messages: number): string {
  const past = messages === 0 ? 'new' : `${counted(messages, 'message')} so far`;
  return `session ${session} at ${url}, ${past}; /help lists the commands`;
}
