import { parseCommandLine } from '../cli/cli.ts';
import { checkRuntime } from './runtime-check.ts';

/*
 * Parses the command line, checks this Node, runs the command. Everything else is loaded after the check, because
 * uWebSockets.js has no binary for every Node.
 */

/** How long a command may take to close its files when nobody reads its output any more. */
const CLOSING_MS = 1_000;
let outputError: Error | undefined;

const command = parseCommandLine(process.argv.slice(2), process.env);
// The service keeps running when nobody reads its output any more. Other commands end.
if (command.kind !== 'run') process.stdout.on('error', endWithoutReader);
if (command.kind === 'exit') {
  process[command.stream].write(command.output);
  process.exitCode = command.code;
} else {
  const problem = await checkRuntime();
  if (problem === undefined) {
    const { runCommand } = await import('../cli/commands.ts');
    await runCommand(command, () => outputError);
  } else {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
}

/** What prints piece by piece fails at the next one, and closes its log. Anything else ends here. */
function endWithoutReader(error: NodeJS.ErrnoException): void {
  outputError = error;
  const { code, message } = error;
  // EPIPE is no problem: `| head` closes the pipe when it has read enough.
  if (code !== 'EPIPE') process.stderr.write(`agent-service: cannot write to standard output: ${message}\n`);
  process.exitCode = 1;
  setTimeout(() => process.exit(1), CLOSING_MS).unref();
}
