import type { Command } from 'commander';
import type { Environment } from '../../config/reading/expand.ts';
import { addPlace, type LogPlace, type PlaceFlags, placeOf } from '../log/log-place.ts';

/** Which entries are wanted, as it was typed. */
export interface AuditFlags {
  readonly since?: string;
  readonly until?: string;
  readonly principal?: string;
  readonly tenant?: string;
  readonly session?: string;
}

export interface AuditOptions {
  readonly log: LogPlace;
  readonly wanted: AuditFlags;
}

/** The command that prints who did what. */
export function addAudit(
  program: Command,
  environment: Environment,
  choose: (options: AuditOptions) => void,
): void {
  const command = program
    .command('audit')
    .description(
      'Prints who did what, and what was refused, as JSON Lines: of a running service with --url, else of the folder of one that is not running.',
    )
    .option(
      '--since <time>',
      'a time such as 2026-11-01 or 2026-11-01T12:00:00Z, or how long ago: 24h, 7d, 4w',
    )
    .option('--until <time>', 'the same')
    .option('--principal <principal>', 'only what this principal did, such as key:ci')
    .option('--tenant <tenant>', 'only of this tenant; with --url it is your own')
    .option('--session <id>', 'only in this session, by its whole id');
  addPlace(command, environment, "an administrator's key, for --url").action(
    (flags: PlaceFlags & AuditFlags) => choose({ log: placeOf(flags, command, environment), wanted: flags }),
  );
}
