import { type Command, InvalidArgumentError } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { SessionId } from '../../core/ids.ts';
import { keyOf, keyOption, type RemoteService } from '../service/remote-service.ts';
import { urlOption } from '../service/url-option.ts';

export interface ChatOptions {
  readonly service: RemoteService;
  readonly session: SessionId;
  /** Whether to show the reasoning of the model. */
  readonly reasoning: boolean;
}

interface ChatFlags {
  readonly url: string;
  readonly key?: string;
  readonly session: string;
  readonly reasoning: boolean;
}

export function addChat(
  program: Command,
  environment: Environment,
  choose: (options: ChatOptions) => void,
): void {
  program
    .command('chat')
    .description('Chats with a running service, from a terminal or a script: one message per line.')
    .addOption(urlOption('address of the service').default('http://127.0.0.1:3001'))
    .addOption(keyOption('your key, where the service asks for one'))
    .option('--session <id>', 'id of the session to continue', sessionId, 'default')
    .option('--reasoning', 'show the reasoning of the model', false)
    .action(({ url, key, session, reasoning }: ChatFlags) =>
      choose({
        service: { url, token: keyOf(key, environment) },
        session: SessionId.parse(session),
        reasoning,
      }),
    );
}

function sessionId(text: string): string {
  const parsed = SessionId.safeParse(text);
  if (parsed.success) return text;
  throw new InvalidArgumentError(`The session id ${parsed.error.issues[0]?.message ?? 'is no session id'}.`);
}
