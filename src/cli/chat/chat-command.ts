import { type Command, InvalidArgumentError } from 'commander';
import { SessionId } from '../../core/ids.ts';
import { urlOption } from '../service/url-option.ts';

export interface ChatOptions {
  readonly url: string;
  readonly session: SessionId;
  /** Whether to show the reasoning of the model. */
  readonly reasoning: boolean;
}

export function addChat(program: Command, choose: (options: ChatOptions) => void): void {
  program
    .command('chat')
    .description('Chats with a running service, from a terminal or a script: one message per line.')
    .addOption(urlOption('address of the service').default('http://127.0.0.1:3001'))
    .option('--session <id>', 'id of the session to continue', sessionId, 'default')
    .option('--reasoning', 'show the reasoning of the model', false)
    .action(({ session, ...options }: { url: string; session: string; reasoning: boolean }) =>
      choose({ ...options, session: SessionId.parse(session) }),
    );
}

function sessionId(text: string): string {
  const parsed = SessionId.safeParse(text);
  if (parsed.success) return text;
  throw new InvalidArgumentError(`The session id ${parsed.error.issues[0]?.message ?? 'is no session id'}.`);
}
