import { type Command, Option } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { addPlace, type LogPlace, namesFolder, type PlaceFlags, placeOf } from '../log/log-place.ts';

/** What is to be done with API keys, as it was typed. */
export type KeysAction =
  | {
      readonly do: 'create';
      readonly name: string;
      readonly roles: readonly string[];
      readonly tenant: string | undefined;
      /** Such as `90d`. */
      readonly expires: string | undefined;
      /** The service file, which may have further roles. A running service has read its own. */
      readonly serviceFile: string | undefined;
      /** Whether the log is in the folder also if the service file has a database. */
      readonly inFolder: boolean;
    }
  | { readonly do: 'list'; readonly json: boolean }
  | { readonly do: 'revoke'; readonly keyId: string };

export interface KeysOptions {
  readonly log: LogPlace;
  readonly action: KeysAction;
}

type ChooseKeys = (options: KeysOptions) => void;

interface CreateFlags extends PlaceFlags {
  readonly name: string;
  readonly role: readonly string[];
  readonly tenant?: string;
  readonly expires?: string;
  readonly config?: string;
}

/** The commands that manage the API keys of a service. */
export function addKeys(program: Command, environment: Environment, choose: ChooseKeys): void {
  const keys = program
    .command('keys')
    .description(
      'Creates, lists and revokes API keys: of a running service with --url, else of the folder of one that is not running.',
    );
  const subcommand = (name: string, description: string): Command =>
    addPlace(keys.command(name).description(description), environment, "an administrator's key, for --url");
  const chooseAction = (flags: PlaceFlags, command: Command, action: KeysAction): void =>
    choose({ log: placeOf(flags, command, environment), action });
  const create = subcommand('create', 'Prints a new API key, which nobody can see again.');
  addCreate(create, environment, chooseAction);
  subcommand('list', 'Lists the API keys, without their secrets.')
    .option('--json', 'print JSON Lines', false)
    .action((flags: PlaceFlags & { json: boolean }, command: Command) =>
      chooseAction(flags, command, { do: 'list', json: flags.json }),
    );
  subcommand('revoke', 'Makes an API key invalid, at once and for ever.')
    .argument('<id>', 'id of the key, as the list shows it')
    .action((keyId: string, flags: PlaceFlags, command: Command) =>
      chooseAction(flags, command, { do: 'revoke', keyId }),
    );
}

function addCreate(
  command: Command,
  environment: Environment,
  choose: (flags: PlaceFlags, command: Command, action: KeysAction) => void,
): void {
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
    .addOption(
      new Option('-c, --config <file>', 'service file with further roles; not with --url').conflicts('url'),
    )
    .action((flags: CreateFlags) => {
      const { name, role: roles, tenant, expires, config } = flags;
      const serviceFile = config ?? (environment.AGENT_SERVICE_CONFIG || undefined);
      const inFolder = namesFolder(command);
      choose(flags, command, { do: 'create', name, roles, tenant, expires, serviceFile, inFolder });
    });
}
