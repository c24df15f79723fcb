import { existsSync } from 'node:fs';

/** The part of a command that an explanation needs. */
interface Command {
  readonly command: string;
  readonly cwd: string | undefined;
}

/** Why a command could not be started, for the person who wrote it into the configuration. */
export function describeSpawnFailure(error: unknown, { command, cwd }: Command): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
      // The system says the same for a missing folder.
      return cwd !== undefined && !existsSync(cwd)
        ? `the folder '${cwd}' (cwd) does not exist`
        : `command '${command}' was not found${windowsHint(command)}`;
    case 'EACCES':
      return `command '${command}' may not be executed`;
    default:
      return `command '${command}' could not be started${typeof code === 'string' ? ` (${code})` : ''}`;
  }
}

function windowsHint(command: string): string {
  return process.platform === 'win32'
    ? `; for a script such as npx use the command 'cmd' with the arguments /c ${command}`
    : '';
}
