import { messageOf } from '../core/errors.ts';
import type { CommandLine } from './command-line.ts';

type Runnable = Exclude<CommandLine, { kind: 'exit' }>;

/** Does what the command line asks for. What goes wrong is told on one line, exit code 1. */
export async function runCommand(command: Runnable): Promise<void> {
  try {
    await perform(command);
  } catch (error) {
    process.stderr.write(`agent-service: ${messageOf(error)}\n`);
    process.exitCode = 1;
    // What a start has begun, such as the thread of the log, would keep the process alive.
    if (command.kind === 'run') process.exit();
  }
}

/** Loads the code of the one command only: the service would start later for that of the others. */
async function perform(command: Runnable): Promise<void> {
  switch (command.kind) {
    case 'run': {
      // While the rest is loaded and the agent file is read.
      const { startLogThread } = await import('../adapters/sqlite/log/log-thread.ts');
      const logThread = startLogThread();
      const { run } = await import('./run/run-service.ts');
      return run(command, logThread);
    }
    case 'repair':
    case 'sessions':
    case 'export':
    case 'import': {
      const { runLogCommand } = await import('./log/run-log-command.ts');
      return runLogCommand(command);
    }
    case 'replay': {
      const { replay } = await import('./replay/replay.ts');
      return replay(command);
    }
    case 'chat': {
      const { runChat } = await import('./chat/run-chat.ts');
      process.exitCode = await runChat(command);
      return undefined;
    }
    case 'init': {
      const { runInit } = await import('./init/run-init.ts');
      const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
      const { text, isToBeChecked } = await runInit(command, isTerminal);
      process.stdout.write(text);
      if (isToBeChecked) await perform({ kind: 'check', agentFile: command.file, json: false });
      return undefined;
    }
    case 'check': {
      const { runCheck } = await import('./check/run-check.ts');
      process.exitCode = await runCheck(command);
      return undefined;
    }
    default:
      return command satisfies never;
  }
}
