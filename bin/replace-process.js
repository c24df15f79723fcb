// Plain JavaScript without recent features, like `runtime-check.js`.
import { spawn, spawnSync } from 'node:child_process';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'];

/** Runs the published command on another Node in place of this process: same streams, same signals, same exit. */
export function runOn(node, args) {
  if (typeof process.execve === 'function' && process.platform !== 'win32') replaceBy(node, args);
  else runAsChild(node, args);
}

/** `execve` of a file that cannot be executed, such as one for another C library, would abort with a core dump. */
function replaceBy(node, args) {
  const { status, error } = spawnSync(node, ['--version'], { stdio: 'ignore' });
  if (status === 0) process.execve(node, [node, scriptAt('agent-service.js'), ...args]);
  else reportFailure(node, error === undefined ? `it ended with ${status}` : error.message);
}

/** The channel between the two processes closes with either of them, however it dies; see `die-with-parent.js`. */
function runAsChild(node, args) {
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const child = spawn(node, [scriptAt('die-with-parent.js'), ...args], { stdio });
  const passOn = (signal) => child.kill(signal);
  // A terminal sends Ctrl-C to both processes. If it were passed on, the service would get it twice and end at once.
  process.on('SIGINT', isatty(0) ? () => undefined : passOn);
  for (const signal of FORWARDED) process.on(signal, passOn);
  child.on('error', (error) => reportFailure(node, error.message));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of ['SIGINT', ...FORWARDED]) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

function scriptAt(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}

function reportFailure(node, reason) {
  process.stderr.write(`agent-service: ${node} cannot be run: ${reason}\n`);
  process.exitCode = 1;
}
