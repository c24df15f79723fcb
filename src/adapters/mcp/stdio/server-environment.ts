import { posix, win32 } from 'node:path';

/** Variables that programs need to run, much as `sudo` keeps them. None that may hold a key. */
const POSIX_NAMES = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];
const WINDOWS_NAMES = [
  'APPDATA',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'USERNAME',
  'USERPROFILE',
];

interface Surroundings {
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly binFolders: readonly string[];
}

/** The environment of a server process: the variables on the allow-list, then those of its configuration. */
export function serverEnvironment(
  { environment, binFolders }: Surroundings,
  configured: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): Record<string, string> {
  const windows = platform === 'win32';
  // Windows ignores the case of a variable's name; a plain object does not.
  const nameOf = (key: string) => (windows ? key.toUpperCase() : key);
  const allowed = new Set(windows ? WINDOWS_NAMES : POSIX_NAMES);
  const result: Record<string, string> = {};
  for (const [key, value] of Object.entries(environment)) {
    // A value that starts with `()` is an exported shell function.
    if (value !== undefined && allowed.has(nameOf(key)) && !value.startsWith('()'))
      result[nameOf(key)] = value;
  }
  for (const [key, value] of Object.entries(configured))
    result[allowed.has(nameOf(key)) ? nameOf(key) : key] = value;
  const delimiter = (windows ? win32 : posix).delimiter;
  result.PATH = [result.PATH, ...binFolders]
    .filter((part) => part !== undefined && part !== '')
    .join(delimiter);
  return result;
}
