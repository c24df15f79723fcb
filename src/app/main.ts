import { parseCommandLine } from '../cli/cli.ts';
import { checkRuntime } from './runtime-check.ts';

/*
 * The process: what the command line asks for, then whether this Node can do it, then the command. Everything else
 * is loaded after that check: uWebSockets.js is not there for every Node.
 */
const command = parseCommandLine(process.argv.slice(2), process.env);
// The service goes on without whoever reads what it prints; a command has nothing to go on for.
if (command.kind !== 'run') process.stdout.on('error', endUnread);
if (command.kind === 'exit') {
  process[command.stream].write(command.output);
  process.exitCode = command.code;
} else {
  const problem = await checkRuntime();
  if (problem === undefined) {
    const { runCommand } = await import('../cli/commands.ts');
    await runCommand(command);
  } else {
    process.stderr.write(`${problem}\n`);
    process.exitCode = 1;
  }
}

function endUnread({ code, message }: NodeJS.ErrnoException): void {
  // As with `| head`, which has read enough.
  if (code !== 'EPIPE') process.stderr.write(`agent-service: cannot write to standard output: ${message}\n`);
  process.exit(1);
}
