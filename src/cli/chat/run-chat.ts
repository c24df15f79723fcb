import { connect, type SessionStatus } from '../../client/session-client.ts';
import { Chat } from './chat.ts';
import type { ChatOptions } from './chat-command.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { LineInput } from './line-input.ts';
import { readOpening } from './opening.ts';
import { Screen } from './screen.ts';

/** Talks to a running service. @returns the exit code. */
export async function runChat({ url, session: name, reasoning }: ChatOptions): Promise<number> {
  const { stdin, stdout, stderr, env } = process;
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
  const opening = await readOpening(url, name);
  const hasColours = isTerminal && (env.NO_COLOR ?? '') === '';
  const screen = new Screen({ replies: stdout, notes: isTerminal ? stdout : stderr, isTerminal, hasColours });
  const said = opening.history.filter(({ role }) => role === 'user').map(({ content }) => content);
  const lines = new LineInput({
    input: stdin,
    terminal: isTerminal ? stdout : null,
    history: said.toReversed(),
  });
  const watch = new ConnectionWatch(screen, isTerminal);
  const position = { seq: opening.head, turnId: null, step: null, offset: 0 };
  const onStatus = (status: SessionStatus): void => watch.note(status);
  const session = connect({ url, session: name, position, reasoning, onStatus });
  const chat = new Chat({ session, lines, screen, opening });
  process.on('SIGINT', () => chat.interrupt());
  if (isTerminal) screen.note({ text: greeting(url, name, said.length), style: 'dim' });
  try {
    return await Promise.race([chat.run(), watch.gaveUp]);
  } finally {
    session.close();
    lines.close();
  }
}

function greeting(url: string, session: string, messages: number): string {
  const past = messages === 0 ? 'new' : `${messages} ${messages === 1 ? 'message' : 'messages'} so far`;
  return `session ${session} at ${url}, ${past}; Ctrl-C cancels a reply, Ctrl-D quits`;
}
