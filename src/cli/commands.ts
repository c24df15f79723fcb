import type { LogThread } from '../adapters/sqlite/log/log-thread.ts';
import { messageOf } from '../core/thrown.ts';
import type { CommandLine } from './command-line.ts';
import { noteEarlyReload } from './run/early-reload.ts';

type Runnable = Exclude<CommandLine, { kind: 'exit' }>;

/**
 * Runs a command. If it fails, prints the error on one line and sets exit code 1.
 * @param outputError why nothing more can be printed, which is told already. Undefined as long as it can.
 */
export async function runCommand(command: Runnable, outputError: () => Error | undefined): Promise<void> {
  try {
    await perform(command);
  } catch (error) {
    if (error !== outputError()) process.stderr.write(`agent-service: ${messageOf(error)}\n`);
    process.exitCode = 1;
    // A failed start leaves the thread of the log behind, which would keep the process alive.
    if (command.kind === 'run') process.exit();
  }
}

async function startLogThread(): Promise<LogThread> {
  const thread = await import('../adapters/sqlite/log/log-thread.ts');
  return thread.startLogThread();
}

/** Loads the code of this command only, because the code of the others would delay the start of the service. */
async function perform(command: Runnable): Promise<void> {
  switch (command.kind) {
    case 'run': {
      // Before anything that takes time.
      const earlyReload = noteEarlyReload(command.serviceFile);
      // The thread starts while the rest is loaded and the agent file is read.
      const isElsewhere = command.flags.store !== undefined || process.env.AGENT_SERVICE_STORE;
      const logThread = isElsewhere ? undefined : await startLogThread();
      const { run } = await import('./run/run-service.ts');
      return run(command, earlyReload, logThread);
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
      const { text, shouldCheck } = await runInit(command, isTerminal);
      process.stdout.write(text);
      if (shouldCheck) await perform({ kind: 'check', agentFile: command.file, json: false });
      return undefined;
    }
    case 'check': {
      const { runCheck } = await import('./check/run-check.ts');
      process.exitCode = await runCheck(command);
      return undefined;
    }
    case 'backup': {
      const { runBackup } = await import('./backup/run-backup.ts');
      process.stdout.write(await runBackup(command));
      return undefined;
    }
    case 'copy': {
      const { runCopy } = await import('./copy/run-copy.ts');
      process.stdout.write(await runCopy(command));
      return undefined;
    }
    case 'keys': {
      const { runKeys } = await import('./keys/run-keys.ts');
      return runKeys(command);
    }
    case 'audit': {
      const { runAudit } = await import('./audit/run-audit.ts');
      return runAudit(command);
    }
    case 'example-tools': {
      const { serveExampleTools } = await import('./example-tools/example-tools.ts');
      return serveExampleTools();
    }
    default:
      return command satisfies never;
  }
}
