import type { Command } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { defaultDataDir, type LogPlace, type PlaceFlags, placeOf, serviceOption } from '../log/log-place.ts';

/** What is to be done with API keys, as it was typed. */
export type KeysAction =
  | {
      readonly do: 'create';
      readonly name: string;
      readonly roles: readonly string[];
      readonly tenant: string | undefined;
      /** Such as `90d`. */
      readonly expires: string | undefined;
    }
  | { readonly do: 'list'; readonly json: boolean }
  | { readonly do: 'revoke'; readonly keyId: string };

export interface KeysOptions {
  readonly log: LogPlace;
  /** The bearer token for a running service. */
  readonly token: string | undefined;
  readonly action: KeysAction;
}

type ChooseKeys = (options: KeysOptions) => void;

interface KeysFlags extends PlaceFlags {
  readonly key?: string;
}

interface CreateFlags extends KeysFlags {
  readonly name: string;
  readonly role: readonly string[];
  readonly tenant?: string;
  readonly expires?: string;
}

/** The commands that manage the API keys of a service. */
export function addKeys(program: Command, environment: Environment, choose: ChooseKeys): void {
  const keys = program
    .command('keys')
    .description(
      'Creates, lists and revokes API keys: of a running service with --url, else of the folder of one that is not running.',
    );
  const subcommand = (name: string, description: string): Command =>
    keys
      .command(name)
      .description(description)
      .option('--data-dir <dir>', 'folder of the event log', defaultDataDir(environment))
      .addOption(serviceOption())
      .option(
        '--key <key>',
        "an administrator's key, for --url; better in AGENT_SERVICE_KEY, which no process list shows",
      );
  const chooseAction = (flags: KeysFlags, action: KeysAction): void => {
    if (flags.key !== undefined && flags.url === undefined)
      keys.error("error: option '--key' needs '--url': a data directory asks for no key");
    const token = flags.key ?? (environment.AGENT_SERVICE_KEY || undefined);
    choose({ log: placeOf(flags), token, action });
  };
  addCreate(subcommand('create', 'Prints a new API key, which nobody can see again.'), chooseAction);
  subcommand('list', 'Lists the API keys, without their secrets.')
    .option('--json', 'print JSON Lines', false)
    .action((flags: KeysFlags & { json: boolean }) => chooseAction(flags, { do: 'list', json: flags.json }));
  subcommand('revoke', 'Makes an API key invalid, at once and for ever.')
    .argument('<id>', 'id of the key, as the list shows it')
    .action((keyId: string, flags: KeysFlags) => chooseAction(flags, { do: 'revoke', keyId }));
}

function addCreate(command: Command, choose: (flags: KeysFlags, action: KeysAction) => void): void {
  const another = (role: string, before: readonly string[] = []): string[] => [...before, role];
  command
    .requiredOption('--name <name>', 'who uses the key; keys of the same name are the same principal')
    .requiredOption(
      '--role <role>',
      'reader, user, approver, operator, admin or a configured one; may be repeated',
      another,
    )
    .option('--tenant <tenant>', 'the tenant of the key; default: default, and with --url your own')
    .option('--expires <time>', 'how long the key is valid, such as 12h, 90d or 8w; default: for ever')
    .action((flags: CreateFlags) => {
      const { name, role: roles, tenant, expires } = flags;
      choose(flags, { do: 'create', name, roles, tenant, expires });
    });
}
