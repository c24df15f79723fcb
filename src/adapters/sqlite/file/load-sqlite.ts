type Sqlite = typeof import('node:sqlite');

/**
 * Loads `node:sqlite` without the warning that it is experimental. The Node version is pinned, so operators need not
 * act on it. Loading is synchronous, so no other warning is lost.
 */
export function loadSqlite(): Sqlite {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (String(warning).startsWith('SQLite is an experimental feature')) return;
    Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
